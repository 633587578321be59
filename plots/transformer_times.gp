# transformer_times.gp TABLE FORMAT CAPTION -- t_icl of many simulated runs against N, with its tail; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
HERE = ARG0[1:strlen(ARG0) - strlen("transformer_times.gp")]
TITLE = "When a one-layer transformer acquires ICL, against the context length"
load HERE."times_over.gp"
