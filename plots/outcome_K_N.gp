# outcome_K_N.gp TABLE FORMAT CAPTION -- the outcome over K and N; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
HERE = ARG0[1:strlen(ARG0) - strlen("outcome_K_N.gp")]
TITLE = "Diverse data and short contexts acquire ICL"
XLABEL = "number of items K"; XLOG = 1
YLABEL = "context length N  [items]"; YLOG = 1
ACQUIRED = "threshold K*(N)"; KNOWN = "(T8), no decay"
load HERE."outcome.gp"
