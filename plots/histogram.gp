# histogram.gp TABLE FORMAT CAPTION -- t_icl of many simulated runs and theory's from the same starts; the picture goes to
# stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 560
load ARG0[1:strlen(ARG0) - strlen("histogram.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
SIMULATED = ""; KS = 0; NEVER = 0; NEVER_THEORY = 0
stats TABLE using (is("curve", "total") ? (SIMULATED = strcol("simulated"), KS = column("theory"), NEVER = column("runs"), NEVER_THEORY = column("runs_theory"), 1) : NaN) nooutput
finite(x) = x < 1e12 ? x : NaN
RUN_min_x = RUN_min_y = 50; RUN_max_x = RUN_max_y = 500
stats TABLE using (finite(row("run", "t_icl"))):(finite(row("run", "theory"))) name "RUN" nooutput
RUN_least = RUN_min_x < RUN_min_y ? RUN_min_x : RUN_min_y
RUN_most = RUN_max_x > RUN_max_y ? RUN_max_x : RUN_max_y
set multiplot
set label 3 sprintf("simulated: %s; Kolmogorov-Smirnov distance %.3f; never acquired by t_{max}: %g, by theory %g", SIMULATED, KS, NEVER, NEVER_THEORY) at screen 0.53, 0.865 center font ",10.4"
set label 1 "When ICL is acquired, over random starts" at screen 0.53, 0.96 center
set label 2 CAPTION at screen 0.53, 0.91 center font ",10.4"

set lmargin at screen 0.075; set rmargin at screen 0.53; set tmargin at screen 0.81; set bmargin at screen 0.14
set style fill solid 1.0 noborder
set xlabel "t_{ICL}  [learning rate × SGD steps]"
set ylabel "runs"
set offsets graph 0.03, graph 0.03, graph 0.28, 0
set yrange [0:*]
set key top right Left reverse samplen 2 spacing 1.2 font ",12"
plot TABLE using (row("bin", "t_icl") / 2 + column("theory") / 2):(0.5 * column("runs")):(0.46 * (column("theory") - column("t_icl"))):(0.5 * column("runs")) with boxxyerror lc rgb "#C3CFDE" notitle, \
    NaN with boxes lc rgb "#C3CFDE" title "simulation", \
    TABLE using (row("bin", "t_icl")):"runs_theory":(column("theory") - column("t_icl")):(0) with vectors nohead lc rgb SIGNAL lw 3 dt solid notitle, \
    NaN with lines lc rgb SIGNAL lw 3 dt solid title "theory, same starts"

unset label 3
unset label 1
unset label 2
set lmargin at screen 0.625; set rmargin at screen 0.975
set xlabel "t_{ICL} by theory"
set ylabel "t_{ICL} by simulation" offset 1, 0
set key off
set offsets
set logscale xy
set xrange [RUN_least / 1.2:RUN_most * 1.2]
set yrange [RUN_least / 1.2:RUN_most * 1.2]
set xtics (20, 50, 100, 200, 500, 1000)
set ytics (20, 50, 100, 200, 500, 1000)
set mxtics 10
set mytics 10
if (RUN_most < 3 * RUN_least) { unset logscale; set xtics autofreq; set ytics autofreq; set mxtics 2; set mytics 2 }
plot x with lines lt 4 lw 1.6, \
    TABLE using (row("run", "theory")):"t_icl" with points pt 6 ps 0.9 lw 1.4 lc rgb DEEP
unset multiplot
