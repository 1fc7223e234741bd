/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/solo.h"

#include "base/log.h"
#include "probes/kernel/bpfprog.h"
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "trace/meta/print.h"

void solo_windows_begin(struct solo_windows *solo, struct recording *r)
{
	struct err err = { 0 };

	if (r->options->solo && solo_open(&solo->windows, &err))
		recording_write_notice(r, "solo", err.text);
	solo_windows_step(solo, r);
}

static void write_windows(struct solo_windows *solo, struct recording *r)
{
	struct solo_window w;

	while (!solo_next(&solo->windows, &w)) {
		struct meta_solo m = { .begin_ns = w.begin_ns,
				       .end_ns = w.end_ns,
				       .cpu = w.cpu,
				       .waited_ns = w.waited_ns };
		struct text line = { 0 };

		solo->n++;
		solo->cost_ns += w.cost_ns;
		meta_print_solo(&m, &line);
		recording_write_line(r, &line);
	}
}

void solo_windows_step(struct solo_windows *solo, struct recording *r)
{
	struct pids pids = { 0 };

	if (!solo->windows.area)
		return;
	bpfprog_targets(r->programs, &pids);
	solo_targets(&solo->windows, pids.data, pids.n);
	vec_release(&pids);
	write_windows(solo, r);
}

void solo_windows_stop(struct solo_windows *solo, struct recording *r)
{
	if (!solo->windows.area)
		return;
	solo_end(&solo->windows);
	write_windows(solo, r);
	solo_release(&solo->windows);
	if (!solo->n)
		recording_write_notice(
			r, "solo",
			"--solo had no window: the program ended before the first, or there is no "
			"CPU beside another that all its threads may use");
}

uint64_t solo_windows_cost_ns(const struct solo_windows *solo)
{
	return solo->cost_ns;
}

void solo_windows_release(struct solo_windows *solo)
{
	solo_release(&solo->windows);
}
