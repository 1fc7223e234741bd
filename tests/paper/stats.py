# SPDX-License-Identifier: GPL-3.0-or-later
"""The few statistics that the page needs."""
import math


def mean(values):
    return sum(values) / len(values)


def pearson(a, b):
    """Pearson's rho; None where one of the two does not vary."""
    mean_a, mean_b = mean(a), mean(b)
    var_a = sum((x - mean_a) ** 2 for x in a)
    var_b = sum((x - mean_b) ** 2 for x in b)
    if not var_a or not var_b:
        return None
    return sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)) / math.sqrt(var_a * var_b)


def middle(values):
    """Without the first and the last quarter."""
    quarter = len(values) // 4
    return values[quarter:len(values) - quarter]
