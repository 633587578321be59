/* figures.c -- the table of figures. */
#include "cli/figures.h"

#include <string.h>

static const struct figure figures[] = {
    {"levels", "w and beta in time by three levels of theory, ICL acquisition marked", "beta",
     "N = {task.N}, D = {task.D}, K = {task.K}, start w = {init.w}, β = {init.beta}", figures_levels},
    {"landscape", "loss in the (w, beta) plane before, during and after memorization: flow and trajectories", "value",
     "N = {task.N}, D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}", figures_landscape},
    {"initial", "t_icl against the initial beta and w: exponential", "t_icl",
     "N = {task.N}, D = {task.D}, K = {task.K}", figures_initial},
    {"context", "t_icl against the context length N by three levels of theory", "t_icl",
     "D = {task.D}, K = {task.K}, start w = {init.w}, β = {init.beta}", figures_context},
    {"threshold", "data diversity threshold K* against N for several initial beta, slope 1/nu", "K_star",
     "D = {task.D}, law {memory.law}, A = {memory.A}, ν = {memory.nu}, K* at t_{max} = {train.t_max}",
     figures_threshold},
    {"transient", "a run that acquires ICL and loses it again: accuracies, w, beta and c1 in time", "acc_icl",
     "N = {task.N}, D = {task.D}, K = {task.K}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}",
     figures_transient},
    {"outcome_K_N", "outcome in the (K, N) plane: no ICL, IWL only, ICL kept, ICL lost again", "class",
     "D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}, t_{max} = {train.t_max}",
     figures_outcome_K_N},
    {"outcome_K_beta", "outcome in the (K, initial beta) plane", "class",
     "N = {task.N}, D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}, t_{max} = {train.t_max}",
     figures_outcome_K_beta},
    {"outcome_lambda_K", "outcome in the (decay, K) plane", "class",
     "N = {task.N}, D = {task.D}, λ_w = λ_β = λ, t_{max} = {train.t_max}", figures_outcome_lambda_K},
    {"outcome_lambda_N", "outcome in the (decay, N) plane", "class",
     "K = {task.K}, D = {task.D}, λ_w = λ_β = λ, t_{max} = {train.t_max}", figures_outcome_lambda_N},
    {"outcome_w_beta", "outcome in the plane of initial w and beta", "class",
     "N = {task.N}, K = {task.K}, D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}, t_{max} = "
     "{train.t_max}",
     figures_outcome_w_beta},
    {"acquisition", "t_icl over the (K, N) plane with contours, up to the threshold K*", "t_icl",
     "D = {task.D}, law {memory.law}, A = {memory.A}, ν = {memory.nu}", figures_acquisition},
    {"phaseplane", "the (w, beta) plane before, during and after memorization: nullclines, separatrix, basin, runs",
     "w", "N = {task.N}, D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}", figures_phaseplane},
    {"bifurcation", "fixed points w and beta against decay and against memorization, with their folds", "beta",
     "N = {task.N}, D = {task.D}; left c_1 = {memory.c1}; right λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}",
     figures_bifurcation},
    {"run", "theory over one simulated run: w, beta, losses and accuracies in time", "w",
     "N = {task.N}, D = {task.D}, K = {task.K}; SGD: learning rate {train.lr}, batch {train.batch}, H = {sim.hidden}, "
     "seed {sim.seed}",
     figures_run},
    {"band", "w, beta and accuracy of many simulated runs as a band, with theory through it", "w",
     "N = {task.N}, D = {task.D}, K = {task.K}; {ensemble.runs} seeds of SGD: learning rate {train.lr}, batch "
     "{train.batch}",
     figures_band},
    {"histogram", "t_icl of many simulated runs from random initial values, against theory's", "t_icl",
     "N = {task.N}, D = {task.D}, K = {task.K}; {ensemble.runs} starts: w = {init.w} ± {init.w_sd}, β = {init.beta} ± "
     "{init.beta_sd}; learning rate {train.lr}, batch {train.batch}",
     figures_histogram},
    {"memorization", "c1 of the MLP alone for several K, its collapse, I_K(inf) against K and its local exponent", "y",
     "D = {task.D}, H = {sim.hidden}, input scale {sim.input_scale}; table {memory.table}", figures_memorization},
    {"transience", "theory with both closures over one simulated run that loses ICL again; the two losses and (T10)",
     "w",
     "N = {task.N}, K = {task.K}, D = {task.D}, decay λ_w = {train.lambda_w}, λ_β = {train.lambda_beta}; SGD: learning "
     "rate {train.lr}, H = {sim.hidden}, seed {sim.seed}",
     figures_transience},
    {"lifetime", "when ICL is acquired and when it is lost again, against decay: kept, transient, never", "t_icl",
     "N = {task.N}, K = {task.K}, D = {task.D}, λ_w = λ_β = λ, t_{max} = {train.t_max}; table {memory.table}",
     figures_lifetime},
    {"closure", "how much faster the MLP learns under attention's logit than the plain clock says, as measured",
     "response", "D = {task.D}, H = {sim.hidden}, input scale {sim.input_scale}; table {memory.table}",
     figures_closure},
    {"thresholds", "K* against N with the measured table by three levels of theory, and its local exponent beside 1/nu",
     "K_star",
     "D = {task.D}, law {memory.law}, start w = {init.w}, β = {init.beta}; reduced and mean field at t_{max} = "
     "{train.t_max}",
     figures_thresholds},
    {"times", "t_icl of many simulated runs from random starts against N: linear, with a long tail; theory's beside",
     "t_icl",
     "K = {task.K}, D = {task.D}; {ensemble.runs} starts each: w = {init.w} ± {init.w_sd}, β = {init.beta} ± "
     "{init.beta_sd}; "
     "learning rate {train.lr}, batch {train.batch}",
     figures_times},
    {"diversity", "accuracies at t_max against K, seed by seed, with theory: memorization below K*, ICL above",
     "acc_icl",
     "N = {task.N}, D = {task.D}, t_{max} = {train.t_max}; SGD: learning rate {train.lr}, batch {train.batch}, H = "
     "{sim.hidden}, "
     "{ensemble.runs} seeds each; table {memory.table}",
     figures_diversity},
    {"transformer_run", "one run of a one-layer transformer, with theory from its measured start", "w",
     "N = {task.N}, D = {task.D}, K = {task.K}; SGD: learning rate {train.lr}, batch {train.batch}, H = {sim.hidden}, "
     "seed {sim.seed}; table {memory.table}",
     figures_run},
    {"transformer_transience", "a one-layer transformer that acquires ICL and loses it again, with theory", "w",
     "N = {task.N}, D = {task.D}, K = {task.K}, decay of attention {train.lambda_attention}, of w and β "
     "{train.lambda_w}; "
     "learning rate {train.lr}, batch {train.batch}, H = {sim.hidden}, seed {sim.seed}",
     figures_run},
    {"transformer_times", "t_icl of many one-layer transformers against N, with theory from their measured starts",
     "t_icl",
     "K = {task.K}, D = {task.D}, H = {sim.hidden}; {ensemble.runs} seeds each; learning rate {train.lr}, batch "
     "{train.batch}",
     figures_times},
    {"transformer_diversity", "accuracies of one-layer transformers at t_max against K, seed by seed, with theory",
     "acc_icl",
     "N = {task.N}, D = {task.D}, t_{max} = {train.t_max}; SGD: learning rate {train.lr}, batch {train.batch}, H = "
     "{sim.hidden}, "
     "{ensemble.runs} seeds each; table {memory.table}",
     figures_diversity},
};

size_t figures_count(void) {
    return sizeof figures / sizeof *figures;
}

const struct figure *figures_row(size_t index) {
    return &figures[index];
}

enum icl_status figures_find(const char *name, const struct figure **figure, struct icl_err *err) {
    char names[1024] = "";
    for (size_t i = 0; i < figures_count(); i++) {
        if (strcmp(figures[i].name, name) == 0) {
            *figure = &figures[i];
            return ICL_OK;
        }
        strcat(strcat(names, i > 0 ? ", " : ""), figures[i].name);
    }
    return ICL_ERR(err, ICL_EUSAGE, "no figure \"%.64s\"; there are %s", name, names);
}
