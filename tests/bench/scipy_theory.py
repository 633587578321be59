#!/usr/bin/env python3
"""The same two solves as bench_theory.c in NumPy and SciPy, as a reader of the theory would write them.

usage: scipy_theory.py N D K A nu p rtol beta_icl nodes_q nodes_g

Prints one line a solve: name, seconds (best mean of ten rounds of CPU time), t_icl, calls of the right-hand side, method.
reduced:   (T5) with the power law (M2), to the event beta = beta_icl.
meanfield: (T3) with the finite-D average (T4), Gauss rules in q and g, all n_c that matter; vectorised.
"""
import sys
import time

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import roots_genlaguerre, roots_hermitenorm
from scipy.stats import binom

N, D, K, A, nu, p, rtol, beta_icl = (float(x) for x in sys.argv[1:9])
nodes_q, nodes_g = (int(x) for x in sys.argv[9:11])
scale = (p - 1) * 2 * A * K**nu


def c1_of(s):
    return 0.5 * (1 + s / scale) ** -p


def reduced(t, y):
    w, beta = y
    c1 = c1_of(t)
    rate, e = c1 / N, np.exp(beta)
    return [rate * (e - (1 - c1) * w), rate * w * e]


def acquired(t, y):
    return y[1] - beta_icl


acquired.terminal = True

q, wq = roots_genlaguerre(nodes_q, D / 2 - 1)
q, wq = q * 2 / D, wq / wq.sum()
g, wg = roots_hermitenorm(nodes_g)
wg = wg / wg.sum()
n = np.arange(1, 9.0)
wn = binom.pmf(n - 1, N - 1, 1 / K)
n, wn = n[wn > 1e-12], wn[wn > 1e-12]
n, q, g = n[:, None, None], q[None, :, None], g[None, None, :]
weight = wn[:, None, None] * wq[None, :, None] * wg[None, None, :]
m = N - n


def meanfield(t, y):
    w, beta, s = y
    c1 = c1_of(s)
    x = beta * beta * q / D
    r = np.exp(beta * q - x / 2)
    slope = q - beta * q / D
    sd = np.sqrt(m) * np.exp(x / 2)
    den = n * r + m
    a = (n * r - m / (K - 1) + sd * g) / den
    b = (n * r * slope * (1 - a) + sd * beta * q / D * g) / den
    sigma = weight / (1 + (1 / c1 - 1) * np.exp(w * a))
    return [np.sum(sigma * a), w * np.sum(sigma * b), np.sum(sigma) / c1]


def clocked(solve):
    best = np.inf
    for _ in range(10):
        count, start = 0, time.process_time()
        while count < 1 or time.process_time() - start < 0.03:
            result = solve()
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return best, result


for name, f, y0 in (("reduced", reduced, [0, 0]), ("meanfield", meanfield, [0, 0, 0])):
    for method in ("RK45", "DOP853", "LSODA"):
        seconds, result = clocked(
            lambda: solve_ivp(f, (0, 1000), y0, method=method, rtol=rtol, atol=rtol * 1e-3, events=acquired)
        )
        print(name, seconds, result.t_events[0][0], result.nfev, method)
