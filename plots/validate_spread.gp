# validate_spread.gp TABLE FORMAT CAPTION -- the distribution of t_icl over runs, simulated and by theory from the same
# starts: distribution functions, and quantile against quantile; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 440
load ARG0[1:strlen(ARG0) - strlen("validate_spread.gp")]."style.gp"

stats TABLE using "simulation" name "S" nooutput
stats TABLE using "theory" name "H" nooutput
# where none is reached
if (!exists("S_min")) { S_min = 1e300; S_max = -1e300 }
if (!exists("H_min")) { H_min = 1e300; H_max = -1e300 }
LEAST = S_min < H_min ? S_min : H_min
MOST = S_max > H_max ? S_max : H_max
if (MOST < LEAST) { LEAST = 0; MOST = 1 }
set multiplot
set label 1 CAPTION at screen 0.5, 0.955 center noenhanced
set lmargin at screen 0.08; set rmargin at screen 0.55; set tmargin at screen 0.90; set bmargin at screen 0.15
set xlabel "t_{ICL}  [learning rate × SGD steps]"
set ylabel "share of runs"
set yrange [0:1.02]
set xrange [LEAST * 0.9:MOST * 1.05]
set key bottom right Left reverse samplen 3 spacing 1.2
plot TABLE using "theory":"share" with fsteps dt solid lw 3.4 lc rgb "#E9A06C" title "theory, same starts", \
    TABLE using "simulation":"share" with fsteps dt solid lw 1.6 lc rgb DEEP title "simulation"
unset label 1
unset key
set lmargin at screen 0.66; set rmargin at screen 0.97
set xlabel "quantiles by theory"
set ylabel "quantiles by simulation" offset 1, 0
set yrange [LEAST * 0.9:MOST * 1.05]
plot x with lines lt 4 lw 1.6, TABLE using "theory":"simulation" with points pt 6 ps 0.8 lw 1.4 lc rgb DEEP
unset multiplot
