# transient.gp TABLE FORMAT CAPTION -- accuracies, w, beta and c1 of one run in time; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 720
load ARG0[1:strlen(ARG0) - strlen("transient.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
at(curve, y) = (is("curve", curve) ? y : NaN)

set style line 1 lc rgb DEEP lw 2.8
set style line 2 lc rgb SIGNAL lw 2.4 dt (12, 6)
set style line 3 lc rgb GREY lw 1.4 dt (4, 4)
set style line 4 lc rgb WARM lw 2.8
set y2range [0:1]
set lmargin 10
set rmargin 4
MARKS = 'for [m in "t_icl t_loss"] TABLE using "t":(at(m, 0)):(0):(1) axes x1y2 with vectors nohead ls 3'
set multiplot

set title "ICL is acquired, then lost\n{/*0.8 ".CAPTION."}" offset 0, 0.6
set tmargin at screen 0.86; set bmargin at screen 0.61
set format x ""
set ylabel "accuracy"
set yrange [0.45:1.05]
set ytics 0.5, 0.1
plot @MARKS, \
    TABLE using "t":(row("path", "acc_iwl")) with lines ls 2, \
    TABLE using "t":(row("path", "acc_icl")) with lines ls 1, \
    TABLE using "t":(at("t_icl", 1)):(sprintf("t_{ICL} = %.0f", column("t"))) axes x1y2 with labels offset 0, 0.7, \
    TABLE using "t":(at("t_loss", 1)):(sprintf("t_{loss} = %.0f", column("t"))) axes x1y2 with labels offset 0, 0.7, \
    TABLE using "t":(row("label", "acc_iwl")):("training items, absent from context (IWL): dashed") with labels offset 0, -2.7 tc rgb SIGNAL, \
    TABLE using "t":(row("label", "acc_icl")):("novel items, in context (ICL): solid") with labels offset 0, -1.4 tc rgb DEEP

unset title
set tmargin at screen 0.585; set bmargin at screen 0.34
set ylabel "attention w, β"
set yrange [*:*]
set ytics auto
plot @MARKS, \
    TABLE using "t":(row("path", "beta")) with lines ls 2, \
    TABLE using "t":(row("path", "w")) with lines ls 1, \
    TABLE using "t":(row("label", "beta")):("β") with labels offset 0, 0.9 tc rgb SIGNAL, \
    TABLE using "t":(row("label", "w")):("w") with labels offset 0, 0.9 tc rgb DEEP

set tmargin at screen 0.315; set bmargin at screen 0.11
set format x "%g"
set xlabel "t  [learning rate × SGD steps]"
set ylabel "MLP's gradient c_1"
set yrange [0:*]
plot @MARKS, \
    TABLE using "t":(row("path", "c1")) with lines ls 4, \
    TABLE using "t":(row("label", "c1")):("the MLP memorizes") with labels offset 0, 1.2 tc rgb WARM
unset multiplot
