# run.gp TABLE FORMAT CAPTION -- theory over one simulated run in time; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 820
load ARG0[1:strlen(ARG0) - strlen("run.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
at(curve, y) = (is("curve", curve) ? y : NaN)

set style line 1 lc rgb DEEP lw 2.6 dt solid pt 7 ps 0.75
set style line 2 lc rgb SIGNAL lw 2.6 dt (12, 5) pt 4 ps 0.85
set style line 3 lc rgb WARM lw 2.6 dt (3, 3) pt 8 ps 0.95
set style line 4 lc rgb GREY lw 1.4 dt (4, 4)
set xrange [0:*]
set y2range [0:1]
set lmargin 10
set rmargin 4
set key samplen 2.5 spacing 1.15 font ",12" top left Left reverse opaque
MARK = 'TABLE using "t":(at("theory t_icl", 0)):(0):(1) axes x1y2 with vectors nohead ls 4 notitle'
SIMULATED = ""
stats TABLE using (SIMULATED = strcol("simulated"), 1) nooutput
set multiplot

set title "Theory (lines) over one simulated run (points)\n{/*0.8 ".CAPTION."}" offset 0, 0.9
set tmargin at screen 0.86; set bmargin at screen 0.62
set format x ""
set ylabel "attention w, β"
set yrange [-0.3:*]
plot @MARK, \
    TABLE using "t":(row("theory", "beta")) with lines ls 2 notitle, \
    TABLE using "t":(row("theory", "w")) with lines ls 1 notitle, \
    TABLE using "t":(row("simulation", "beta")) with points ls 2 notitle, \
    TABLE using "t":(row("simulation", "w")) with points ls 1 notitle, \
    NaN with linespoints ls 2 title "β", \
    NaN with linespoints ls 1 title "w", \
    TABLE using "t":(at("theory t_icl", 1)):(sprintf("t_{ICL}: theory %.1f", column("t"))) axes x1y2 with labels right offset -0.5, 0.7 font ",12" notitle, \
    TABLE using "t":(at("simulation t_icl", 1)):(sprintf("simulation %.1f", column("t"))) axes x1y2 with labels left offset 0.7, 0.7 font ",12" notitle

unset title
set tmargin at screen 0.6; set bmargin at screen 0.36
set ylabel "loss  [nat]"
set yrange [0:*]
set key bottom left
plot @MARK, \
    TABLE using "t":(row("theory", "loss_iwl")) with lines ls 3 notitle, \
    TABLE using "t":(row("theory", "loss_icl")) with lines ls 2 notitle, \
    TABLE using "t":(row("theory", "loss_train")) with lines ls 1 notitle, \
    TABLE using "t":(row("simulation", "loss_iwl")) with points ls 3 notitle, \
    TABLE using "t":(row("simulation", "loss_icl")) with points ls 2 notitle, \
    TABLE using "t":(row("simulation", "loss_train")) with points ls 1 notitle, \
    NaN with linespoints ls 3 title "training item, absent (IWL)", \
    NaN with linespoints ls 2 title "novel item, in context (ICL)", \
    NaN with linespoints ls 1 title "training"

set tmargin at screen 0.34; set bmargin at screen 0.1
set format x "%g"
set xlabel "t  [learning rate × SGD steps]"
set ylabel "accuracy"
set label 1 "simulated: ".SIMULATED at graph 0.985, 0.3 right font ",11"
set yrange [0.4:1.05]
set ytics 0.2
set key top left
plot @MARK, \
    TABLE using "t":(row("theory", "acc_iwl")) with lines ls 3 notitle, \
    TABLE using "t":(row("theory", "acc_icl")) with lines ls 2 notitle, \
    TABLE using "t":(row("simulation", "acc_iwl")) with points ls 3 notitle, \
    TABLE using "t":(row("simulation", "acc_icl")) with points ls 2 notitle, \
    NaN with linespoints ls 2 title "ICL", \
    NaN with linespoints ls 3 title "IWL"
unset multiplot
