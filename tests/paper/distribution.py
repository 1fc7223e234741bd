# SPDX-License-Identifier: GPL-3.0-or-later
"""
Sections 4.3 to 4.5, on the two locks: durations ordered at low and high contention, what the mean as
baseline would make of them, and score and minimum under sampling.
"""
from record import Failed, Recording
from stats import mean
from sweeps import SWEEPS, lock as lock_command, score_against_mean

LOCK = SWEEPS[0]
LOW, HIGH = 100000, 0  # ns, the paper's
CURVE_POINTS = 100
MIN_NOISE = 0.05  # the fastest of some ten thousand calls differs by less from run to run


def ordered(lock, delay, ms):
    recording = Recording([lock["pattern"]], lock["command"](delay, ms))
    block = recording.block(lock["block"])
    durations = sorted(recording.durations(lock["block"]))
    last = len(durations) - 1
    center = mean(durations)
    return {"delay": delay, "calls": len(durations), "min": durations[0], "mean": center,
            "p50": durations[last // 2],
            "curve": [durations[last * i // CURVE_POINTS] for i in range(CURVE_POINTS + 1)],
            "slow_of_fastest": mean([d > 2 * durations[0] for d in durations]),
            "slow_of_mean": mean([d > center for d in durations]),
            "sci": block["sci"], "sci_mean": score_against_mean(durations, block)}


def contention(ms, say):
    """A row for each lock: low and high contention, and what the paper says about them."""
    rows = []
    for lock in SWEEPS[:2]:
        say("ordered durations: " + lock["name"])
        low, high = ordered(lock, LOW, ms), ordered(lock, HIGH, ms)
        gap = abs(high["min"] - low["min"]) / low["min"]
        rows.append({"name": lock["name"], "low": low, "high": high, "gap": gap, "passes": gap <= 0.1,
                     "fair": lock["fair"],
                     "most_slowed": high["slow_of_fastest"] > 0.5 and high["sci_mean"] < high["sci"]})
    return rows


def sampling(periods, runs, ms, say):
    """Score and minimum against the sampling period; calls are short, for there to be enough of them."""
    command = lock_command(0, 16000)(1000, ms)
    rows = []
    for period in periods:
        got = []
        for number in range(runs):
            say("sampling: period %d, run %d of %d" % (period, number + 1, runs))
            recording = Recording([LOCK["pattern"]], command, ["-c", str(period)])
            block = recording.block(LOCK["block"])
            # Too few calls for an estimate that can be true: it has no score.
            if block and block["sci"] is not None:
                got.append(block)
        if got:
            scores = [b["sci"] for b in got]
            rows.append({"period": period, "runs": "%d of %d" % (len(got), runs),
                         "often": 2 * len(got) >= runs, "low": min(scores),
                         "sci": mean(scores), "high": max(scores),
                         "min": mean([b["min_ns"] for b in got]),
                         "calls": round(mean([b["timed_calls"] for b in got]))})
    if not rows:
        raise Failed("%s was never scored" % LOCK["block"])
    first, last = rows[0], rows[-1]
    rarest = [row for row in rows if row["often"]] or rows  # two scores say nothing of their spread
    return {"rows": rows,
            "spreads": first["high"] - first["low"] <= rarest[-1]["high"] - rarest[-1]["low"],
            "min_rises": first["min"] * (1 - MIN_NOISE) <= last["min"]}
