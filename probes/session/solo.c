/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --solo: windows in which the program's threads share one CPU (probes/process/solo.h). */
#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/session/internal.h"
#include "trace/meta/print.h"

void session_solo_begin(struct session *s)
{
	struct err err = { 0 };

	if (s->r.options->solo && solo_open(&s->solo.windows, &err))
		session_write_notice(&s->r, "solo", err.text);
	session_solo_step(s);
}

static void write_windows(struct session *s)
{
	struct solo_window w;

	while (!solo_next(&s->solo.windows, &w)) {
		struct meta_solo m = { .begin_ns = w.begin_ns,
				       .end_ns = w.end_ns,
				       .cpu = w.cpu,
				       .waited_ns = w.waited_ns };
		struct text line = { 0 };

		s->solo.n++;
		s->solo.cost_ns += w.cost_ns;
		meta_print_solo(&m, &line);
		session_write_line(&s->r, &line);
	}
}

void session_solo_step(struct session *s)
{
	struct pids pids = { 0 };

	if (!s->solo.windows.area)
		return;
	bpfprog_targets(s->r.programs, &pids);
	solo_targets(&s->solo.windows, pids.data, pids.n);
	vec_release(&pids);
	write_windows(s);
}

void session_solo_stop(struct session *s)
{
	if (!s->solo.windows.area)
		return;
	solo_end(&s->solo.windows);
	write_windows(s);
	solo_release(&s->solo.windows);
	if (!s->solo.n)
		session_write_notice(
			&s->r, "solo",
			"--solo had no window: the program ended before the first, or there is no "
			"CPU beside another that all its threads may use");
}
