# threshold.gp TABLE FORMAT CAPTION -- K* against N for several initial beta; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 620
load ARG0[1:strlen(ARG0) - strlen("threshold.gp")]."style.gp"

row(level) = (is("level", level) ? column("K_star") : NaN)

set title "Data diversity needed for ICL\n{/*0.8 ".CAPTION."}"
set logscale xy
set format y "10^{%L}"
set xrange [15:600]
set xtics (20, 50, 100, 200, 500)
set mytics 10
set xlabel "context length N  [items]"
set ylabel "threshold K*  [items]"
set key top left Left reverse samplen 2.5 spacing 1.2 opaque
set rmargin 15
plot TABLE using "N":(row("asymptotic")) with lines lt 1 title "asymptotic (T8)", \
    TABLE using "N":(row("reduced")) with points lt 2 pt 4 ps 1.1 title "reduced", \
    TABLE using "N":(row("meanfield")) with points lt 3 pt 7 ps 0.8 title "mean field", \
    TABLE using "N":(row("slope")) with lines lt -1 lw 1.5 notitle, \
    TABLE using "N":(column("N") > 200 ? row("slope") : NaN):(sprintf("slope 1/ν = %.3g", column("slope"))) with labels left offset 0.5, -1 notitle, \
    TABLE using "N":(row("label")):(sprintf("initial β = %g", column("beta0"))) with labels left offset 1, 0 notitle
