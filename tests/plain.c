#include "plain.h"

#include <math.h>

size_t plain_count(size_t D, size_t H) {
    return H * D + H * H + 3 * H + 1;
}

size_t plain_theta(const struct icl_net *net, double *theta) {
    size_t n = 0;
    for (int t = 0; t < ICL_NET_TENSORS; t++) {
        size_t rows, columns;
        icl_net_shape(net, t, &rows, &columns);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) theta[n++] = (double)*icl_net_value(net, t, i, j);
        }
    }
    return n;
}

double plain_phi(size_t D, size_t H, const double *theta, const double *x) {
    const double *W1 = theta, *b1 = W1 + H * D, *W2 = b1 + H, *b2 = W2 + H * H, *W3 = b2 + H, *b3 = W3 + H;
    double h1[PLAIN_MOST], phi = *b3;
    for (size_t i = 0; i < H; i++) {
        h1[i] = b1[i];
        for (size_t j = 0; j < D; j++) h1[i] += W1[i * D + j] * x[j];
        h1[i] = h1[i] > 0 ? h1[i] : 0;
    }
    for (size_t i = 0; i < H; i++) {
        double h2 = b2[i];
        for (size_t j = 0; j < H; j++) h2 += W2[i * H + j] * h1[j];
        phi += W3[i] * (h2 > 0 ? h2 : 0);
    }
    return phi;
}

double plain_attention(size_t n, const float *score, const float *label, double beta) {
    double z = 0, zl = 0, most = -INFINITY;
    for (size_t j = 0; j < n; j++) most = fmax(most, beta * (double)score[j]);
    for (size_t j = 0; j < n; j++) {
        const double e = exp(beta * (double)score[j] - most);
        z += e;
        zl += e * (double)label[j];
    }
    return zl / z;
}
