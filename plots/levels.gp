# levels.gp TABLE FORMAT CAPTION -- w and beta in time by three levels of theory; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 620
load ARG0[1:strlen(ARG0) - strlen("levels.gp")]."style.gp"

LEVELS = "asymptotic reduced meanfield"
row(level, curve, value) = (is("level", level) && is("curve", curve) ? column(value) : NaN)

set xrange [0:*]
set lmargin 9
set rmargin 3
set multiplot
do for [Y in "beta w"] {
    if (Y eq "beta") {
        set title "Three levels of theory for the acquisition of ICL\n{/*0.8 ".CAPTION."}" offset 0, -0.4
        set tmargin at screen 0.89; set bmargin at screen 0.5
        set format x ""; unset xlabel; set ylabel "β"
    } else {
        unset title
        set tmargin at screen 0.47; set bmargin at screen 0.12
        set format x "%g"; set xlabel "t  [learning rate × SGD steps]"; set ylabel "w"
    }
    plot for [i = 1:2] TABLE using "t":(row(word(LEVELS, i), "blowup", Y)) with lines lt i lw 1.2 dt (5, 5), \
        for [i = 1:3] TABLE using "t":(row(word(LEVELS, i), "path", Y)) with lines lt i, \
        for [i = 2:3] TABLE using "t":(row(word(LEVELS, i), "t_icl", Y)) with points lt i pt 7 ps 1.4, \
        TABLE using "t":(row("meanfield", "t_icl", Y)):(sprintf("t_{ICL} = %.0f", column("t"))) with labels left offset 1, -0.7 tc lt 3, \
        TABLE using "t":(row("asymptotic", "label", Y)):("asymptotic") with labels right offset -1, 0 tc lt 1, \
        TABLE using "t":(row("reduced", "label", Y)):("reduced") with labels right offset -1, 0 tc lt 2, \
        TABLE using "t":(row("meanfield", "label", Y)):("mean field") with labels left offset 1, -1 tc lt 3
}
unset multiplot
