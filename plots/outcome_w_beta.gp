# outcome_w_beta.gp TABLE FORMAT CAPTION -- the outcome over the initial w and beta; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
HERE = ARG0[1:strlen(ARG0) - strlen("outcome_w_beta.gp")]
TITLE = "Which starts of the attention head acquire ICL"
XLABEL = "initial w"; XLOG = 0
YLABEL = "initial β"; YLOG = 0
ACQUIRED = "threshold"; KNOWN = "(T7), no decay"
load HERE."outcome.gp"
