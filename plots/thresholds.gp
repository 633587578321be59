# thresholds.gp TABLE FORMAT CAPTION -- K* against N by three levels of theory, and its local exponent; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1000; HEIGHT = 500
load ARG0[1:strlen(ARG0) - strlen("thresholds.gp")]."style.gp"

row(level, value) = (is("level", level) ? column(value) : NaN)
INVERSE = NaN
stats TABLE using (INVERSE = column("inverse_nu"), column("N")) nooutput
LO = STATS_min; HI = STATS_max
stats TABLE using "K_star" name "K" nooutput
stats TABLE using "slope" name "SLOPE" nooutput
LEAST = MOST = INVERSE
if (SLOPE_records > 0) {
    LEAST = INVERSE < SLOPE_min ? INVERSE : SLOPE_min
    MOST = INVERSE > SLOPE_max ? INVERSE : SLOPE_max
}
set multiplot
set label 1 "Data diversity needed for ICL" at screen 0.53, 0.95 center
set label 2 CAPTION at screen 0.53, 0.9 center font ",10.4"
set tmargin at screen 0.85; set bmargin at screen 0.14
set logscale xy
set xrange [LO / 1.08:HI * 1.08]
set yrange [K_min / 1.3:K_max * 1.5]
set xtics (50, 70, 100, 150, 200, 250)
set ytics (300, 500, 1000, 2000, 3000, 5000, 10000)
set xlabel "context length N  [items]"
set ylabel "threshold K*  [items]"
set key top left Left reverse samplen 2.5
set lmargin at screen 0.1; set rmargin at screen 0.49
plot TABLE using "N":(row("asymptotic", "K_star")) with lines lt 1 title "asymptotic (T8)", \
    TABLE using "N":(row("reduced", "K_star")) with lines lt 2 title "reduced", \
    TABLE using "N":(row("meanfield", "K_star")) with linespoints lt 3 title "mean field"

unset label 1
unset label 2
unset logscale y
set lmargin at screen 0.6; set rmargin at screen 0.985
set ytics auto
set yrange [LEAST - 0.1:MOST + 0.1]
set ylabel "local exponent d ln K* / d ln N"
set key top right
plot INVERSE with lines lt 4 lw 1.6 title sprintf("1/ν = %.3f (T8)", INVERSE), \
    TABLE using "N":(row("asymptotic", "slope")) with lines lt 1 notitle, \
    TABLE using "N":(row("reduced", "slope")) with lines lt 2 notitle, \
    TABLE using "N":(row("meanfield", "slope")) with linespoints lt 3 notitle
unset multiplot
