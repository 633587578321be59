# acquisition.gp TABLE FORMAT CAPTION -- t_icl over the (K, N) plane with contours; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
load ARG0[1:strlen(ARG0) - strlen("acquisition.gp")]."style.gp"

row(curve, value) = (is("curve", curve) ? value : NaN)
reached(t) = t < 1e9 ? t : NaN
# Boxes reach a little under their neighbours: no seams.
OVER = 0.06
above(lo, hi) = hi * (hi / lo)**OVER
below(lo, hi) = lo / (hi / lo)**OVER

stats TABLE using (row("cell", column("x_lo"))):(row("cell", column("y_lo"))) name "LO" nooutput
stats TABLE using (row("cell", column("x_hi"))):(row("cell", column("y_hi"))) name "HI" nooutput
set title "Time to acquire ICL\n{/*0.8 ".CAPTION."}" offset 0, 0.2
set logscale xy
set xrange [LO_min_x:HI_max_x]
set yrange [LO_min_y:HI_max_y]
set format x "10^{%L}"
set mxtics 10
set ytics (50, 100, 200, 500, 1000)
set mytics 10
set xlabel "number of items K"
set ylabel "context length N  [items]"
set palette defined (@CIVIDIS)
set logscale cb
set cblabel "t_{ICL}  [learning rate × SGD steps]" offset 0.5, 0
set cbrange [50:5000]
set cbtics (20, 50, 100, 200, 500, 1000, 2000, 5000)
set border 15
unset grid
set tmargin 4.5
set bmargin 5.7
set rmargin 14
set key bmargin center horizontal Left reverse samplen 3.5 spacing 1.2 font ",11.5"
set style fill solid 1.0 noborder
set style textbox opaque noborder margins 0.6, 0.4 fillcolor rgb "white"
X = 2; Y = 3
line(curve) = row(curve, column(Y))
plot TABLE using (row("cell", column(X))):Y:(below(column("x_lo"), column("x_hi"))):(above(column("x_lo"), column("x_hi"))):(below(column("y_lo"), column("y_hi"))):(above(column("y_lo"), column("y_hi"))):(reached(column("t_icl"))) with boxxyerror lc palette notitle, \
    TABLE using X:(line("contour")) with lines lt 6 dt solid lw 2.4 lc rgb "white" notitle, \
    TABLE using X:(line("contour")) with lines lt 6 dt solid lw 1.1 lc rgb "black" title "contours of t_{ICL}", \
    TABLE using X:(line("closed")) with lines lt 6 dt solid lw 5 lc rgb "white" notitle, \
    TABLE using X:(line("closed")) with lines lt 6 dt (10, 6) lw 2.8 lc rgb SIGNAL title "(T8): no damping", \
    TABLE using X:(line("acquired")) with lines lt 6 dt solid lw 6.8 lc rgb "white" notitle, \
    TABLE using X:(line("acquired")) with lines lt 6 dt solid lw 3.4 lc rgb "black" title "threshold K*(N)", \
    TABLE using X:(line("level")):(sprintf("%g", column("t_icl"))) with labels boxed font ",11" notitle, \
    TABLE using X:(column("class") < 2 ? line("label") : NaN):("never acquired") with labels notitle
