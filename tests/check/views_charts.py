# SPDX-License-Identifier: GPL-3.0-or-later
"""What the HTML page only draws, held against the JSON: curves, histograms, bars over time, threads.

views_charts.py ISPOT FILE [report's options...]: as views.py.
"""
import html, json, math, re

from cells import finish, near, reads, same, wrong
from views import report

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 56, 8, 8, 24, 190  # of report/html/chart.c
TALL, SLICES, POINTS = 44, 64, 160  # of report/html/sections.c, analysis/result/slices.h, report/html/html.h


def plain(piece):
    return html.unescape(re.sub(r"<[^>]*>", "", piece)).strip()


def scale(block):
    low = math.log(block["min_ns"] or 1)
    high = math.log(block["max_ns"] if block["max_ns"] > 1 else 2)
    return low, max(high, low + 0.1)


def check_curve(name, block, figure):
    """The curve goes through the percentiles of JSON."""
    low, high = scale(block)
    points = re.search(r'points="([^"]*)"', figure)[1].split()
    same(name, "points", POINTS + 1, len(points))
    for q, key in ((0, "min_ns"), (0.5, "p50_ns"), (0.9, "p90_ns"), (1, "max_ns")):
        part = (math.log(max(block[key], 1)) - low) / (high - low)
        y = TOP + (1 - min(max(part, 0), 1)) * (HEIGHT - TOP - BOTTOM)
        near(name, "curve at " + key, y, float(points[round(q * POINTS)].split(",")[1]), 0.06)


def check_histogram(name, block, figure):
    """Its bars hold every call; they stand between the fastest and the slowest."""
    x, y, least, most, tallest = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
    if (x, y) != ("duration", "calls"):
        print(f"{name}: the histogram's axes are {x} and {y}")
    reads(name, "histogram's min_ns", block["min_ns"], least)
    reads(name, "histogram's max_ns", block["max_ns"], most)
    m = re.fullmatch(r"([\d.]+)([kMG]?)", tallest)
    most = float(m[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[m[2]]
    calls = sum(math.expm1(float(tall) / (HEIGHT - TOP - BOTTOM) * math.log1p(most))
                for tall in re.findall(r'<rect class="[fms]"[^>]* height="([\d.]+)"', figure))
    # calls inside others of their function have no duration of their own
    near(name, "calls in the histogram", block["timed_calls"], calls, 0.03 * block["timed_calls"] + 0.5)


def check_time(whole, by_name, section):
    """The bars' area is the excess of the calls that ended."""
    m = re.search(r"In threads, by slices of ([\d.]+)(ns|us|ms|s)", section)
    slice_ns = float(m[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[m[2]]
    for row in re.findall(r"<tr>(.*?)</tr>", section, re.S):
        most = re.search(r'<td class="num">([\d.]+)</td>', row)
        block = by_name.get(plain(row.split("</th>")[0]))
        if not most or not block or block["estimated_calls"] is not None:
            continue
        bars = [float(tall) / TALL for tall in re.findall(r'class="area"[^>]* height="([\d.]+)"', row)]
        missing = 0.3 / TALL * (SLICES - len(bars)) + 0.06 / TALL * len(bars)
        near("over time " + block["name"], "excess_ns", block["excess_ns"] - block["open_ns"],
             sum(bars) * float(most[1]) * slice_ns,  # both are rounded
             (missing * float(most[1]) + 0.0051 * sum(bars)) * slice_ns + 0.06 * block["excess_ns"] + 2)


def check_threads(whole, by_name, section):
    """Each thread's shares of its time add up to the blocks' own excess."""
    columns = [by_name.get(plain(h)) for h in re.findall(r'<th scope="col" class="name head">(.*?)</th>', section)]
    threads = {t["tid"]: t for t in whole["threads"]}
    sums, observed = [0.0] * len(columns), 0
    for head, body in re.findall(r'<tr><th scope="row" class="name">(.*?)</th>(.*?)</tr>', section, re.S):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", body)
        t = threads[int(re.search(r'"quiet">(\d+)<', head)[1])]
        reads("threads", "observed_ns", t["observed_ns"], cells[0])
        observed += t["observed_ns"]
        for i, cell in enumerate(cells[1:]):
            sums[i] += 0 if cell == "–" else float(cell) * t["observed_ns"]
    for block, ns in zip(columns, sums):
        if block and block["estimated_calls"] is None and len(threads) <= 64:
            near("threads", block["name"], block["self_excess_ns"] - block["open_ns"], ns, 0.0051 * observed + 2)


whole = json.loads(report("--json"))
page = report("--html", "-")
details = re.findall(r'<details id="block\d+".*?</details>', page, re.S)
names = [plain(re.search(r"<summary>(.*?) <span", d, re.S)[1]) for d in details]
by_name = {n: b for n, b in zip(names, whole["blocks"]) if names.count(n) == 1}
for name, block, piece in zip(names, whole["blocks"], details):
    figures = re.findall(r"<figure>.*?</figure>", piece, re.S)
    if len(figures) >= 2 and "polyline" in figures[0]:
        check_curve(name, block, figures[0])
        check_histogram(name, block, figures[1])
for key, check in (("time", check_time), ("threads", check_threads)):
    section = re.search(rf'<section aria-labelledby="{key}">.*?</section>', page, re.S)
    if section:
        check(whole, by_name, section[0])
    elif any(b["kind"] == "function" and not b["key"] and b["verdict"] == "interference" for b in whole["blocks"]):
        wrong.append(f"the page has no section {key}, and a function loses time")
finish()
