/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/ending.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "probes/process/target.h"

#define GRACE_NS    1000000000ull /* before the recording ends without the command */
#define PATIENCE_NS 5000000000ull /* before a command that the signal did not end gets SIGTERM */

void ending_block_signals(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	sigprocmask(SIG_BLOCK, ends, NULL);
}

/* Passes the signal on to the command, unless it came from the terminal, which has sent it to the
 * command, too. */
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

const char *ending_without_memory(void)
{
	if (!mem_is_short())
		return NULL;
	log_notice(
		"the recording ends early: ispot has no memory left; free some, or raise ulimit -v");
	return "out of memory";
}

static bool all_gone(const struct ending_facts *facts)
{
	for (size_t i = 0; i < facts->n_pids; i++)
		if (target_alive(facts->pids[i]))
			return false;
	return true;
}

const char *ending_reason_now(const struct ending *e, struct launch *l,
			      const struct ending_facts *facts)
{
	bool attached = facts->n_pids > 0;

	if (attached ? all_gone(facts) : launch_poll(l))
		return attached ? "target ended" : ending_reason(e);
	if (ending_is_due(e, !attached))
		return "interrupted";
	if (facts->until_ns && clock_now_ns() >= facts->until_ns)
		return "duration";
	if (facts->write_error)
		return facts->write_error == -EFBIG ? "max-size" : "disk full";
	return ending_without_memory();
}

/* Returns whether the command's time is over. Sends SIGTERM in between. */
static bool is_over(struct ending *e, const struct launch *l)
{
	uint64_t now_ns = clock_now_ns();

	if (e->signals != 1)
		return e->signals > 1;
	if (now_ns - e->since_ns < PATIENCE_NS)
		return false;
	if (e->told)
		return true;
	/* A background job of a shell ignores SIGINT. */
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
