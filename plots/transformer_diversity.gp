# transformer_diversity.gp TABLE FORMAT CAPTION -- what is known at t_max against K, seed by seed; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
HERE = ARG0[1:strlen(ARG0) - strlen("transformer_diversity.gp")]
TITLE = "A one-layer transformer memorizes few items and learns in context from many"
load HERE."diversity_over.gp"
