# outcome_lambda_N.gp TABLE FORMAT CAPTION -- the outcome over weight decay and N; the picture goes to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
WIDTH = 900; HEIGHT = 680
HERE = ARG0[1:strlen(ARG0) - strlen("outcome_lambda_N.gp")]
TITLE = "How much decay ICL bears, by context length"
XLABEL = "weight decay λ  [1/t]"; XLOG = 1
YLABEL = "context length N  [items]"; YLOG = 1
ACQUIRED = "limit of acquisition"; KNOWN = "fold λ_c(N) (T9)"
load HERE."outcome.gp"
