# initial.gp TABLE FORMAT CAPTION -- t_icl against the initial beta and w; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 520
load ARG0[1:strlen(ARG0) - strlen("initial.gp")]."style.gp"

row(panel, level) = (is("panel", panel) && is("level", level) ? column("t_icl") : NaN)

set logscale y
set format y "10^{%L}"
set mytics 10
set yrange [5:*]
set xtics 1
set key bottom left Left reverse samplen 2.5 spacing 1.2 font ",12" opaque
set multiplot layout 1, 2 margins 0.085, 0.98, 0.14, 0.83 spacing 0.05
set label 1 "Acquisition takes exponentially long from a bad start" at screen 0.53, 0.95 center
set label 2 CAPTION at screen 0.53, 0.895 center font ",10.4"
do for [P in "beta0 w0"] {
    if (P eq "beta0") {
        set xlabel "initial β  (initial w as given)"
        set ylabel "t_{ICL}  [learning rate × SGD steps]"
    } else {
        unset label 1
        unset label 2
        unset ylabel
        set format y ""
        set xlabel "initial w  (initial β as given)"
        set key off
    }
    plot TABLE using P:(row(P, "asymptotic")) with lines lt 1 title (P eq "beta0" ? "asymptotic (T7), ∝ e^{-β}" : ""), \
        TABLE using P:(row(P, "reduced")) with points lt 2 pt 4 ps 1.1 title "reduced (T5)", \
        TABLE using P:(row(P, "meanfield")) with points lt 3 pt 7 ps 0.8 title "mean field (T3)"
}
unset multiplot
