# outcome_K_beta.gp TABLE FORMAT CAPTION -- the outcome over K and the initial beta; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
HERE = ARG0[1:strlen(ARG0) - strlen("outcome_K_beta.gp")]
TITLE = "A selective start needs less diverse data"
XLABEL = "number of items K"; XLOG = 1
YLABEL = "initial β"; YLOG = 0
ACQUIRED = "threshold K*(β)"; KNOWN = "(T8), no decay"
load HERE."outcome.gp"
