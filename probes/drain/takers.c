// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/drain/takers.h"

#include "base/text.h"
#include "probes/process/target.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

void drain_taker(struct drain_takers *t, pid_t pid)
{
	struct drain_taker *new = &t->all[t->n];

	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].pid == pid)
			return;
	if (t->n == DRAIN_TAKERS_MAX)
		return;
	new->pid = pid;
	if (target_comm(pid, pid, new->comm, sizeof(new->comm)))
		new->comm[0] = '\0';
	new->kernel = *new->comm && !target_has_program(pid) && target_alive(pid);
	t->n++;
}

void drain_takers_write(const struct drain_takers *t, void (*write)(void *ctx, struct text *line),
			void *ctx)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct meta_process p = { .pid = (uint32_t)t->all[i].pid,
						.comm = t->all[i].comm,
						.kernel = t->all[i].kernel };
		struct text line = { 0 };

		if (!*p.comm)
			continue;
		meta_print_process(&p, &line);
		write(ctx, &line);
	}
}
