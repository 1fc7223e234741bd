/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/ending.h"

#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/process/target.h"

#define GRACE_NS    1000000000ull /* before the recording ends without the command */
#define PATIENCE_NS 5000000000ull /* before a command that the signal did not end is told to */

/* From the terminal the command has got the signal too; one sent to ispot alone is passed on. */
void ending_signal(struct ending *e, const struct launch *l, int number, int code)
{
	if (!e->signals++)
		e->since_ns = clock_now_ns();
	if (l->pid && !l->ended && code != SI_KERNEL)
		kill(l->pid, number);
}

bool ending_is_due(const struct ending *e, bool has_command)
{
	return e->signals &&
	       (e->signals > 1 || !has_command || clock_now_ns() - e->since_ns >= GRACE_NS);
}

const char *ending_reason(const struct ending *e)
{
	return e->signals ? "interrupted" : "command ended";
}

/* Whether the command has had its time. */
static bool is_over(struct ending *e, const struct launch *l)
{
	uint64_t now_ns = clock_now_ns();

	if (e->signals != 1)
		return e->signals > 1;
	if (now_ns - e->since_ns < PATIENCE_NS)
		return false;
	if (e->told)
		return true;
	/* A shell's background job lives with SIGINT. */
	e->told = true;
	e->since_ns = now_ns;
	kill(l->pid, SIGTERM);
	return false;
}

void ending_wait(struct ending *e, struct launch *l, bool tell, void (*wait)(void *ctx), void *ctx)
{
	if (!l->pid || launch_poll(l))
		return;
	if (tell)
		kill(l->pid, SIGTERM);
	do
		wait(ctx);
	while (!launch_poll(l) && !is_over(e, l));
	if (!l->ended)
		log_notice("process %d has not ended and is left running", l->pid);
}
