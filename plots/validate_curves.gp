# validate_curves.gp TABLE FORMAT CAPTION -- a quantity along an axis or in time: simulation with its standard errors,
# three levels of theory; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 720; HEIGHT = 440
load ARG0[1:strlen(ARG0) - strlen("validate_curves.gp")]."style.gp"

LEVELS = "asymptotic reduced meanfield"
NAMES = '"asymptotic" "reduced" "mean field"'
row(kind, curve, value) = (is("kind", kind) && column("curve") == curve ? column(value) : NaN)
QUANTITY = ""; ABSCISSA = ""; LOG = 0
stats TABLE using (QUANTITY = strcol("quantity"), ABSCISSA = strcol("abscissa"), LOG = column("log"), column("curve")) nooutput
LAST = STATS_max
stats TABLE using (is("kind", "simulation") ? column("x") : NaN):(is("kind", "simulation") ? column("value") : NaN) name "SIM" nooutput
if (!exists("SIM_min_y")) stats TABLE using "x":"value" name "SIM" nooutput
SPAN = SIM_max_y - SIM_min_y
if (SPAN < 0.2 * abs(SIM_max_y)) SPAN = 0.2 * abs(SIM_max_y)
if (SPAN == 0) SPAN = 1
LOWEST = SIM_min_y - 0.9 * SPAN; HIGHEST = SIM_max_y + 0.9 * SPAN
LOGY = LOG > 0 && SIM_min_y > 0 && SIM_max_y > 2 * SIM_min_y
if (LOGY) { LOWEST = SIM_min_y / 2.5; HIGHEST = SIM_max_y * 2.5 }
inside(y) = (y > LOWEST && y < HIGHEST ? y : NaN)

set title QUANTITY.": ".CAPTION noenhanced
set xlabel (ABSCISSA eq "t" ? "t  [learning rate × SGD steps]" : ABSCISSA) noenhanced
set ylabel QUANTITY noenhanced
if (LOG) set logscale x
set offsets graph 0.06, graph 0.12, graph 0.05, graph 0.05
if (LOGY) { set logscale y; set offsets graph 0.06, graph 0.12, 0, 0; set yrange [LOWEST:HIGHEST] }
set key outside right top samplen 3 spacing 1.3
plot for [k = 1:3] for [c = 0:LAST] TABLE using "x":(inside(row(word(LEVELS, k), c, "value"))) with linespoints lt k pt 7 ps 0.25 notitle, \
    for [k = 3:1:-1] NaN with lines lt k title word(NAMES, k), \
    for [c = 0:LAST] TABLE using "x":(row("simulation", c, "value")):(column("error")) with yerrorbars pt 7 ps 0.9 lw 1.6 lc rgb INK notitle, \
    NaN with points pt 7 ps 0.9 lc rgb INK title "simulation", \
    TABLE using "x":(LAST > 0 && is("kind", "label") ? column("value") : NaN):(strcol("name")) with labels left offset 1, 0 noenhanced font ",11" notitle
