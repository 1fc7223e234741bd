/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counters: see window.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/fleet/ipc.h"
#include "analysis/fleet/live.h"
#include "base/clock.h"
#include "base/err.h"
#include "cmd/fleet/verbs.h"
#include "cmd/fleet/window.h"
#include "probes/process/application.h"
#include "probes/sample/ipc.h"
#include "probes/sample/occupancy.h"

static void on_sample(void *self, const struct ipc_sample *s)
{
	struct fleet_window *w = self;

	*vec_add(&w->samples->samples) = (struct fleet_ipc_sample){
		.cpu = s->cpu,
		.app = application_of(w->apps, s->pid),
		.start_ns = s->start_ns,
		.end_ns = s->end_ns,
		.instructions = s->instructions,
		.cycles = s->cycles,
	};
}

static int start_command(struct fleet_window *w, struct err *err)
{
	int rc;

	if (!*w->command || w->child || w->ended)
		return 0;
	rc = fleet_window_spawn(&w->child, *w->command, w->command);
	if (!rc)
		return 0;
	w->child = 0;
	if (err)
		err->exit_status = rc == ENOENT ? 127 : 126;
	return err_set(err, -rc, "%s: %s; name a program that can be run", *w->command,
		       strerror(rc));
}

static void look_after_command(struct fleet_window *w)
{
	int status;

	if (!w->child || waitpid(w->child, &status, WNOHANG) != w->child)
		return;
	w->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	w->child = 0;
	w->ended = true;
}

int fleet_window_count(struct fleet_window *w, struct err *err)
{
	uint64_t end_ns;
	int rc = 0;

	w->from_ns = w->to_ns;
	if (!w->open) {
		w->from_ns = clock_now_ns();
		rc = fleet_window_open(w, err);
	}
	if (!rc)
		rc = start_command(w, err);
	snprintf(w->indicator, sizeof(w->indicator), "ipc");
	end_ns = w->from_ns + w->on_ns;
	while (!rc && !w->interrupted && !w->ended && clock_now_ns() < end_ns) {
		fleet_window_turn(w, end_ns, w->child);
		ipc_read(w->ipc, on_sample, w);
		look_after_command(w);
		rc = fleet_window_look(w, err);
	}
	if (rc)
		return rc;
	ipc_read(w->ipc, on_sample, w);
	w->to_ns = fleet_window_last(w);
	fleet_ipc_take(w->samples, w->live);
	w->lost = w->occupancy->lost;
	w->records = w->occupancy->records;
	w->taken = w->ipc->samples;
	w->lost_samples = w->ipc->lost;
	w->throttled = w->ipc->throttled;
	return 0;
}
