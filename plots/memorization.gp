# memorization.gp TABLE FORMAT CAPTION -- c1 in the clock, its collapse, I_K(inf) and its exponent; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 820
load ARG0[1:strlen(ARG0) - strlen("memorization.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? column(value) : NaN)
stats TABLE using (row("c1", "K")) nooutput
LO = STATS_min; HI = STATS_max
stats TABLE using (row("c1", "s")) nooutput
END = STATS_max
set palette defined (@CIVIDIS)
set cbrange [log(LO):log(HI) + 0.3]
unset colorbox
set key off
set multiplot
set label 1 "Memorization, measured on the MLP alone" at screen 0.53, 0.965 center
set label 2 CAPTION at screen 0.53, 0.93 center font ",10.4"

set lmargin at screen 0.1; set rmargin at screen 0.49; set tmargin at screen 0.89; set bmargin at screen 0.56
set logscale x
set xrange [END / 2000:END * 3]
set yrange [0:0.53]
set format x "10^{%L}"
set xlabel "clock s  [learning rate × SGD steps]"
set ylabel "c_1 = ⟨σ(−φ_+)⟩"
plot TABLE using (row("c1", "s")):(row("c1", "y")):(log(column("K"))) with lines lw 2.2 dt solid lc palette, \
    TABLE using (row("label", "s")):"y":(sprintf("%g", column("K"))) with labels left offset 0.3, 0.5 font ",9"

unset label 1
unset label 2
set lmargin at screen 0.585; set rmargin at screen 0.965
set xrange [0.05:20]
set xlabel "s / I_K(∞)"
set format x "%g"
plot TABLE using (row("c1", "share")):(row("c1", "y")):(log(column("K"))) with lines lw 2.2 dt solid lc palette

set lmargin at screen 0.1; set rmargin at screen 0.49; set tmargin at screen 0.46; set bmargin at screen 0.09
set logscale xy
set xrange [LO / 1.5:HI * 1.5]
set yrange [*:*]
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "number of items K"
set ylabel "I_K(∞)  [learning rate × SGD steps]"
set key top left Left reverse samplen 2.5 font ",12"
plot TABLE using (row("fit", "K")):(row("fit", "y")) with lines lt 1 title "fit A K^ν", \
    TABLE using (row("I_K_inf", "K")):(row("I_K_inf", "y")):(row("I_K_inf", "error")) with yerrorbars lc rgb DEEP lw 1.6 dt solid pt 7 ps 0.9 title "measured"

set lmargin at screen 0.585; set rmargin at screen 0.965
unset logscale y
set format y "%g"
set yrange [0.5:1]
set ylabel "local exponent d ln I_K(∞) / d ln K"
set key top left
plot TABLE using (row("nu", "K")):(row("nu", "y")) with lines lt 1 title "ν of the fit", \
    TABLE using (row("exponent", "K")):(row("exponent", "y")):(row("exponent", "error")) with yerrorbars lc rgb DEEP lw 1.6 dt solid pt 7 ps 0.9 title "between neighbours"
unset multiplot
