/* err.h -- one way for every function to fail.
 *
 * A function that can fail returns enum icl_status and fills the struct icl_err it was handed. The caller owns
 * that struct; a NULL is legal where the text is not wanted. The library never exits, aborts or prints.
 *
 * Threads  no shared state.
 */
#ifndef ICLKIN_ERR_H
#define ICLKIN_ERR_H

enum icl_status {
    ICL_OK = 0,
    ICL_EUSAGE,   /* a bad parameter, option or parameter file: exit code 2 */
    ICL_ERANGE,   /* an argument outside the function's domain */
    ICL_ENOMEM,   /* an allocation failed */
    ICL_EIO,      /* a file could not be read or written */
    ICL_ENUMERIC, /* an integration, quadrature or iteration did not converge */
    ICL_ENOROOT,  /* no sign change in the range searched */
    ICL_ESTOPPED, /* a signal asked for the end: exit code 128 + signal */
    ICL_STATUS_COUNT
};

enum { ICL_ERR_TEXT = 1024 };

struct icl_err {
    enum icl_status code;
    char text[ICL_ERR_TEXT]; /* what, the value, the rule, where it came from; no newline */
};

#define ICL_MUST_CHECK __attribute__((warn_unused_result))

/* Fills err (when not NULL) and returns code, so that `return ICL_ERR(...)` reads as one statement. */
enum icl_status icl_err_set(struct icl_err *err, enum icl_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the text of err; used where a module is crossed. Returns err's code. */
enum icl_status icl_err_context(struct icl_err *err, enum icl_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The name of a status ("usage", "range", ...). */
const char *icl_err_name(enum icl_status code);

#define ICL_ERR(err, code, ...) icl_err_set((err), (code), __VA_ARGS__)
#define ICL_TRY(call)                                                                                                  \
    do {                                                                                                               \
        const enum icl_status icl_try_status_ = (call);                                                                \
        if (icl_try_status_ != ICL_OK) return icl_try_status_;                                                         \
    } while (0)

#endif
