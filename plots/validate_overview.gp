# validate_overview.gp TABLE FORMAT CAPTION -- every judged difference with its interval, in units of its bound; the
# picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
set datafile separator "\t"
set datafile columnheaders
stats TABLE using "place" nooutput
WIDTH = 1000; HEIGHT = 100 + 19 * (STATS_max + 1)
load ARG0[1:strlen(ARG0) - strlen("validate_overview.gp")]."style.gp"

MOST = 3.0
cut(x) = x > MOST ? MOST : x < -MOST ? -MOST : x
from(d, w) = cut(d - w)
to(d, w) = cut(d + w)
of(verdict, y) = (is("verdict", verdict) ? y : NaN)

set lmargin at screen 0.40
set rmargin at screen 0.97
set tmargin at screen 1 - 34.0 / HEIGHT
set bmargin at screen 62.0 / HEIGHT
set xrange [-MOST * 1.03:MOST * 1.03]
set yrange [STATS_max + 0.7:-0.7]
set xlabel "(simulation − theory) in units of its bound; the bar: the interval of its confidence"
set xtics ("≤ −3" -3, -2, -1, 0, 1, 2, "≥ 3" 3)
set border 1

unset grid
set ytics noenhanced scale 0
set grid x linetype 5
set object 1 rectangle from -1, graph 0 to 1, graph 1 fc rgb "#E6EDF5" fs solid noborder behind
set key at screen 0.97, screen 1 - 16.0 / HEIGHT right horizontal samplen 1 font ",12"
plot TABLE using (0):"place":ytic(1) with points pt 7 ps 0 notitle, \
    TABLE using (from(column("difference"), column("width"))):(of("holds", column("place"))):(to(column("difference"), column("width")) - from(column("difference"), column("width"))):(0) with vectors nohead dt solid lw 2.4 lc rgb DEEP notitle, \
    TABLE using (from(column("difference"), column("width"))):(of("open", column("place"))):(to(column("difference"), column("width")) - from(column("difference"), column("width"))):(0) with vectors nohead dt solid lw 2.4 lc rgb GREY notitle, \
    TABLE using (from(column("difference"), column("width"))):(of("differs", column("place"))):(to(column("difference"), column("width")) - from(column("difference"), column("width"))):(0) with vectors nohead dt solid lw 2.4 lc rgb SIGNAL notitle, \
    TABLE using (cut(column("difference"))):(of("holds", column("place"))) with points pt 7 ps 0.7 lc rgb DEEP title "holds", \
    TABLE using (cut(column("difference"))):(of("open", column("place"))) with points pt 6 ps 0.8 lw 2 lc rgb GREY title "open", \
    TABLE using (cut(column("difference"))):(of("differs", column("place"))) with points pt 9 ps 1.1 lc rgb SIGNAL title "differs"
