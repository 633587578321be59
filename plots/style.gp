# style.gp -- what the figures share. Before it is loaded: TABLE, FORMAT (png, svg, pdf), CAPTION, WIDTH and HEIGHT in
# points of a 1x screen. Colours run through cividis; lines differ by dash and width besides, so that grey serves too.

if (FORMAT eq "png") set terminal pngcairo size 2 * WIDTH, 2 * HEIGHT font "DejaVu Sans,13" fontscale 2 linewidth 2 pointscale 2
if (FORMAT eq "svg") set terminal svg size WIDTH, HEIGHT font "DejaVu Sans,13" linewidth 1 background "white"
if (FORMAT eq "pdf") set terminal pdfcairo size WIDTH / 96.0, HEIGHT / 96.0 font "DejaVu Sans,13" fontscale 0.75 linewidth 1.3

set encoding utf8
set datafile separator "\t"
set datafile columnheaders
set datafile missing "nan"

INK    = "#1A1A1A"
GREY   = "#707070"
DEEP   = "#00224E"
MIDDLE = "#7C7B78"
WARM   = "#C28E00"
SIGNAL = "#D55E00"
CIVIDIS = "0 '#00224E', 1 '#123570', 2 '#3B496C', 3 '#575D6D', 4 '#707173', 5 '#8A8678', 6 '#A59C74', 7 '#C3B369', 8 '#E1CC55', 9 '#FEE838'"

# 1 asymptotic, 2 reduced, 3 mean field
set linetype 1 linecolor rgb WARM   linewidth 2.6 dashtype (12, 6) pointtype 8 pointsize 0.9
set linetype 2 linecolor rgb SIGNAL linewidth 2.4 dashtype (12, 4, 2.5, 4) pointtype 4 pointsize 0.9
set linetype 3 linecolor rgb DEEP   linewidth 2.6 dashtype solid  pointtype 7 pointsize 0.8
# 4 guides and marks, 5 the grid
set linetype 4 linecolor rgb GREY linewidth 1.1 dashtype (2, 3) pointtype 6
set linetype 5 linecolor rgb "#E4E4E4" linewidth 0.8 dashtype solid

set border 3 linecolor rgb INK linewidth 0.9
set tics nomirror out scale 0.6 textcolor rgb INK
set grid linetype 5
set key off
set style arrow 1 nohead linetype 4

# A row's value where the row belongs to the block, else nothing.
is(name, what) = strcol(name) eq what
