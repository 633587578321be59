# times_over.gp -- t_icl of many runs against N, and its tail, for the figures that set HERE and TITLE; to stdout.
WIDTH = 1000; HEIGHT = 560
load HERE."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
finite(x) = x < 1e12 ? x : NaN
SIMULATED = ""; SLOPE = 0; THEORY = 0
stats TABLE using (SIMULATED = strcol("simulated"), is("curve", "line") ? (SLOPE = column("low"), THEORY = column("high"), 1) : 1) nooutput
stats TABLE using (row("median", "N")) name "N" nooutput
stats TABLE using (finite(row("run", "t_icl"))) name "T" nooutput
stats TABLE using (finite(row("run", "theory"))) name "H" nooutput
LEAST = T_min < H_min ? T_min : H_min
MOST = T_max > H_max ? T_max : H_max
TAIL = ""
stats TABLE using (is("curve", "tail") ? (TAIL = TAIL.sprintf("%sN = %g: %.2f", strlen(TAIL) ? ",  " : "", column("N"), column("low")), 1) : NaN) nooutput
set multiplot
set label 1 TITLE at screen 0.53, 0.96 center
set label 2 CAPTION at screen 0.53, 0.91 center font ",10.4"
set label 3 sprintf("simulated: %s; 90 %% quantile over the median, %s", SIMULATED, TAIL) at screen 0.53, 0.865 center font ",10.4"
set tmargin at screen 0.81; set bmargin at screen 0.14
set logscale xy
set xrange [N_min / 1.4:N_max * 1.4]
set yrange [LEAST / 1.4:MOST * 2.5]
set xtics (10, 20, 25, 50, 100, 200, 400)
set ytics (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
set xlabel "context length N  [items]"
set ylabel "t_{ICL}  [learning rate × SGD steps]"
set key top left Left reverse samplen 2.5 font ",12"
set lmargin at screen 0.1; set rmargin at screen 0.5
plot TABLE using (row("run", "N") * 0.96):(finite(column("t_icl"))) with points pt 7 ps 0.45 lc rgb "#9FB0C6" title "simulated runs", \
    TABLE using (row("median", "N") * 0.96):"t_icl":"low":"high" with yerrorbars lc rgb DEEP lw 2 pt 7 ps 1 title "their median", \
    TABLE using (row("line", "N")):"t_icl" with lines lt 4 lw 1.8 dt (6, 4) title sprintf("%.2f N", SLOPE), \
    TABLE using (row("run", "N") * 1.04):(finite(column("theory"))) with points pt 6 ps 0.45 lc rgb SIGNAL title "theory, same starts", \
    TABLE using (row("median", "N") * 1.04):"theory" with points pt 4 ps 1.3 lw 2 lc rgb SIGNAL title sprintf("its median, about %.2f N", THEORY)

unset label 1
unset label 2
unset label 3
set lmargin at screen 0.59; set rmargin at screen 0.975
set xrange [*:*]
set yrange [*:1.3]
set xtics (0.25, 0.5, 1, 2, 4, 8, 16)
set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
set xlabel "t_{ICL} over its median"
set ylabel "share of runs that take longer"
set key bottom left Left reverse samplen 2
SHADE(i) = (i == 0 ? "#00224E" : i == 1 ? "#707173" : "#C28E00")
plot for [i = 0:2] TABLE using (column("N") == N_min * 2**i ? finite(row("ranked", "t_icl")) : NaN):"share" with steps lc rgb SHADE(i) lw 2.2 dt solid title sprintf("simulated, N = %g", N_min * 2**i), \
    for [i = 0:2] TABLE using (column("N") == N_min * 2**i ? finite(row("ranked", "theory")) : NaN):"share" with lines lc rgb SHADE(i) lw 1.4 dt (4, 3) notitle, \
    NaN with lines lc rgb INK lw 1.4 dt (4, 3) title "theory, same starts"
unset multiplot
