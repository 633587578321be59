# phaseplane.gp TABLE FORMAT CAPTION -- nullclines, separatrix, flow and runs for three states of the MLP; the picture
# goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1200; HEIGHT = 560
load ARG0[1:strlen(ARG0) - strlen("phaseplane.gp")]."style.gp"

STATES = "before during after"
row(state, curve) = (is("state", state) && is("curve", curve) ? column("beta") : NaN)
set border 15
set xrange [-1.5:7]
set yrange [-1.5:7.5]
set xtics 2
set ytics 2
unset grid
set style fill solid 1.0 noborder
set style arrow 2 head filled size 0.15, 20 fixed lc rgb "#9A9A9A" lw 0.9
set style line 1 lc rgb DEEP lw 3 dt solid
set style line 2 lc rgb "#0072B2" lw 2.4 dt (14, 5)
set style line 3 lc rgb SIGNAL lw 3.2 dt (5, 3)
set multiplot layout 1, 3 margins 0.055, 0.985, 0.22, 0.82 spacing 0.015
set label 1 "Memorization takes the fixed point of ICL away" at screen 0.52, 0.955 center
set label 2 CAPTION at screen 0.52, 0.905 center font ",10.4"
set key bmargin center horizontal Left reverse samplen 3.2 width -1 font ",11.5"
do for [i = 1:3] {
    S = word(STATES, i)
    set xlabel "w"
    if (i == 1) { set ylabel "β" } else { unset ylabel; set format y ""; unset label 1; unset label 2 }
    plot TABLE using (column("w")):(row(S, "basin")):(1.06 * column("dw")):(1.06 * column("dbeta")) with boxxyerror lc rgb "#F7EDB5" title (i == 3 ? "starts that end with ICL" : ""), \
        TABLE using "w":(row(S, "flow")):"dw":"dbeta" with vectors as 2 notitle, \
        TABLE using "w":(row(S, "path")) with lines lt 6 dt solid lc rgb "black" lw 1.2 title (i == 3 ? "runs" : ""), \
        TABLE using "w":(row(S, "w_nullcline")) with lines ls 1 title (i == 1 ? "dw/dt = 0" : ""), \
        TABLE using "w":(row(S, "beta_nullcline")) with lines ls 2 title (i == 1 ? "dβ/dt = 0" : ""), \
        TABLE using "w":(row(S, "separatrix")) with lines lt 6 dt solid lw 5 lc rgb "white" notitle, \
        TABLE using "w":(row(S, "separatrix")) with lines ls 3 title (i == 2 ? "separatrix" : ""), \
        TABLE using "w":(row(S, "start")) with points pt 7 ps 0.5 lc rgb "black" notitle, \
        TABLE using "w":(row(S, "origin")) with points pt 7 ps 0.9 lc rgb "black" notitle, \
        TABLE using "w":(row(S, "stable")) with points pt 7 ps 1.5 lc rgb DEEP title (i == 2 ? "stable" : ""), \
        TABLE using "w":(row(S, "saddle")) with points pt 7 ps 1.7 lc rgb SIGNAL notitle, \
        TABLE using "w":(row(S, "saddle")) with points pt 7 ps 0.9 lc rgb "white" notitle, \
        (i == 2 ? -9 : NaN) with points pt 6 ps 1.4 lw 2 lc rgb SIGNAL title (i == 2 ? "saddle" : ""), \
        TABLE using (2.75):(row(S, "origin") + 7.5 - column("beta")):(sprintf("%s memorization: c_1 = %g", S, column("c1"))) with labels offset 0, 0.9 notitle
}
unset multiplot
