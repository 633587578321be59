# transformer_run.gp TABLE FORMAT CAPTION -- a transformer acquires ICL, with theory from its start; to stdout.
TABLE = ARG1; FORMAT = ARG2; CAPTION = ARG3
HERE = ARG0[1:strlen(ARG0) - strlen("transformer_run.gp")]
TITLE = "A one-layer transformer learns in context: theory (lines) over one run (points)"
load HERE."transformer_trace.gp"
