# transformer_transience.gp TABLE FORMAT CAPTION -- a transformer acquires ICL and loses it again; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
HERE = ARG0[1:strlen(ARG0) - strlen("transformer_transience.gp")]
TITLE = "Transience in a one-layer transformer: theory (lines) over one run (points)"
load HERE."transformer_trace.gp"
