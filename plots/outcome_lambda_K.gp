# outcome_lambda_K.gp TABLE FORMAT CAPTION -- the outcome over weight decay and K; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
HERE = ARG0[1:strlen(ARG0) - strlen("outcome_lambda_K.gp")]
TITLE = "Decay ends ICL in two ways: it traps the start, or lets ICL be lost"
XLABEL = "weight decay λ  [1/t]"; XLOG = 1
YLABEL = "number of items K"; YLOG = 2
ACQUIRED = "threshold K*(λ)"; KNOWN = "fold λ_c (T9)"
load HERE."outcome.gp"
