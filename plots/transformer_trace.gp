# transformer_trace.gp -- theory over one simulated run of the transformer in time, for the figures of one run, which set
# HERE, TITLE and the files; the picture goes to stdout.
WIDTH = 900; HEIGHT = 980
load HERE."style.gp"

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
set format x ""
set key samplen 2 spacing 1.15 font ",12" Left reverse
MARK = 'TABLE using "t":(at("theory t_icl", 0)):(0):(1) axes x1y2 with vectors nohead ls 4 notitle'
THEORY = NaN; SEEN = NaN
stats TABLE using (is("curve", "theory t_icl") ? (THEORY = column("t"), 1) : is("curve", "simulation t_icl") ? (SEEN = column("t"), 1) : NaN) nooutput
finite(x) = x == x ? sprintf("%.1f", x) : "never"
set multiplot
set key horizontal maxrows 1 top right

set title TITLE."\n{/*0.8 ".CAPTION."}" offset 0, 0.9
set label 1 sprintf("t_{ICL}: theory %s, simulation %s", finite(THEORY), finite(SEEN)) at graph 0.99, 1.07 right font ",12"
set tmargin at screen 0.885; set bmargin at screen 0.705
set ylabel "score β"
set yrange [*<-0.3:*]
set offsets 0, 0, graph 0.28, 0
plot @MARK, \
    TABLE using "t":(row("theory", "beta")) with lines ls 2 title "theory, from this run's start", \
    TABLE using "t":(row("simulation", "beta")) with points ls 2 title "simulation, as measured"

unset label 1
unset title
set tmargin at screen 0.69; set bmargin at screen 0.51
set ylabel "response w"
set key off
plot @MARK, \
    TABLE using "t":(row("theory", "w")) with lines ls 1 notitle, \
    TABLE using "t":(row("simulation", "w")) with points ls 1 notitle

set tmargin at screen 0.495; set bmargin at screen 0.3
set ylabel "loss  [nat]"
set yrange [0:*]
set key top right
plot @MARK, \
    TABLE using "t":(row("theory", "loss_iwl")) with lines ls 3 notitle, \
    TABLE using "t":(row("theory", "loss_icl")) with lines ls 2 notitle, \
    TABLE using "t":(row("theory", "loss_train")) with lines ls 1 notitle, \
    TABLE using "t":(row("simulation", "loss_iwl")) with points ls 3 notitle, \
    TABLE using "t":(row("simulation", "loss_icl")) with points ls 2 notitle, \
    TABLE using "t":(row("simulation", "loss_train")) with points ls 1 notitle, \
    NaN with linespoints ls 3 title "absent item (IWL)", \
    NaN with linespoints ls 2 title "novel item (ICL)", \
    NaN with linespoints ls 1 title "training"

set tmargin at screen 0.285; set bmargin at screen 0.09
set format x "%g"
set xlabel "t  [learning rate × SGD steps]"
set ylabel "accuracy"
set offsets
set yrange [0.4:1.05]
set ytics 0.2
set key vertical center right
plot @MARK, \
    TABLE using "t":(row("theory", "acc_iwl")) with lines ls 3 notitle, \
    TABLE using "t":(row("theory", "acc_icl")) with lines ls 2 notitle, \
    TABLE using "t":(row("simulation", "acc_iwl")) with points ls 3 notitle, \
    TABLE using "t":(row("simulation", "acc_icl")) with points ls 2 notitle, \
    NaN with linespoints ls 2 title "ICL", \
    NaN with linespoints ls 3 title "IWL"
unset multiplot
