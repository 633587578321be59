/* test_ini.c -- the three forms of a parameter file: what is taken, what is refused, and with which words. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "folder.h"
#include "iclkin/params.h"

#define SEEDS "tests/fuzz/fuzz_params"

static enum icl_status parse(const char *text, struct icl_params *params, struct icl_err *err) {
    icl_params_default(params);
    return icl_params_parse(params, "x.ini", text, strlen(text), err);
}

static void bad_files(void **state) {
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[train]\nlr = -0.1\n", "x.ini:2: [train] lr = -0.1: must be in (0, 1e+06]"},
        {"[task]\n\nfoo = 1\n", "x.ini:3: [task] foo = 1: no such parameter"},
        {"[task]\nlr = 1\n", "x.ini:2: [task] lr = 1: no such parameter; there is train.lr"},
        {"[observe]\nicl_treshold = 1\n", "no such parameter; did you mean observe.icl_threshold?"},
        {"[task]\nk = 40\n", "no such parameter; did you mean task.K?"},
        {"[tasks]\n", "x.ini:1: [tasks]: no such section; did you mean task?"},
        {"[a_section_of_a_name_longer_than_any_that_inih_keeps_whole]\nK = 4\n", "no such section"},
        {"lr = 0.1\n", "x.ini:1: lr = 0.1: stands before the first [section]"},
        {"[train]\nlr\n", "x.ini:2: lr: expected key = value"},
        {"[train]\nlr : 0.1\n", "x.ini:2: lr : 0.1: expected key = value"},
        {"[train]\nlr: 0.1 = 2\n", "x.ini:2: lr: 0.1 = 2: expected key = value"},
        {"[train]\n= 0.1\n", "x.ini:2: = 0.1: expected key = value"},
        {"[train]\nlr = ; 0.1\n", "x.ini:2: [train] lr = : no value given"},
        {"[train]\nl r = 0.1\n", "x.ini:2: l r = 0.1: expected key = value"},
        {"[train\nlr = 0.1\n", "x.ini:1: [train: a section is written [name]"},
        {"[train] lr = 0.1\n", "x.ini:1: [train] lr = 0.1: a section is written [name]"},
        {"[]\n", "x.ini:1: []: a section is written [name]"},
        {"[ train ]\n", "x.ini:1: [ train ]: a section is written [name]"},
        {"[task]\nN = 2\nK = 4\n[init]\n[task]\nN = 2\n", "x.ini:6: [task] N = 2: given twice"},
        {"[train]\nlambda = 1\nlambda = 1\n", "x.ini:3: [train] lambda = 1: given twice"},
        {"[train]\nlambda = 1\nlambda_w = 1\n", "x.ini:3: [train] lambda_w = 1: given with train.lambda"},
        {"[train]\nlambda = 1\nlambda_beta = 1\n", "x.ini:3: [train] lambda_beta = 1: given with train.lambda"},
        {"[train]\nlambda_w = 1\nlambda = 1\n", "x.ini:3: [train] lambda = 1: given with train.lambda_w"},
        {"[train]\nlambda_beta = 1\nlambda = 1\n", "x.ini:3: [train] lambda = 1: given with train.lambda_beta"},
        {"[train]\nlambda = -1\n", "x.ini:2: [train] lambda = -1: must be in [0, 1e+06]"},
        /* inih would continue the value of N here, and say nothing */
        {"[task]\nN = 100\n  200\n", "x.ini:3: 200: expected key = value"},
        {"[task]\nN = 1\x01\n", "x.ini:2: binary junk (byte 0x01): not a text file"},
        {"[task]\rN = 1\r", "x.ini:1: binary junk (byte 0x0d)"},
        {"\x7f\x45LF\n", "x.ini:1: binary junk (byte 0x7f)"},
        {"# iclkin = 1\n# task.N = 7x\n", "x.ini:2: [task] N = 7x: not a number"},
        {"# iclkin = 1\n# task.foo = 7\n", "x.ini:2: [task] foo = 7: no such parameter"},
        {"# iclkin = 1\n# task.N = 7\n# task.N = 7\n", "x.ini:3: [task] N = 7: given twice"},
        {"# iclkin = 1\n# a = \x02\n", "x.ini:2: binary junk (byte 0x02)"},
        {"{\n}\n", "x.ini:2: no line with \"params\": {, as predict --json writes it"},
        {"{\"params\": {\n\"task.N\": 50\n}}\n", "no line with \"params\": {"},
        {"{\n\"params\": {\n\"task.N\": 50,\n", "x.ini:3: the file ends before the end of \"params\""},
        {"{\n\"params\": {\n\"task.N\": 50,\n}\n}\n", "x.ini:4: }: a comma before the end of \"params\""},
        {"{\n\"params\": {\n\"task.N\": 50\n\"task.K\": 50\n}\n}\n", "x.ini:4: \"task.K\": 50: expected a comma"},
        {"{\n\"params\": {\n\"task.N\": inf\n}\n}\n", "x.ini:3: \"task.N\": inf: expected \"section.key\": value"},
        {"{\n\"params\": {\n\"task.N\": \"50\n}\n}\n", "x.ini:3: \"task.N\": \"50: expected \"section.key\": value"},
        {"{\n\"params\": {\n\"task.N\": 50 60\n}\n}\n", "x.ini:3: \"task.N\": 50 60: expected"},
        {"{\n\"params\": {\n\"task.N\": \"50\" 6\n}\n}\n", "x.ini:3: \"task.N\": \"50\" 6: expected"},
        {"{\n\"params\": {\n\"N\": 50\n}\n}\n", "x.ini:3: \"N\": 50: expected \"section.key\": value"},
        {"{\n\"params\": {\ntask.N: 50\n}\n}\n", "x.ini:3: task.N: 50: expected \"section.key\": value"},
        {"{\n\"params\": {\n\"memory.table\": \"a\\u0041\"\n}\n}\n",
         "x.ini:3: \"memory.table\": \"a\\u0041\": expected"},
        {"{\n\"params\": {\n\"task.N\": \"inf\"\n}\n}\n", "x.ini:3: [task] N = inf: must be in [2, 1e+07]"},
        {"{\n\"params\": {\n\"task.M\": 5\n}\n}\n", "x.ini:3: [task] M = 5: no such parameter"},
    };
    struct icl_params params;
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fails(parse(bad[i].text, &params, &err), ICL_EUSAGE, &err, bad[i].message);
    icl_params_default(&params);
    check_fails(icl_params_parse(&params, "x.ini", "[task]\nN = 1\0\n", 14, &err), ICL_EUSAGE, &err,
                "x.ini:2: binary junk (byte 0x00)");
    check_fails(icl_params_load(&params, folder_path("no.ini"), &err), ICL_EIO, &err, "no.ini: No such file");
    assert_int_equal(parse("[task]\nN = x\n", &params, NULL), ICL_EUSAGE);
}

/* Lines too long for inih are refused, not cut: what would be left of "N = 000...100" is another number. */
static void long_lines(void **state) {
    struct icl_params params;
    struct icl_err err;
    char text[2000];
    int taken = 0;

    (void)state;
    for (int length = 150; length < 600; length++) {
        enum icl_status status;

        snprintf(text, sizeof text, "[task]\nN = %0*d\n", length, 100);
        status = parse(text, &params, &err);
        if (status == ICL_OK && ++taken)
            assert_int_equal(params.task.N, 100);
        else
            check_fails(status, ICL_EUSAGE, &err, "...: the line is too long");
        /* A comment may have any length. */
        snprintf(text, sizeof text, "[task]\nN = 40 ; %0*d\n# %0*d\n", length, 5, length, 5);
        check_ok(parse(text, &params, &err), &err);
        assert_int_equal(params.task.N, 40);
    }
    assert_true(taken > 0 && taken < 450);
}

static void good_files(void **state) {
    struct icl_params params;
    struct icl_err err;

    (void)state;
    check_fails(parse("[task]\nN=1e2;c\n", &params, &err), ICL_EUSAGE, &err, "N = 1e2;c: not a number");
    check_ok(parse("\xef\xbb\xbf; c\r\n\r\n  [task] # c\r\n\tN=1e1 ; c\r\nK = inf\t#c\r\n# K = 4\r\nitems = unit",
                   &params, &err),
             &err);
    assert_true(params.task.N == 10 && isinf(params.task.K) && params.task.items == ICL_ITEMS_UNIT);
    check_fails(parse("", &params, &err), ICL_EUSAGE, &err, ":1: empty");
    check_ok(parse("; nothing yet", &params, &err), &err);
    check_ok(parse("[memory]\ntable = a b=c;d#e [f]\n", &params, &err), &err);
    assert_string_equal(params.memory.table, "a b=c;d#e [f]");
    check_ok(parse("[train]\nlambda = 2e-3\n", &params, &err), &err);
    assert_true(params.train.lambda_w == 2e-3 && params.train.lambda_beta == 2e-3 && params.train.lambda_mlp == 0);
    check_ok(parse("# iclkin = 0.1\n# command = x\n# unit.t = t\n# axis.x = task.N\n#no key\n# task.N = 7\n"
                   "# memory.table = a # b = c\nt\n# task.N = 8\n1\n",
                   &params, &err),
             &err);
    assert_int_equal(params.task.N, 7);
    assert_string_equal(params.memory.table, "a # b = c");
    check_ok(
        parse("\n {\n \"t_icl\": {\"asymptotic\": 1},\n \"params\": {\n  \"task.K\": \"inf\",\n  \"task.N\": 5e1,\n"
              "  \"memory.c2\": \"auto\",\n  \"memory.table\": \"a\\\\b\\\"\\/,\"\n },\n \"x\": 1\n}\n",
              &params, &err),
        &err);
    assert_true(isinf(params.task.K) && params.task.N == 50 && isnan(params.memory.c2));
    assert_string_equal(params.memory.table, "a\\b\"/,");
}

/* The fuzzer's seeds: each good_* is taken, each bad_* refused with its name and a line. */
static void seeds(void **state) {
    size_t taken = 0, refused = 0;
    struct dirent *entry;
    DIR *dir = opendir(SEEDS);

    (void)state;
    assert_non_null(dir); /* tests run in the top folder */
    while ((entry = readdir(dir)) != NULL) {
        char path[512];
        struct icl_params params;
        struct icl_err err = {ICL_OK, ""};

        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, SEEDS "/%s", entry->d_name);
        icl_params_default(&params);
        if (strncmp(entry->d_name, "good_", 5) == 0 || strncmp(entry->d_name, "good.", 5) == 0) {
            check_ok(icl_params_load(&params, path, &err), &err);
            taken++;
        } else {
            check_fails(icl_params_load(&params, path, &err), ICL_EUSAGE, &err, path);
            assert_true(atoi(err.text + strlen(path) + 1) > 0);
            refused++;
        }
    }
    closedir(dir);
    assert_true(taken >= 4 && refused >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(good_files),
        cmocka_unit_test(seeds),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
