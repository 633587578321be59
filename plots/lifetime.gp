# lifetime.gp TABLE FORMAT CAPTION -- t_icl and t_loss against decay, with the three phases; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 860; HEIGHT = 560
load ARG0[1:strlen(ARG0) - strlen("lifetime.gp")]."style.gp"

row(closure, value) = (is("closure", closure) ? column(value) : NaN)
class(outcome) = (is("closure", "response") && strcol("outcome") eq outcome ? column("lambda") : NaN)
set style line 1 lc rgb DEEP lw 2.6 dt solid
set style line 2 lc rgb SIGNAL lw 2.6 dt solid
set style line 12 lc rgb SIGNAL lw 1.6 dt (8, 5)
stats TABLE using (class("transient")) nooutput
KEPT = STATS_records > 0 ? STATS_min : NaN; LOST = STATS_records > 0 ? STATS_max : NaN
stats TABLE using "lambda":"t_icl" nooutput
LO = STATS_min_x; HI = STATS_max_x
set title "Decay decides how long ICL lasts\n{/*0.8 ".CAPTION."}"
set logscale xy
set xrange [LO:HI]
set yrange [100:2e4]
set xlabel "decay λ  [1 / (learning rate × SGD steps)]"
set ylabel "t  [learning rate × SGD steps]"
set format x "10^{%L}"
set format y "10^{%L}"
set mxtics 10
set key bottom left Left reverse samplen 2.5 font ",12" opaque
if (KEPT == KEPT) {
    set arrow from KEPT, graph 0 to KEPT, graph 1 as 1
    set arrow from LOST, graph 0 to LOST, graph 1 as 1
    set label "ICL kept" at sqrt(LO * KEPT), graph 0.95 center
    set label "lost again" at sqrt(KEPT * LOST), graph 0.95 center
    set label "never acquired" at sqrt(LOST * HI), graph 0.95 center
}
plot TABLE using "lambda":(row("plain", "t_loss")) with lines ls 12 title "t_{loss}, plain clock (M3)", \
    TABLE using "lambda":(row("response", "t_loss")) with lines ls 2 title "t_{loss}, measured response (M4)", \
    TABLE using "lambda":(row("response", "t_icl")) with lines ls 1 title "t_{ICL}"
