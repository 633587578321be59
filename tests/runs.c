#include "runs.h"

#include "check.h"

struct icl_train_setup runs_setup(double K, size_t N, double D, size_t H) {
    return (struct icl_train_setup){
        .task = {.K = K, .N = N, .D = D, .copies = 1},
        .train = {.lr = 0.1, .batch = 128, .t_max = 1000},
        .observe = {.icl_threshold = 0.95, .loss_threshold = 0.9, .iwl_threshold = 0.95, .samples = 11},
        .sim = {.hidden = H, .input_scale = 1, .seed = 1, .eval_items = 2000}};
}

struct icl_train_run *runs_start(const struct icl_train_setup *setup) {
    struct icl_train_run *run;
    struct icl_err err;
    check_ok(icl_train_alloc(&run, setup, &err), &err);
    check_ok(icl_train_init(run, &err), &err);
    return run;
}

void runs_finish(struct icl_train_run *run) {
    struct icl_err err;
    while (!icl_train_done(run)) check_ok(icl_train_step(run, &err), &err);
}
