# closure.gp TABLE FORMAT CAPTION -- the response to two logit offsets against c1, a curve a K; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 500
load ARG0[1:strlen(ARG0) - strlen("closure.gp")]."style.gp"

row(curve, o, value) = (is("curve", curve) && column("offset") == o ? column(value) : NaN)
stats TABLE using "K":"offset" nooutput
LO = STATS_min_x; HI = STATS_max_x
LEAST = STATS_min_y; MOST = STATS_max_y
set palette defined (@CIVIDIS)
set cbrange [log(LO):log(HI) + 0.3]
unset colorbox
set multiplot
set label 1 "How the MLP's clock responds to attention's logit, where (M3) says R = 1" at screen 0.53, 0.95 center
set label 2 CAPTION at screen 0.53, 0.9 center font ",10.4"
set tmargin at screen 0.82; set bmargin at screen 0.14
set xrange [0.51:0]
set logscale y
stats TABLE using "response" nooutput
set yrange [STATS_min / 1.4:STATS_max * 1.2]
set ytics (0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5)
set xlabel "c_1 = ⟨σ(−φ_+)⟩ of the MLP"
set ylabel "R = ds/dt over the plain clock's"
set arrow from 0.51, 1 to 0, 1 as 1
do for [o in sprintf("%g %g", LEAST, MOST)] {
    if (o == LEAST) { set lmargin at screen 0.09; set rmargin at screen 0.49 } else { set lmargin at screen 0.585; set rmargin at screen 0.985; set ylabel "" }
    set title sprintf("logit offset %s", o) offset 0, -0.6
    set key bottom center Left reverse samplen 2.5 font ",11.5" opaque
    plot TABLE using (row("carried", o, "c1")):"response":(log(column("K"))) with lines lw 1.2 dt (3, 4) lc palette notitle, \
        TABLE using (row("response", o, "c1")):"response":(log(column("K"))) with linespoints lw 2.2 dt solid pt 7 ps 0.35 lc palette notitle, \
        TABLE using (o == LEAST ? row("first", o, "c1") : NaN):"response":(sprintf("%g", column("K"))) with labels right offset -0.5, 0 font ",9" notitle, \
        TABLE using (o > LEAST ? row("last", o, "c1") : NaN):"response":(sprintf("%g", column("K"))) with labels center offset 0.3, -0.7 font ",9" notitle, \
        NaN with lines lw 2.2 dt solid lc rgb DEEP title "measured", \
        NaN with lines lw 1.2 dt (3, 4) lc rgb DEEP title "carried on"
    unset label 1
    unset label 2
}
unset multiplot
