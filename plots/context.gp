# context.gp TABLE FORMAT CAPTION -- t_icl against the context length N; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 520
load ARG0[1:strlen(ARG0) - strlen("context.gp")]."style.gp"

row(level, value) = (is("level", level) ? column(value) : NaN)

set logscale x
set mxtics 10
set xlabel "context length N  [items]"
set multiplot
set label 1 "Acquisition time grows with the context length" at screen 0.53, 0.95 center
set label 2 CAPTION at screen 0.53, 0.895 center font ",10.4"

set lmargin at screen 0.085; set rmargin at screen 0.49; set tmargin at screen 0.83; set bmargin at screen 0.14
set logscale y
set format y "10^{%L}"
set mytics 10
set ylabel "t_{ICL}  [learning rate × SGD steps]"
set key top left Left reverse samplen 2.5 spacing 1.2 font ",12" opaque
plot TABLE using "N":(row("asymptotic", "t_icl")) with lines lt 1 title "asymptotic (T7), ∝ N", \
    TABLE using "N":(row("reduced", "t_icl")) with points lt 2 pt 4 ps 1.1 title "reduced (T5)", \
    TABLE using "N":(row("meanfield", "t_icl")) with points lt 3 pt 7 ps 0.8 title "mean field (T3)"

unset label 1
unset label 2
set lmargin at screen 0.585; set rmargin at screen 0.965
unset logscale y
set format y "%g"
set mytics 2
set ylabel "t_{ICL} / asymptotic t_{ICL}"
set yrange [0.98:*]
set key off
plot TABLE using "N":(row("asymptotic", "ratio")) with lines lt 1, \
    TABLE using "N":(row("reduced", "ratio")) with linespoints lt 2 lw 1.2 pt 4 ps 1.1, \
    TABLE using "N":(row("meanfield", "ratio")) with linespoints lt 3 lw 1.2 pt 7 ps 0.8
unset multiplot
