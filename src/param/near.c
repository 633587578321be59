#include "near.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

bool icl_near_match(const char *written, const char *meant) {
    const size_t n = strlen(written), m = strlen(meant);
    size_t row[LONGEST + 1];

    if (n == 0 || n > LONGEST || m > LONGEST) return false;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const bool same = tolower((unsigned char)written[i - 1]) == tolower((unsigned char)meant[j - 1]);
            const size_t above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return row[m] < m && row[m] <= (m >= 6 ? 2u : 1u);
}
