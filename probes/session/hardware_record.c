/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/hardware_record.h"

#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "probes/sample/hardware.h"
#include "probes/session/open.h"
#include "probes/session/session.h"

struct running {
	struct hardware *hardware;
	const struct hardware_recording *recording;
	struct cpus cpus;
};

static int on_launch(void *ctx, pid_t pid, struct err *err)
{
	struct running *run = ctx;

	return hardware_open(run->hardware, &run->cpus, pid, err);
}

static void on_drained(void *ctx, uint64_t until_ns)
{
	struct running *run = ctx;

	(void)until_ns;
	hardware_read(run->hardware, run->recording->visit, run->recording->ctx);
}

int hardware_record(struct hardware *h, const struct hardware_recording *r, int *status,
		    struct err *err)
{
	struct running run = { .hardware = h, .recording = r };
	struct session_options so = {
		.patterns = r->patterns,
		.some_match = true,
		.argv = r->argv,
		.output = r->output,
		.command = r->command,
		.options = "",
		.version = r->version,
		.events = "none",
		.period = 1,
		.inherit = true,
		.launching = on_launch,
		.launching_ctx = &run,
		.drained = on_drained,
		.drained_ctx = &run,
	};
	struct session_result result = { 0 };
	struct session *s = NULL;
	int rc = cpus_read(&run.cpus);

	while (r->patterns[so.n_patterns])
		so.n_patterns++;
	if (rc)
		return err_set(err, rc, "the machine's CPUs cannot be read: %s; mount /sys",
			       strerror(-rc));
	rc = session_open(&s, &so, err);
	if (!rc)
		rc = session_run(s, &result, err);
	if (!rc)
		hardware_read(h, r->visit, r->ctx);
	session_free(s);
	*status = result.exit_status;
	return rc;
}
