# diversity_over.gp -- accuracies at t_max against K, seed by seed, for the figures that set HERE and TITLE; to stdout.
WIDTH = 1000; HEIGHT = 520
load HERE."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
SIMULATED = ""; THRESHOLD = NaN
stats TABLE using (SIMULATED = strcol("simulated"), is("curve", "threshold") ? (THRESHOLD = column("K"), 1) : 1) nooutput
stats TABLE using (row("run", "K")) name "K" nooutput
set multiplot
set label 1 TITLE at screen 0.53, 0.955 center
set label 2 SIMULATED.": ".CAPTION at screen 0.53, 0.905 center font ",10.4"
set tmargin at screen 0.84; set bmargin at screen 0.14
set logscale x
set xrange [K_min / 1.15:K_max * 1.15]
set yrange [-0.04:1.08]
set xtics (30, 100, 300, 1000, 3000, 10000, 30000, 100000)
set xlabel "number of items K"
if (THRESHOLD == THRESHOLD && THRESHOLD > K_min && THRESHOLD < K_max) {
    set arrow 1 from THRESHOLD, graph 0 to THRESHOLD, graph 1 nohead lc rgb GREY lw 1.4 dt (4, 4)
    set label 4 sprintf("K* = %.0f", THRESHOLD) at THRESHOLD, graph 0.04 left offset 0.6, 0 font ",12"
}
set ylabel "accuracy on novel items (ICL)"
set key at graph 0.98, graph 0.4 top right Left reverse samplen 2 font ",12"
set lmargin at screen 0.075; set rmargin at screen 0.505
plot TABLE using (row("theory", "K")):"acc_icl" with lines lt 3 lc rgb SIGNAL title "theory, mean field", \
    TABLE using (row("share", "K")):"acc_icl" with lines lc rgb "#9FB0C6" lw 2 dt (5, 4) title "share of runs that acquire it", \
    TABLE using (row("run", "K")):"acc_icl" with points pt 6 ps 0.9 lw 1.6 lc rgb DEEP title "simulated, seed by seed"

unset label 1
unset label 2
unset label 4
set key off
set ylabel "accuracy on absent items (IWL)"
set lmargin at screen 0.585; set rmargin at screen 0.985
plot TABLE using (row("theory", "K")):"acc_iwl" with lines lt 3 lc rgb SIGNAL, \
    TABLE using (row("run", "K")):"acc_iwl" with points pt 6 ps 0.9 lw 1.6 lc rgb DEEP
unset multiplot
