# transience.gp TABLE FORMAT CAPTION -- theory with both closures over a run that loses ICL again; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 820
load ARG0[1:strlen(ARG0) - strlen("transience.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
set style line 1 lc rgb DEEP lw 2.4 dt solid pt 7 ps 0.6
set style line 2 lc rgb SIGNAL lw 2.4 dt solid pt 4 ps 0.7
set style line 11 lc rgb DEEP lw 1.4 dt (8, 5)
set style line 12 lc rgb SIGNAL lw 1.4 dt (8, 5)
set style line 3 lc rgb GREY lw 1.8 dt (3, 3)
BOTH(name, style) = sprintf('TABLE using "t":(row("response", "%s")) with lines ls %d notitle, TABLE using "t":(row("plain", "%s")) with lines ls %d notitle, TABLE using "t":(row("simulation", "%s")) with points ls %d notitle', name, style, name, 10 + style, name, style)
set xrange [0:*]
set key samplen 2.5 spacing 1.15 font ",11.5" opaque
set multiplot
set label 1 "Acquired, and lost again as the MLP memorizes" at screen 0.53, 0.965 center
set label 2 CAPTION at screen 0.53, 0.93 center font ",10"

set lmargin at screen 0.09; set rmargin at screen 0.49; set tmargin at screen 0.89; set bmargin at screen 0.56
set xlabel "t  [learning rate × SGD steps]"
set ylabel "attention w, β"
set yrange [-0.3:*]
set key bottom center
PLOT = BOTH("w", 1).", ".BOTH("beta", 2)
plot @PLOT, \
    NaN with linespoints ls 2 title "β", NaN with linespoints ls 1 title "w"

unset label 1
unset label 2
set lmargin at screen 0.585; set rmargin at screen 0.965
set ylabel "c_1 = ⟨σ(−φ_+)⟩ of the MLP"
set yrange [0:0.75]
set key top right Left reverse
PLOT = BOTH("c1", 1)
plot @PLOT, \
    NaN with points ls 1 title "simulated", \
    NaN with lines ls 1 title "theory, measured response (M4)", \
    NaN with lines ls 11 title "theory, plain clock (M3)"

set lmargin at screen 0.09; set rmargin at screen 0.49; set tmargin at screen 0.46; set bmargin at screen 0.09
set ylabel "accuracy"
set yrange [0.4:1.05]
set key bottom right
PLOT = BOTH("acc_icl", 2).", ".BOTH("acc_iwl", 1)
plot @PLOT, \
    NaN with linespoints ls 2 title "ICL", NaN with linespoints ls 1 title "IWL"

set lmargin at screen 0.585; set rmargin at screen 0.965
set logscale xy
set xrange [0.02:0.8]
set yrange [0.01:1]
set xlabel "loss_{ICL}  [nat]"
set ylabel "loss_{IWL}  [nat]"
set key bottom left Left reverse
on(curve, value) = (is("curve", curve) && column("acc_icl") > 0.9 ? column(value) : NaN)
plot TABLE using (on("response", "loss_icl")):(on("response", "loss_tied")) with lines ls 3 title "(T10), from loss_{ICL} and β", \
    TABLE using (on("response", "loss_icl")):(on("response", "loss_iwl")) with lines ls 1 title "theory", \
    TABLE using (on("simulation", "loss_icl")):(on("simulation", "loss_iwl")) with points ls 1 title "simulated"
unset multiplot
