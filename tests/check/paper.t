#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make paper` computes and writes, without measuring: correlation, its threshold, the mean as
# baseline, the page.
. "$(dirname "$0")/lib.sh"

# wrong STATEMENT...: Python statements that call expect(); prints what did not come out.
wrong() {
	python3 - "$1" "$top/tests/paper" "$top/tests/check" <<-'EOP'
	import sys
	sys.path[:0] = sys.argv[2:]
	import markup, page, sections, stats, svg, sweeps
	def expect(what, holds):
	    if not holds:
	        print("not so:", what)
	exec(sys.argv[1])
	EOP
}

holds "rho of a line, of its mirror, of a constant" wrong '
expect("1", abs(stats.pearson([1, 2, 3], [5, 7, 9]) - 1) < 1e-12)
expect("-1", abs(stats.pearson([1, 2, 3], [3, 2, 1]) + 1) < 1e-12)
expect("0.5", abs(stats.pearson([1, 2, 3], [1, 3, 2]) - 0.5) < 1e-12)
expect("none", stats.pearson([1, 2, 3], [4, 4, 4]) is None)'

holds "two clusters do not pass, a line does" wrong '
def judged(times, scores):
    runs = [[{"time": t, "sci": s, "sci_mean": 0, "min": 1, "lost": 0}] for t, s in zip(times, scores)]
    return sweeps.summary(dict(sweeps.SWEEPS[0], delays=range(len(runs))), runs)
line = list(range(12))
expect("a line passes", judged(line, line)["rho_passes"])
clusters = [0, 1, 0, 1, 0, 1, 100, 101, 100, 101, 100, 101]
other = [1, 0, 0, 0, 1, 1, 100, 100, 101, 101, 100, 100]
expect("rho is high", judged(clusters, other)["rho"] > 0.95)
noise = [0, 1, 2, 50, 52, 51, 53, 52, 50, 98, 99, 100]
mixed = [0, 1, 2, 52, 50, 53, 51, 50, 53, 98, 99, 100]
expect("rho is high", judged(noise, mixed)["rho"] > 0.95)
expect("the middle half fails it", not judged(noise, mixed)["rho_passes"])
few = [0, 50, 51, 100]
expect("two points in the middle are no line", not judged(few, few)["rho_passes"])
for sweep in sweeps.SWEEPS:
    for every in (1, 2, 3, 6):
        expect("enough points", len(stats.middle(sweeps.chosen(sweep["delays"], every))) >= 3)
expect("no score, no rho", not judged(line, line)["rho_mean_passes"])'

holds "the mean as baseline counts calls above it only" wrong '
expect("bimodal", abs(sweeps.score_against_mean([1, 1, 3, 3], {"sci": 0.4}) - 0.2) < 1e-12)
expect("all alike", sweeps.score_against_mean([2, 2], {"sci": 0.0}) == 0)'

# A block of 1 us that is slowed to 4 us in p of its executions, p from 0 to 1: the time rises in a line, and
# beyond the mean there is most where half of them are slowed. What the page would say of the four.
model='
def four(judged_by):
    runs = []
    for slow in range(0, 101, 10):
        durations = [1000] * (100 - slow) + [4000] * slow
        block = {"sci": sum(d - 1000 for d in durations) / 500000}
        scores = {"sci": block["sci"], "sci_mean": sweeps.score_against_mean(durations, block)}
        runs.append([{"time": stats.mean(durations), "sci": scores[judged_by], "sci_mean": scores["sci_mean"],
                      "min": 1000, "lost": 0}])
    return [sweeps.summary({**sweep, "delays": range(len(runs))}, runs) for sweep in sweeps.SWEEPS]
def missed(rows):
    p = page.Page("p")
    sections.sweeps(p, rows, 1)
    return p.missed
'
holds "the page holds with the fastest as baseline, and fails with the mean" wrong "$model"'
expect("the fastest: %s" % missed(four("sci")), not missed(four("sci")))
for sweep in sweeps.SWEEPS:
    expect(sweep["name"], any(m.startswith(sweep["name"] + ": rho") for m in missed(four("sci_mean"))))
rows = four("sci")
for row in rows:
    row["rho_mean_passes"] = True
expect("it says so if the mean does as well", len(missed(rows)) == 1)'

holds "a fastest execution that grows with the delay is told" wrong "$model"'
rows = four("sci")
rows[3]["gap"] = 0.2
expect("told: %s" % missed(rows), [m[:9] for m in missed(rows)] == ["4.3: I/O:"])
rows[3]["chance"] = 0.3
expect("chance hides it", not missed(rows))
p = page.Page("p")
sections.sweeps(p, rows, 1)
expect("said", "I/O: not shown" in p.text())
def of_fastest(*delays):
    runs = [[{"time": 1, "sci": 1, "sci_mean": 0, "min": m, "lost": 0} for m in mins] for mins in delays]
    row = sweeps.summary({**sweeps.SWEEPS[0], "delays": range(len(runs))}, runs)
    return row["gap"] and round(row["gap"], 6), round(row["chance"], 6)
expect("alike", of_fastest(*[[100, 103]] * 4) == (0, 0.03))
expect("it grows", of_fastest(*[[100, 100, 100, 100]] * 6, *[[130, 130, 130, 130]] * 6) == (0.3, 0))
expect("at most of the delays", of_fastest(*[[130] * 4] * 4, *[[100] * 4] * 8)[0] == 0.3)
expect("one free execution among many", of_fastest([100, 150, 150, 150], *[[150] * 4] * 11) == (0, 0))
expect("one delay", of_fastest((100, 110))[0] is None)'

holds "runs on a slower CPU are left out, and said" wrong "$model"'
def run(time, sci, fastest):
    return {"time": time, "sci": sci, "sci_mean": 0, "min": fastest, "lost": 0}
runs = [[run(10 * d, d / 9, 100)] * 2 + [run(10 * d + 5, d / 9, 104), run(10 * d + 90, 0, 106)] for d in range(1, 9)]
row = sweeps.summary({**sweeps.SWEEPS[0], "delays": range(len(runs))}, runs)
expect("left out", (row["runs"], row["slower"], row["times"][0]) == (32, 8, 10))
expect("three stay, however they differ", len(sweeps.at_full_speed([run(1, 1, m) for m in (100, 200, 150, 300)])) == 3)
p = page.Page("p")
sections.sweeps(p, [row], 4)
expect("said", "8 of 32 runs are left out" in p.text())'

holds "a prediction holds where score and time fell in four pairs of five" wrong '
import applications
def fell(*pairs):  # score before, after, time before, after
    a, b, s, t = zip(*pairs)
    return applications.judged((a, b), (s, t))
better, slower, unknown = (0.5, 0.1, 2, 1), (0.5, 0.1, 1, 2), (None, 0.1, 2, 1)
expect("five", fell(*[better] * 5)["holds"])
expect("four", fell(slower, *[better] * 4)["holds"])
expect("three do not", not fell(slower, unknown, *[better] * 3)["holds"])
expect("counted", fell(slower, unknown, *[better] * 3)["fell"] == 3)'

holds "an application that fails is told, one that is not here is left out, the others are measured" wrong '
import applications, tempfile
def way(*command):
    return applications.Program(list(command), tempfile.gettempdir())
applications.APPLICATIONS = [("fails", [], "c", way("false"), way("false")), ("absent", [], "c", way("no/such"), None),
                             ("works", [], "c", way("true"), way("true"))]
applications.compare = lambda name, patterns, change, before, after, pairs, say: (applications.seconds(before), name)
rows, absent, failures = applications.measure(3, 1, None)
expect("works: %s" % rows, [row[1] for row in rows] == ["works"])
expect("absent", absent == ["absent"])
p = page.Page("p")
sections.applications(p, [], absent, failures, 1)
expect("told: %s" % p.missed, len(p.missed) == 1 and "fails: false: status 1" in p.missed[0])'

holds "table 3 has the applications too" wrong '
import applications, overhead
names = [name for name, _ in overhead.PROGRAMS]
kinds = "sysbench", "PostgreSQL", "memcached", "redis", "LevelDB"
expect("%s" % names, all(any(name.startswith(kind) for name in names) for kind in kinds))
p = page.Page("p")
sections.overhead(p, [], ["redis"], 1)
expect("left out", "left out: redis" in p.text())'

holds "without counters unknown is the right cause of what only they see, and of nothing else" wrong '
import causes
class Report:
    def __init__(self, pmu, cause):
        self.report = {"trace": {"pmu": pmu}}
        self.found = {"causes": [{"kind": cause}], "verdict": "interference"}
    def block(self, name):
        return self.found
def right(true, pmu, cause):
    return causes.compare("p", {"block": "b", "cause": true}, Report(pmu, cause))["cause_right"]
expect("seen", right("lock", "none", "lock") and not right("lock", "none", "unknown"))
expect("no counters", right("cache-sharing", "none", "unknown") and not right("cache-sharing", "none", "lock"))
expect("counters", right("cache-sharing", "core", "cache-sharing") and not right("cache-sharing", "core", "unknown"))'

holds "the graph is of the first events of the thread that has most of them" wrong '
import perfume
lines = ["# in recorded order", "{\"kind\":\"function\"}", "1 0 7/7 entry f sp=0x1", "2 0 8/7 entry f sp=0x2", "3 0 8/7 switch-out sleeping",
         "4 0 8/7 exit f sp=0x2", "5 0 7/7 exit f sp=0x1", "6 0 8/7 entry f sp=0x2"]
expect("its first two", perfume.first_events(lines, 2) == [lines[1], lines[3], lines[5]])
expect("none", perfume.first_events(lines[:2], 2) == [lines[1]])
got = {"events": 1900000, "report_s": 2.0, "graph_s": 2.0, "slice_s": 0.1, "worst": ("DB::Put(int)", 0.5),
       "graph": {"states": [1], "all": [{"from": None, "to": "f(int)", "kind": "begin", "count": 4, "min_ns": None, "max_ns": None}]},
       "slice": {"states": [], "all": []}}
p = page.Page("p")
sections.perfume(p, got, perfume)
expect("holds: %s" % p.missed, not p.missed)
expect("figures", "Perfume 5536" in p.text() and "DB::Put, SCI 0.50" in p.text() and "n/a" in p.text())
slow = page.Page("p")
sections.perfume(slow, dict(got, graph_s=30.0, slice_s=600.0, worst=None), perfume)
expect("both missed: %s" % slow.missed, len(slow.missed) == 2)
sections.perfume(slow, None, perfume)
expect("left out", "Not measured" in slow.text())'

holds "axes have round numbers, or names" wrong '
expect("from 0", svg.ticks(0, 120000) == [0, 25000, 50000, 75000, 100000])
expect("not from 0: %s" % svg.ticks(800, 3000), svg.ticks(800, 3000) == [1000, 1500, 2000, 2500, 3000])
expect("small: %s" % svg.ticks(0, 0.5), [svg.number(v) for v in svg.ticks(0, 0.5)] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"])
expect("nothing varies", svg.ticks(3, 3) == [3])
named = svg.plot([0, 1], [("", [1, 2], "a")], "period", "SCI", None, ["16", "<256"])
expect("names", ">16<" in named and ">&lt;256<" in named and ">0.2<" not in named)'

holds "the page is whole, escaped, without scripts, and knows what missed" wrong '
p = page.Page("a <title>")
p.heading("h & i"); p.paragraph("p"); p.claim("came out", True); p.claim("did <not>", False)
p.table(("name", "value"), [("<b>", 0.5), ("none", None)])
p.figures("f", [svg.plot([0, 1, 2], [("x", [0, 0, 0], "a")], "delay <", "SCI", [(0, 0)] * 3)])
expect("its markup is right: %s" % markup.wrong(p.html()), not markup.wrong(p.html()))
expect("missed", p.missed == ["did <not>"])
expect("n/a", "n/a" in p.text() and "MISSED did <not>" in p.text())'

catches "a statement that does not hold" "not so: this" wrong 'expect("this", False)'
