# landscape.gp TABLE FORMAT CAPTION -- the (w, beta) plane for three states of the MLP; the picture goes to stdout.
# Each state is five data sets of the table: 0 loss, 1 arrow, 2 path, 3 start, 4 end. Columns go by number here, since
# gnuplot takes the first row of every data set for a line of names otherwise.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 1200; HEIGHT = 520
load ARG0[1:strlen(ARG0) - strlen("landscape.gp")]."style.gp"

set datafile nocolumnheaders
set datafile separator whitespace
SETS = 5; C1 = 1; W = 3; BETA = 4; VALUE = 5; DW = 6; DBETA = 7
STATES = "before during after"

set contour base
unset surface
set cntrparam levels discrete -0.5, -0.4, -0.3, -0.2, -0.1, -0.08, -0.06, -0.04, -0.02, 0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.3, 0.4
set table $contour0
splot TABLE index 0 skip 1 using W:BETA:VALUE with lines
set table $contour1
splot TABLE index SETS skip 1 using W:BETA:VALUE with lines
set table $contour2
splot TABLE index 2 * SETS skip 1 using W:BETA:VALUE with lines
unset table
unset contour
set surface

set palette defined (@CIVIDIS)
set cbrange [-0.6:0.4]
set style arrow 2 head filled size 0.16, 20 fixed lc rgb "white" lw 0.9
set border 15
set xrange [-1.5:7]
set yrange [-1.5:7.5]
set xtics 2
set ytics 2
unset grid
set colorbox user origin 0.91, 0.15 size 0.014, 0.64
set cbtics 0.2 offset -0.6, 0
set cblabel "penalized loss, above w = β = 0  [nat]" offset 0.6, 0
set multiplot layout 1, 3 margins 0.055, 0.895, 0.15, 0.79 spacing 0.015
set label 1 "How memorization changes the landscape that attention descends" at screen 0.475, 0.955 center
set label 2 CAPTION."; heavy line: the run from the initial values; open circles: where runs end" at screen 0.475, 0.9 center font ",10.4"
do for [i = 0:2] {
    set xlabel "w"
    if (i == 0) { set ylabel "β" } else { unset ylabel; set format y ""; unset label 1; unset label 2; unset colorbox }
    plot TABLE index SETS * i skip 1 using W:BETA:VALUE with image, \
        sprintf("$contour%d", i) using 1:2 with lines lt 6 dt solid lc rgb "#D0D0D0" lw 0.6, \
        TABLE index SETS * i + 1 using W:BETA:DW:DBETA with vectors as 2, \
        TABLE index SETS * i + 2 every :::1 using W:BETA with lines lt 6 dt solid lc rgb "white" lw 2.6, \
        TABLE index SETS * i + 2 every :::1 using W:BETA with lines lt 6 dt solid lc rgb "black" lw 1.5, \
        TABLE index SETS * i + 2 every :::0::0 using W:BETA with lines lt 6 lw 4.2 dt solid lc rgb "white", \
        TABLE index SETS * i + 2 every :::0::0 using W:BETA with lines lt 6 lw 3 dt solid lc rgb SIGNAL, \
        TABLE index SETS * i + 3 using W:BETA with points pt 7 ps 0.6 lc rgb "black", \
        TABLE index SETS * i + 4 using W:BETA with points pt 7 ps 1.7 lc rgb "black", \
        TABLE index SETS * i + 4 using W:BETA with points pt 7 ps 1.1 lc rgb "white", \
        TABLE index SETS * i + 3 every ::0::0 using (2.75):(7.5):(sprintf("%s memorization: c_1 = %g", word(STATES, i + 1), column(C1))) with labels offset 0, 0.9
}
unset multiplot
