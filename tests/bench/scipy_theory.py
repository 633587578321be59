#!/usr/bin/env python3
"""The same two solves as bench_theory.c in NumPy and SciPy, as a reader of the theory would write them.

usage: scipy_theory.py N D K A nu p rtol beta_icl nodes_q nodes_g [TABLE beta_icl]

Prints one line a solve: name, seconds (best mean of ten rounds of CPU time), t_icl, calls of the right-hand side, method.
reduced:   (T5) with the power law (M2), to the event beta = beta_icl.
meanfield: (T3) with the finite-D average (T4), Gauss rules in q and g, all n_c that matter; vectorised.
measured:  the same with the classes of phi_+ of a memory table at K (which it must hold), cubic splines in its clock, the
plain closure (M3), 20 x 16 Gauss nodes.
"""
import sys
import time

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
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

n0 = np.arange(1, 9.0)
w0 = binom.pmf(n0 - 1, N - 1, 1 / K)
n0, w0 = n0[w0 > 1e-12], w0[w0 > 1e-12]


def rules(nodes_q, nodes_g):
    """n_c, q and g on axes of their own, and their weights."""
    q, wq = roots_genlaguerre(nodes_q, D / 2 - 1)
    q, wq = q * 2 / D, wq / wq.sum()
    g, wg = roots_hermitenorm(nodes_g)
    wg = wg / wg.sum()
    weight = w0[:, None, None] * wq[None, :, None] * wg[None, None, :]
    return n0[:, None, None], q[None, :, None], g[None, None, :], weight


def attention(beta, n, q, g):
    """a of (T4), and its slope in beta."""
    m, x = N - n, beta * beta * q / D
    r = np.exp(beta * q - x / 2)
    sd = np.sqrt(m) * np.exp(x / 2)
    den = n * r + m
    a = (n * r - m / (K - 1) + sd * g) / den
    return a, (n * r * (q - beta * q / D) * (1 - a) + sd * beta * q / D * g) / den


n, q, g, weight = rules(nodes_q, nodes_g)


def meanfield(t, y):
    w, beta, s = y
    c1 = c1_of(s)
    a, b = attention(beta, n, q, g)
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


solves = [("reduced", reduced, [0, 0]), ("meanfield", meanfield, [0, 0, 0])]

if len(sys.argv) > 12:
    lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[11]) if line[0] != "#"]
    share = next(line for line in open(sys.argv[11]) if line.startswith("# weight = "))
    share = np.array(share.split(" = ")[1].split(), dtype=float)
    rows = np.array([[float(x) for x in row] for row in lines[1:] if float(row[0]) == 0 and float(row[1]) == K])
    column = {name: i for i, name in enumerate(lines[0])}
    clock, first = rows[:, column["s"]], column["phi_1"]
    x_of = lambda s: np.log1p(20 * s / clock[-1])
    classes = CubicSpline(x_of(clock), rows[:, first : first + len(share)])
    fine = rules(20, 16)

    def measured(t, y):
        w, beta, s = y
        n, q, g, weight = fine
        phi = classes(x_of(s))
        a, b = attention(beta, n, q, g)
        sigma = weight[..., None] * share / (1 + np.exp(phi) * np.exp(w * a)[..., None])
        of_context = sigma.sum(axis=-1)
        c1 = np.sum(share / (1 + np.exp(phi)))
        return [np.sum(of_context * a), w * np.sum(of_context * b), np.sum(of_context) / c1]

    def acquired_measured(t, y):
        return y[1] - float(sys.argv[12])

    acquired_measured.terminal = True
    solves.append(("measured", measured, [0, 0, 0]))

for name, f, y0 in solves:
    event = acquired if name != "measured" else acquired_measured
    for method in ("RK45", "DOP853", "LSODA"):
        seconds, result = clocked(
            lambda: solve_ivp(f, (0, 1000), y0, method=method, rtol=rtol, atol=rtol * 1e-3, events=event)
        )
        print(name, seconds, result.t_events[0][0], result.nfev, method)
