# outcome.gp -- what the phase diagrams outcome_*.gp share: cells coloured by their outcome, the boundaries over them.
# Before it is loaded: what style.gp needs, XLABEL and YLABEL, KNOWN (name of the closed form), and logarithmic axes set.
load HERE."style.gp"

row(curve, value) = (is("curve", curve) ? value : NaN)
# none, iwl, icl (kept), transient: dark to light, so that grey tells them apart
COLOURS = "0x00224E 0x5A6472 0xFEE838 0xC9B25C"
colour(class) = int(word(COLOURS, int(class) + 1))
NAMES = "'neither ICL\n nor IWL' 'IWL only' 'ICL kept' 'ICL lost again'"
# Boxes reach a little under their neighbours: no seams.
OVER = 0.06
above(lo, hi, log) = log ? hi * (hi / lo)**OVER : hi + OVER * (hi - lo)
below(lo, hi, log) = log ? lo / (hi / lo)**OVER : lo - OVER * (hi - lo)

stats TABLE using (row("cell", column("x_lo"))):(row("cell", column("y_lo"))) name "LO" nooutput
stats TABLE using (row("cell", column("x_hi"))):(row("cell", column("y_hi"))) name "HI" nooutput
set title TITLE."\n{/*0.8 ".CAPTION."}" offset 0, 0.2
set xrange [LO_min_x:HI_max_x]
set yrange [LO_min_y:HI_max_y]
if (XLOG) { set logscale x; set format x "10^{%L}"; set mxtics 10 }
if (YLOG) { set logscale y; set mytics 10 }
if (YLOG == 2) { set format y "10^{%L}" }
if (YLOG == 1) { set ytics (20, 50, 100, 200, 500) }
set xlabel XLABEL
set ylabel YLABEL
set border 15
unset grid
set tmargin 4.5
set bmargin 7.6
set rmargin 4
set key bmargin center horizontal Left reverse samplen 2.5 spacing 1.25 width -3 maxrows 2 font ",11"
set style fill solid 1.0 noborder
X = 2; Y = 3 # gnuplot takes a text for a column's name; these two are called after their parameters
line(curve) = row(curve, column(Y))
plot TABLE using (row("cell", column(X))):Y:(below(column("x_lo"), column("x_hi"), XLOG)):(above(column("x_lo"), column("x_hi"), XLOG)):(below(column("y_lo"), column("y_hi"), YLOG)):(above(column("y_lo"), column("y_hi"), YLOG)):(colour(column("class"))) with boxxyerror lc rgb variable notitle, \
    TABLE using X:(line("closed")) with lines lt 6 dt solid lw 5 lc rgb "white" notitle, \
    TABLE using X:(line("closed")) with lines lt 6 dt (10, 6) lw 2.8 lc rgb SIGNAL title KNOWN, \
    TABLE using X:(line("lost")) with lines lt 6 dt solid lw 4.6 lc rgb "white" notitle, \
    TABLE using X:(line("lost")) with lines lt 6 dt solid lw 1.6 lc rgb "black" title "limit of loss by t_{max}", \
    TABLE using X:(line("acquired")) with lines lt 6 dt solid lw 6.8 lc rgb "white" notitle, \
    TABLE using X:(line("acquired")) with lines lt 6 dt solid lw 3.4 lc rgb "black" title ACQUIRED, \
    for [i = 1:4] NaN with boxes lc rgb colour(i - 1) title word("'neither' 'IWL only' 'ICL kept' 'ICL lost again'", i), \
    TABLE using X:(line("label")):(word(NAMES, int(column("class")) + 1)):(column("class") < 2 ? 0xFFFFFF : 0x000000) with labels tc rgb variable notitle
