// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/drain/takers.h"

#include "probes/process/target.h"

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
	t->n++;
}
