#!/usr/bin/env python3
"""Compares the quick start's runs with SciPy, from the rows of quickstart_steps.csv alone.

usage: python3 reference.py > quickstart_expected.csv     (needs numpy and scipy)

The unit is the run; its figure is seconds per real graph in steady state: over the steps that no rank flagged as
warm-up, capture, checkpoint or evaluation, the slowest rank's time over the graphs of all ranks. Everything is on
logarithms; a is "dynamic", b is "static-multiple".
"""
import csv
import os
import sys

import numpy as np
from scipy import stats
from scipy.special import gammaln

NOT_STEADY = 1 | 2 | 16 | 32
RANKS = 2


def seconds_per_graph(rows):
    steps = {}
    for row in rows:
        steps.setdefault(int(row["step"]), []).append(row)
    seconds = graphs = 0
    for ranks in steps.values():
        if len(ranks) != RANKS or any(int(row["flags"]) & NOT_STEADY for row in ranks):
            continue
        seconds += max(int(row["total_ns"]) for row in ranks) / 1e9
        graphs += sum(int(row["real_graphs"]) for row in ranks)
    return seconds / graphs


def hedges_g(a, b):
    freedom = len(a) + len(b) - 2
    deviation = np.sqrt(((len(a) - 1) * np.var(a, ddof=1) + (len(b) - 1) * np.var(b, ddof=1)) / freedom)
    correction = np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) / np.sqrt(freedom / 2)
    return (a.mean() - b.mean()) / deviation * correction


def main():
    runs = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quickstart_steps.csv")
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault((row["policy"], row["run"]), []).append(row)
    logs = {}
    for (policy, _), rows in runs.items():
        logs.setdefault(policy, []).append(np.log(seconds_per_graph(rows)))
    a, b = np.array(logs["dynamic"]), np.array(logs["static-multiple"])

    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["test", "quantity", "value"])
    welch_p = stats.ttest_ind(a, b, equal_var=False).pvalue
    for test in ("welch", "student"):
        result = stats.ttest_ind(a, b, equal_var=test == "student")
        interval = result.confidence_interval(0.95)
        values = {
            "ratio": np.exp(a.mean() - b.mean()),
            "ci95_low": np.exp(interval.low),
            "ci95_high": np.exp(interval.high),
            "welch_p": welch_p,
            # One pair: Holm's factor is 1.
            "holm_p": min(1.0, 1 * result.pvalue),
            "effect": hedges_g(a, b),
        }
        if test == "student":
            values["student_p"] = result.pvalue
        for quantity, value in values.items():
            out.writerow([test, quantity, repr(float(value))])


main()
