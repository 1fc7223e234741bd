# SPDX-License-Identifier: GPL-3.0-or-later
# What scipy and numpy say of the numbers in a file, one number a line, for tests that compare.
#	reference.py linkage FILE	n, threads, values by row -> r of each merge, then clusters at r 0.9
#	reference.py select FILE	columns, n, level, y, columns -> terms, r2, then column, p, beta each
import sys

try:
    import numpy as np
    from scipy import stats
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist
except ImportError as e:
    print(f"# {e}; make deps installs python3-scipy", file=sys.stderr)
    sys.exit(77)

np.set_printoptions(precision=17)
values = np.loadtxt(sys.argv[2])


def put(numbers):
    for x in numbers:
        print(f"{x:.17g}")


def do_linkage():
    n, threads = int(values[0]), int(values[1])
    tree = linkage(pdist(values[2:].reshape(n, threads), "correlation"), "average")
    put(1 - tree[:, 2])
    put(fcluster(tree, 0.1, "distance"))


def unit(x):
    return (x - x.mean()) / x.std()


def rest_of(y, columns):
    """Residual sum of squares and coefficients of y on the columns and a constant."""
    a = np.column_stack([np.ones(len(y))] + columns)
    b = np.linalg.lstsq(a, y, rcond=None)[0]
    return np.sum((y - a @ b) ** 2), b[1:]


def do_select():
    m, n, level = int(values[0]), int(values[1]), values[2]
    y, x = unit(values[3:3 + n]), [unit(c) for c in values[3 + n:].reshape(m, n)]
    chosen, ps, rest = [], [], np.sum(y * y)
    while len(chosen) + 2 < n:
        others = [j for j in range(m) if j not in chosen]
        if not others:
            break
        rests = [rest_of(y, [x[i] for i in chosen + [j]])[0] for j in others]
        best, degrees = int(np.argmin(rests)), n - len(chosen) - 2
        p = stats.f.sf((rest - rests[best]) / (rests[best] / degrees), 1, degrees)
        if p > level:
            break
        chosen.append(others[best])
        ps.append(p)
        rest = rests[best]
    betas = rest_of(y, [x[i] for i in chosen])[1] if chosen else []
    put([len(chosen), 1 - rest / n])
    for row in zip(chosen, ps, betas):
        put(row)


{"linkage": do_linkage, "select": do_select}[sys.argv[1]]()
