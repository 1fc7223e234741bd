# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page says: the paper's figure beside ours, and whether the paper's claim came out."""
import svg


def rho(value):
    return "n/a" if value is None else "%.3f" % value


def medians(pairs):
    return "Medians of %d interleaved pairs of runs" % pairs if pairs > 1 else "One pair of runs"


def sweeps(page, rows, rounds):
    page.heading("Sections 4.1 and 4.2: completion time and SCI against delay (table 1, figures 3 to 6)")
    page.paragraph("A point is the median of %d runs, or twice as many where the machine moves it as much as "
                   "the delay does, taken in random order. The time is the program's own, by "
                   "its own clock; the score is ispot's. rho is Pearson's, between the two." % rounds)
    page.table(("benchmark", "points, paper", "points", "rho, paper", "rho, here", "middle half",
                "at least 0.95 and 0.8"),
               [(r["name"], r["paper_points"], len(r["delays"]), r["paper_rho"], rho(r["rho"]), rho(r["rho_middle"]),
                 r["rho_passes"]) for r in rows])
    for r in rows:
        page.figures("Figure %d: %s" % (r["figure"], r["name"]), [
            svg.plot(r["delays"], [("", [t / 1000 for t in r["times"]], "a")],
                     "delay, " + r["unit"], r["time"] + ", µs"),
            svg.plot(r["delays"], [("fastest as baseline", r["scis"], "a"),
                                   ("mean as baseline", r["sci_means"], "b")],
                     "delay, " + r["unit"], "SCI")])
        page.paragraph("%s: %s" % (r["name"], r["note"]))
        if r["slower"]:
            page.paragraph("%s: %d of %d runs are left out, in which even the fastest execution took over 5 %% longer "
                           "than in others of the same delay: the CPU was slower all the time, or no execution was "
                           "free, and the score shows neither. With them rho is %s."
                           % (r["name"], r["slower"], r["runs"], rho(r["rho_of_all"])))
        if r["lost"]:
            page.paragraph("%s: %d records were lost; ispot leaves their stretch out." % (r["name"], r["lost"]))
        page.claim("%s: rho is at least 0.95, and above 0.8 in the middle half" % r["name"], r["rho_passes"])
    fastest(page, rows)
    against_mean(page, rows)


def fastest(page, rows):
    page.heading("Section 4.3: the fastest execution at each delay")
    page.paragraph("The paper shows the POSIX lock at two delays (figure 7, below) and says the same of the others. "
                   "Here it is the fastest of all runs at a delay, and the middle one of the half of the delays with "
                   "more contention stands against that of the other half. By chance: what two halves of the runs "
                   "with equal contention are apart by, 99 times in 100.")
    page.table(("benchmark", "lowest ns", "highest ns", "more against less contention, %", "by chance, %"),
               [(r["name"], round(min(r["mins"])), round(max(r["mins"])), percent(r["gap"]), percent(r["chance"]))
                for r in rows])
    for r in rows:
        if r["gap"] is not None:
            fastest_claim(page, r)


def fastest_claim(page, r):
    """What chance makes of it hides what the contention does."""
    if r["gap"] > 0.1 and r["gap"] <= r["chance"]:
        page.paragraph("4.3: %s: not shown, and not refuted: runs of equal contention have fastest executions as far "
                       "apart (%.1f %%) as those of more and of less (%.1f %%)."
                       % (r["name"], 100 * r["chance"], 100 * r["gap"]))
        return
    page.claim("4.3: %s: the fastest execution takes the same time within 10 %% with more contention as with less "
               "(here %.1f %%)" % (r["name"], 100 * r["gap"]), r["gap"] <= 0.1)


def against_mean(page, rows):
    page.heading("The same with the mean as baseline")
    page.paragraph("Taken as it stands, the sum of all calls' differences from their mean is 0 at every point, and "
                   "nothing correlates with it. What can be tried is the sum over the calls above the mean:")
    page.table(("benchmark", "rho with the fastest", "rho with the mean", "middle half", "would pass"),
               [(r["name"], rho(r["rho"]), rho(r["rho_mean"]), rho(r["rho_mean_middle"]),
                 "yes" if r["rho_mean_passes"] else "no") for r in rows])
    page.claim("with the mean as baseline the four do not all pass", not all(r["rho_mean_passes"] for r in rows))


def contention(page, locks):
    page.heading("Sections 4.3 and 4.4: durations in order, low and high contention (figure 7)")
    page.table(("lock", "contention", "delay ns", "calls", "fastest ns", "p50 ns", "mean ns",
                "over twice the fastest", "over the mean", "SCI", "SCI, mean as baseline"),
               [(lock["name"], name, c["delay"], c["calls"], c["min"], c["p50"], round(c["mean"]),
                 c["slow_of_fastest"], c["slow_of_mean"], c["sci"], c["sci_mean"])
                for lock in locks for name, c in (("low", lock["low"]), ("high", lock["high"]))])
    # The slowest twentieth is left out of the plot: a few calls as long as a time slice.
    shown = slice(0, 96)
    page.figures("Figure 7: time to get the lock, calls in order (POSIX lock, spinlock)", [
        svg.plot(list(range(0, 96)), [
            ("high contention", [d / 1000 for d in lock["high"]["curve"][shown]], "b"),
            ("low contention", [d / 1000 for d in lock["low"]["curve"][shown]], "a")],
                 "% of the calls, by duration", "µs") for lock in locks])
    for lock in locks:
        high = lock["high"]
        page.claim("4.3: %s: the fastest call takes the same time within 10 %% whatever the contention "
                   "(here %.1f %%)" % (lock["name"], 100 * lock["gap"]), lock["passes"])
        slowed = "%s: %.0f %% take over twice the fastest (SCI %.2f, with the mean as baseline %.2f)" % (
            lock["name"], 100 * high["slow_of_fastest"], high["sci"], high["sci_mean"])
        if lock["fair"]:
            page.claim("4.4: under contention most calls are slowed, so the mean hides it: " + slowed,
                       lock["most_slowed"])
        else:
            page.paragraph("4.4: glibc's lock is unfair: its holder takes it again before the others wake, so "
                           "that few calls are slowed, and those long. " + slowed + ".")


def sampling(page, got):
    rows = got["rows"]
    page.heading("Section 4.5: score and minimum against the sampling period (figure 8)")
    page.table(("period (-c)", "runs with a score", "calls timed", "SCI, lowest", "mean", "highest", "minimum ns"),
               [(r["period"], r["runs"], r["calls"], r["low"], r["sci"], r["high"], round(r["min"]))
                for r in rows])
    xs = list(range(len(rows)))
    names = [str(r["period"]) for r in rows]
    page.figures("Figure 8", [
        svg.plot(xs, [("", [r["sci"] for r in rows], "a")], "period", "SCI: lowest, mean, highest",
                 [(r["low"], r["high"]) for r in rows], names),
        svg.plot(xs, [("", [r["min"] for r in rows], "b")], "period", "minimum, ns", None, names)])
    page.claim("4.5: the score spreads more with rare timestamps (paper: 0.63 to 0.87 at 512)", got["spreads"])
    page.claim("4.5: the minimum does not fall with the period", got["min_rises"])


def causes(page, rows):
    page.heading("More causes: each program's own truth beside the report")
    for row in rows:
        if "why" in row:
            page.paragraph("%s: %s." % (row["program"], row["why"]))
    rows = [row for row in rows if "why" not in row]
    page.table(("program", "block", "true SCI", "SCI", "agrees", "true cause", "cause", "verdict", "right"),
               [(r["program"], r["block"], r["true_sci"], r["sci"], r["sci_right"], r["true_cause"], r["cause"],
                 r["verdict"], r["cause_right"]) for r in rows])
    scored = [r for r in rows if r["sci_right"] is not None]
    known = [r for r in rows if r["true_cause"]]
    page.claim("the score is the program's own within max(0.03, 10 %%): %d of %d"
               % (sum(r["sci_right"] for r in scored), len(scored)), all(r["sci_right"] for r in scored))
    page.claim("the first cause, or the verdict, is the true one: %d of %d"
               % (sum(r["cause_right"] for r in known), len(known)), all(r["cause_right"] for r in known))


def overhead(page, rows, absent, rounds):
    page.heading("Section 5.4: what recording costs programs nobody here wrote (table 3)")
    page.paragraph("%s, untraced and traced, functions chosen by ispot; without ispot's own start and end. Servers are "
                   "recorded while their clients run."
                   " The paper has 8 %% on average and 31 %% at most, for coz it quotes 17 %% and 65 %%."
                   % medians(rounds))
    page.table(("program", "seconds untraced", "calls traced", "overhead %", "ispot's estimate %",
                "of which switches %", "with -c 20, %", "-F FIRST --burst 100ms/1s, %"),
               [(r["name"], r["seconds"], r["calls"], percent(r["overhead"]), percent(r["estimate"]),
                 percent(r["switches"]), percent(r["sampled"]), percent(r["burst"])) for r in rows])
    if absent:
        page.paragraph("Not installed here, left out: %s." % ", ".join(absent))
    if not rows:
        return
    for r in rows:
        if r["overhead"] > 0.1:
            page.paragraph("%s: FIRST is %s. What ispot said: %s" % (
                r["name"], r["first"] or "no function", "; ".join(r["report"]["notices"]) or "nothing"))
    overheads = [r["overhead"] for r in rows]
    average, worst = sum(overheads) / len(overheads), max(overheads)
    page.claim("5.4: the mean overhead is at most the paper's 8 %% (here %.0f %%)" % (100 * average),
               average <= 0.08)
    page.claim("5.4: the worst is at most the paper's 31 %% (here %.0f %%)" % (100 * worst), worst <= 0.31)


def applications(page, rows, absent, failures, pairs):
    page.heading("Sections 5.2 and 5.5: real applications, and whether a change that the report suggests helps")
    page.paragraph("%s. The block is the one that ispot says loses most; a prediction "
                   "holds where its score and the run time without ispot both fell in four pairs of five. Times of "
                   "servers are their clients'." % medians(pairs))
    page.table(("application", "block", "first cause", "change", "SCI", "SCI then", "seconds", "seconds then",
                "both fell", "prediction"),
               [(r["name"], r["block"], r["cause"], r["change"], r["sci"], r["sci_after"], r["seconds"],
                 r["seconds_after"], "%d of %d" % (r["fell"], r["pairs"]), r["holds"]) for r in rows])
    if absent:
        page.paragraph("Not installed here, left out: %s." % ", ".join(absent))
    for failure in failures:
        page.claim("5.5: measured to its end (%s)" % failure, False)
    if rows:
        holding = sum(r["holds"] for r in rows)
        page.claim("5.5: at least 3 of 5 predictions hold (here %d of %d)" % (holding, len(rows)),
                   5 * holding >= 3 * len(rows))


def few_calls(page, got):
    page.heading("Section 5.3: a function that is called too few times, and the loop in it that can be marked")
    page.table(("traced", "calls", "SCI", "verdict", "loop to mark"),
               [(r["pattern"], r["calls"], r["sci"], r["verdict"], r["loop"] or "none") for r in got["rows"]])
    few, marked = got["rows"]
    page.claim("5.3: with too few calls (%d) it is not judged, and the loop to mark is named: %s"
               % (few["calls"], got["line"]),
               few["verdict"] == "too-few-calls" and "turn++" in (got["line"] or ""))
    page.claim("5.3: marked, its executions are: interference, SCI %.2f" % (marked["sci"] or 0),
               marked["verdict"] == "interference" and (marked["sci"] or 0) >= 0.2)


def network(page, rows):
    page.heading("Section 5.5.3: a request from the client's and from the server's side (table 4)")
    if rows is None:
        page.paragraph("Not measured: no network namespace can be made and shaped here (unshare, ip, tc).")
        return
    page.table(("loopback", "SCI of the client, paper", "SCI of the client", "SCI of the server, paper",
                "SCI of the server", "mean request, µs"),
               [(r["bandwidth"], r["paper"], r["client"], "< 0.1", r["server"], r["ns"] / 1000) for r in rows])
    clients = [r["client"] for r in rows]
    page.claim("table 4: the client's score falls as bandwidth rises", clients == sorted(clients, reverse=True))
    page.claim("table 4: the server's score stays below 0.1 (at most %.2f here)" % max(r["server"] for r in rows),
               max(r["server"] for r in rows) < 0.1)


def memcached(page, rows):
    page.heading("Table 4 with memcached itself")
    if rows is None:
        page.paragraph("Not measured: memcached or memcslap is not installed, or no network can be shaped here.")
        return
    page.paragraph("memcached with 4 threads; memcslap (the paper's memaslap is no package) with 8, which gets. The client "
                   "is memcached_get of its library, the server its hottest function by table 3, sendmsg.")
    page.table(("loopback", "SCI of the client, paper", "SCI of the client", "SCI of the server, paper",
                "SCI of the server", "mean get, µs"),
               [(r["bandwidth"], r["paper"], r["client"], "< 0.1", r["server"], r["ns"] / 1000) for r in rows])
    clients = [r["client"] for r in rows]
    page.claim("table 4: memcached's client: the score is highest where bandwidth is lowest (%.2f; %.2f without a bound)"
               % (clients[0], clients[-1]), clients[0] == max(clients) and clients[0] > 0.2)
    page.claim("table 4: memcached's own stays below 0.1", max(r["server"] or 0 for r in rows) < 0.1)


def threads(page, rows):
    page.heading("Section 5.5.4: score against the number of threads that share a lock")
    page.table(("threads", "SCI"), [(r["threads"], r["sci"]) for r in rows])
    page.figures("Score of the lock", [svg.plot([r["threads"] for r in rows], [("", [r["sci"] for r in rows], "a")],
                                                "threads", "SCI")])
    scores = [r["sci"] for r in rows]
    page.claim("5.5.4: one thread alone is not slowed (SCI %.2f), more threads are (%.2f)" % (scores[0], scores[-1]),
               scores[0] < 0.05 < scores[1] <= scores[-1])


def word_count(page, got):
    page.heading("Section 5.6.1: a reducer whose work differs (word_count)")
    page.paragraph("ispot: SCI %.2f, verdict %s, first cause %s. The paper's tool had SCI 0.48 and called it "
                   "interference." % (got["sci"], got["verdict"], got["cause"]))
    page.claim("5.6: its score is not taken for interference: the verdict is workload", got["verdict"] == "workload")


def coz(page, got):
    page.heading("Section 5.7: the same program under coz")
    if got is None:
        page.paragraph("Not measured: coz is not installed (make paper installs it).")
        return
    page.table(("line that coz tries to speed up", "samples in it"), got["lines"])
    page.paragraph("coz asks what would help if a line ran faster, so it tries lines that run; ispot has the lock's "
                   "acquisition, SCI %.2f, first cause %s, in which a waiting thread does not run."
                   % (got["sci"], got["cause"]))


def short(name):
    """Of a C++ function, without its parameters."""
    return name.split("(")[0] if name else None


def perfume(page, got, paper):
    page.heading("Section 5.8: the graph that Perfume draws (figure 10)")
    if got is None:
        page.paragraph("Not measured: LevelDB's binding for Python is not installed (make paper installs it).")
        return
    page.table(("", "events", "seconds", "the paper's"), [
        ("the graph, of the first events of one thread", paper.SLICE, got["slice_s"], "Perfume %d" % paper.PERFUME_S),
        ("the graph, of all", got["events"], got["graph_s"], "Perfume: not in a reasonable time"),
        ("the report, of all", got["events"], got["report_s"], "its tool %.1f, of 1.9 million" % paper.PAPER_S)])
    page.table(("state", "then", "how", "times", "fastest ns", "slowest ns"), [
        (short(t["from"]), short(t["to"]), t["kind"], t["count"], t["min_ns"], t["max_ns"])
        for t in got["graph"]["all"][:12]])
    page.paragraph("%d states and %d transitions of all events, %d and %d of the first ones. Perfume's nodes are entries "
                   "and exits and may be split by what came before; a state here is a call, its entry and exit in one."
                   % (len(got["graph"]["states"]), len(got["graph"]["all"]), len(got["slice"]["states"]),
                      len(got["slice"]["all"])))
    page.paragraph("The graph says how a program behaves, not where interference is: that is the report's, here %s."
                   % ("%s, SCI %.2f" % (short(got["worst"][0]), got["worst"][1]) if got["worst"] else "in no function"))
    page.claim("5.8: the graph of the first %d events is there sooner than Perfume's" % paper.SLICE,
               got["slice_s"] < paper.PERFUME_S / 10)
    page.claim("5.8: all events, too, have a graph, in no more time than the paper's tool took for each event",
               got["graph_s"] / max(got["events"], 1) < paper.PAPER_S / paper.EVENTS)


def percent(share):
    return None if share is None else round(100 * share)


def end(page, took):
    page.heading("Summary")
    page.paragraph("%d of the claims came out, %d did not%s Measured in %.0f s: %s." % (
        sum(part[0] == "claim" for part in page.parts) - len(page.missed), len(page.missed),
        ": " + "; ".join(page.missed) + "." if page.missed else ".",
        sum(seconds for _, seconds in took), ", ".join("%s %.0f" % part for part in took)))
