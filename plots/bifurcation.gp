# bifurcation.gp TABLE FORMAT CAPTION -- fixed points against decay and against c1; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 800
load ARG0[1:strlen(ARG0) - strlen("bifurcation.gp")]."style.gp"

row(parameter, level, curve, value) = (is("parameter", parameter) && is("level", level) && is("curve", curve) ? column(value) : NaN)
any(parameter, curve, value) = (is("parameter", parameter) && is("curve", curve) ? column(value) : NaN)
set style line 1 lc rgb DEEP lw 3 dt solid
set style line 2 lc rgb DEEP lw 2.4 dt (8, 5)
set style line 3 lc rgb SIGNAL lw 1.6 dt solid
set style line 4 lc rgb SIGNAL lw 1.6 dt (8, 5)
set label 1 "Where ICL can live, and where it can begin" at screen 0.53, 0.965 center
set label 2 CAPTION at screen 0.53, 0.93 center font ",10.4"
set multiplot layout 2, 2 margins 0.075, 0.975, 0.185, 0.895 spacing 0.07, 0.04
set yrange [-1:8]
set ytics 2
do for [Y in "beta w"] { do for [P in "lambda c1"] {
    set ylabel P eq "c1" ? "" : (Y eq "beta" ? "β" : "w")
    set format y P eq "c1" ? "" : "%g"
    if (P eq "lambda") { set logscale x; set xrange [1e-3:1e-1]; set mxtics 10; set xtics autofreq } else { unset logscale x; set xrange [0:0.5]; set mxtics 2; set xtics 0.1 }
    set format x Y eq "beta" ? "" : (P eq "lambda" ? "10^{%L}" : "%g")
    set xlabel Y eq "beta" ? "" : (P eq "lambda" ? "weight decay λ  [1/t]" : "gradient c_1 that memorization leaves")
    if (Y eq "w" && P eq "c1") { set key at screen 0.53, 0.05 center horizontal Left reverse samplen 3.2 width -3 maxrows 2 font ",11" } else { set key off }
    plot TABLE using "x":(row(P, "reduced", "saddle", Y)) with lines ls 4 title "reduced: saddle", \
        TABLE using "x":(row(P, "reduced", "stable", Y)) with lines ls 3 title "reduced: stable", \
        TABLE using "x":(row(P, "meanfield", "saddle", Y)) with lines ls 2 title "mean field: saddle", \
        TABLE using "x":(row(P, "meanfield", "stable", Y)) with lines ls 1 title "mean field: stable", \
        TABLE using "x":(row(P, "meanfield", "fold", Y)) with points pt 7 ps 1.3 lc rgb DEEP title "fold", \
        TABLE using "x":(any(P, "T9", Y)) with points pt 2 ps 2.2 lw 2 lc rgb "black" title "fold by (T9)", \
        TABLE using "x":(P eq "c1" ? NaN : row(P, "meanfield", "fold", Y)):(sprintf("%.3g", column("x"))) with labels right offset -1.2, 0.1 font ",11" tc rgb INK notitle, \
        TABLE using "x":(P eq "c1" ? row(P, "meanfield", "fold", Y) : NaN):(sprintf("%.3g", column("x"))) with labels left offset 1.2, 0.1 font ",11" tc rgb INK notitle, \
        TABLE using "x":(row(P, "meanfield", "icl", Y)):("ICL") with labels offset 0, 1 tc rgb DEEP notitle, \
        TABLE using "x":(row(P, "meanfield", "none", Y)):("no ICL") with labels offset 0, -1 tc rgb DEEP notitle
    unset label 1
    unset label 2
} }
unset multiplot
