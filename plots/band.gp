# band.gp TABLE FORMAT CAPTION -- many simulated runs as a band, with theory through it; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 820
load ARG0[1:strlen(ARG0) - strlen("band.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
set style line 1 lc rgb SIGNAL lw 2.4 dt solid
LIGHT = "#C9D3E0"
DARK = "#7F93AF"
set xrange [0:*]
set lmargin 10
set rmargin 4
set key samplen 2.5 spacing 1.2 font ",12" top left Left reverse opaque
set style fill solid 1.0 noborder
SIMULATED = ""
stats TABLE using (SIMULATED = strcol("simulated"), 1) nooutput
set multiplot
do for [i = 1:3] {
    Y = word("beta w acc_icl", i)
    if (i == 1) { set title "Simulated runs and the mean field through them\n{/*0.8 ".CAPTION."}" } else { unset title; set key off }
    set tmargin at screen 0.88 - 0.265 * (i - 1); set bmargin at screen 0.635 - 0.265 * (i - 1)
    if (i == 3) { set format x "%g"; set xlabel "t  [learning rate × SGD steps]"; set yrange [0.4:1.05]; set ytics 0.2 } else { set format x ""; set yrange [-0.3:*] }
    set ylabel word("β w ICL_accuracy", i) noenhanced
    if (i == 3) { set ylabel "accuracy on novel items"; set label 1 "simulated: ".SIMULATED at graph 0.985, 0.1 right font ",11" }
    plot TABLE using "t":(row("seeds", Y."_least")):(column(Y."_most")) with filledcurves lc rgb LIGHT title "all runs", \
        TABLE using "t":(row("seeds", Y."_lower")):(column(Y."_upper")) with filledcurves lc rgb DARK title "middle half", \
        TABLE using "t":(row("theory", Y)) with lines ls 1 title "theory"
}
unset multiplot
