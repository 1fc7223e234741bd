/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/named.h"

#include "base/clock.h"
#include "base/text.h"
#include "probes/process/target.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

void named_threads(pid_t pid, void (*write)(void *ctx, struct text *line), void *ctx)
{
	struct pids tids = { 0 };
	char comm[32];

	if (!target_threads(pid, &tids))
		vec_for_each (&tids, pid_t, tid) {
			struct meta_thread t = { .tid = (uint32_t)*tid,
						 .tgid = (uint32_t)pid,
						 .comm = comm };
			struct text line = { 0 };

			if (target_comm(pid, *tid, comm, sizeof(comm)))
				continue;
			t.seen_ns = clock_now_ns();
			meta_print_thread(&t, &line);
			write(ctx, &line);
		}
	vec_release(&tids);
}
