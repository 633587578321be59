# diversity.gp TABLE FORMAT CAPTION -- what is known at t_max against K, seed by seed; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
HERE = ARG0[1:strlen(ARG0) - strlen("diversity.gp")]
TITLE = "Few items are memorized, many are learned from in context"
load HERE."diversity_over.gp"
