// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/processes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "probes/inject/budget.h"
#include "probes/inject/detour.h"
#include "probes/inject/refusal.h"
#include "probes/inject/sweep.h"
#include "probes/inject/targets.h"
#include "probes/inject/tracee.h"
#include "probes/inject/unpatch.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/stamped.h"
#include "probes/process/target.h"
#include "symbol/dso/dso.h"

#define CHECK_NS	 200000000ull /* between two checks for other tools' breakpoints */
#define SECCOMP_CHECK_NS 100000000ull
#define AGAIN_NS	 2000000000ull /* before another try to stop a process */
#define REST_RUNS	 64	       /* last reads of the rings, at most */
#define COMM_ROOM	 32
#define WRAPPER_NS	 10000000000ull /* for wrappers, if functions have kernel probes, too */
#define LATE_NS		 2000000 /* for threads to write the records that they have reserved */

/* ---- patching ---- */

static bool is_same_program(const struct patched_program *a, const struct patched_program *b)
{
	return a->inode == b->inode && a->device == b->device;
}

/* Called while the threads are stopped: once they run, the process may execute another program. */
static void identify(struct patched *p)
{
	p->start_ticks = target_start_ticks(p->pid);
	p->program = patched_program_of(p->pid);
}

static int on_region(void *ctx, int fd, struct err *err)
{
	struct processes *p = ctx;
	int ret = inproc_drain_add_stamped(p->drain, fd, p->pid, p->how.ring_bytes,
					   (uint32_t)p->functions->n, p->how.period > 1);

	identify(vec_last(&p->patched));
	if (!ret) {
		vec_last(&p->patched)->region = (uint32_t)p->drain->regions.n - 1;
		ret = p->watch(p->ctx, p->pid, vec_last(&p->drain->regions));
	}
	return ret ? err_set(err, ret,
			     "the memory shared with process %d cannot be mapped: %s; record it with --engine kernel",
			     p->pid, strerror(-ret))
		   : 0;
}

/* Patches a process whose threads are stopped. They run again if this returns 0. */
static int patch_stopped(struct processes *all, struct tracees *t, struct patched_prepared *d,
			 struct err *err)
{
	struct patched *p = vec_add(&all->patched);
	int ret;

	all->pid = t->pid;
	ret = patched_begin(p, t, all->functions, &all->how, d, on_region, all, err);
	log_detail("the threads of process %d stood for %.1f ms%s", p->pid,
		   (double)p->stopped_ns / 1e6,
		   p->was_prepared ? ", with the code made before" : "");
	return ret;
}

/* Repeats checks while the process is stopped. Since the first ones the process may have given up
 * rights, or another process may have got its number. */
static int refusal_of_stopped(pid_t pid, struct err *err)
{
	int ret = refusal_of_seccomp(pid, err);

	if (!ret)
		ret = refusal_of_rights(pid, err);
	return ret ? ret : refusal_of_numbers(pid, err);
}

static int attach(struct processes *p, pid_t pid, bool is_patient, struct patched_prepared *d,
		  struct err *err)
{
	struct tracees t;
	uint64_t swept = 0;
	int ret = (is_patient ? tracees_stop : tracees_stop_now)(&t, pid, err);

	if (ret)
		return ret;
	ret = refusal_of_stopped(pid, err);
	if (!ret)
		ret = sweep(&t, &swept, err);
	if (swept)
		log_notice("what a recorder that was killed had left in process %d is taken out",
			   pid);
	if (!ret)
		ret = patch_stopped(p, &t, d, err);
	if (ret)
		tracees_detach(&t);
	return ret;
}

bool processes_has(const struct processes *all, pid_t pid)
{
	const uint64_t inode = patched_region_in(pid);

	vec_for_each (&all->patched, const struct patched, p)
		if (inode && p->region_inode == inode)
			return true;
	return false;
}

int processes_attach(struct processes *p, pid_t pid, bool is_patient, struct err *err)
{
	struct patched_prepared *d = patched_prepare(pid, p->functions, &p->how);
	int ret = attach(p, pid, is_patient, d, err);

	patched_prepared_free(d);
	return ret;
}

static bool is_program(const struct patched_program *program, pid_t pid)
{
	const struct patched_program now = patched_program_of(pid);

	return now.inode && is_same_program(&now, program);
}

/* A wrapper may do anything before it executes the program. Kernel probes record meanwhile, if
 * there are any, and nobody reads their rings. */
static int wait_program(const struct processes *p, const struct patched_program *program,
			struct launch *l, struct tracees *t, struct err *err)
{
	const uint64_t until_ns = p->is_alone ? UINT64_MAX : clock_now_ns() + WRAPPER_NS;
	int ret;

	do
		ret = tracees_wait_exec(t, until_ns, &l->status, err);
	while (!ret && !is_program(program, t->pid));
	l->ended = ret == -ESRCH;
	l->program = ret ? 0 : t->pid;
	return ret ? ret : tracees_follow_no_more(t, err);
}

int processes_launch(struct processes *p, struct launch *l, char *const *argv,
		     const struct patched_program *program, struct err *err)
{
	struct tracees t = { .memory = -1 };
	int ret = tracees_seize_command(&t, l->pid, err);

	/* a signal stops a traced child, so it executes only while its stops are waited for */
	if (!ret && launch_go(l))
		ret = wait_program(p, program, l, &t, err);
	if (ret == -ESRCH && launch_failure(l, argv, err))
		ret = err->code;
	if (!ret)
		ret = refusal_of_stopped(t.pid, err);
	if (!ret)
		ret = detour_to_entry(&t, err);
	if (!ret)
		ret = tracees_stop_rest(&t, err);
	if (!ret)
		ret = patch_stopped(p, &t, NULL, err);
	if (!ret)
		return 0;
	if (p->unpatched && l->went && !l->ended && !t.is_running)
		p->unpatched(p->ctx, err);
	tracees_detach(&t);
	return ret;
}

/* ---- all patched processes ---- */

/* Called with a process that has the patches of p, or may have them. */
typedef void (*process_visit)(struct processes *all, const struct patched *p, pid_t pid);

static void report_executed(const struct processes *all, const struct patched *p, const char *comm)
{
	char shown[2 * COMM_ROOM], words[256];

	snprintf(
		words, sizeof(words),
		"process %d has executed another program (%s), whose calls are not timed in process; "
		"record that program itself, or with --engine kernel",
		p->pid, text_printable(shown, sizeof(shown), comm));
	log_notice("%s", words);
	inproc_write_notice(all->drain->writer, "in-process-executed", words);
}

/* Reads the start time last: then everything before was read of this process, and of no other
 * process with its number. */
static void check_program(const struct processes *all, struct patched *p)
{
	const struct patched_program now = patched_program_of(p->pid);
	char comm[COMM_ROOM] = "";

	if (is_same_program(&now, &p->program))
		return;
	target_comm(p->pid, p->pid, comm, sizeof(comm));
	p->has_ended = target_start_ticks(p->pid) != p->start_ticks;
	p->has_executed = now.inode && !p->has_ended;
	if (p->has_executed)
		report_executed(all, p, comm);
}

/* Reports processes that have executed another program: their patches went with their memory. */
static void check_programs(struct processes *all)
{
	vec_for_each (&all->patched, struct patched, p)
		if (p->program.inode && !p->has_executed && !p->has_ended)
			check_program(all, p);
}

/* If the process could not be stopped, its next recording tries again. */
static void visit_restore(struct processes *all, const struct patched *p, pid_t pid)
{
	(void)all;
	if (!patched_restore(p, pid))
		log_notice(
			"process %d could not be stopped and keeps its patches, which cost it tens of "
			"nanoseconds a call; record it again in process to take them out",
			pid);
}

static void visit_unpatch(struct processes *all, const struct patched *p, pid_t pid)
{
	if (!unpatch(p, pid, all->given_up))
		all->could_not = true;
}

/* Processes that this one has forked have its patches, too, and may outlive it. */
static void visit_family(struct processes *all, const struct patched *p, pid_t pid, unsigned depth,
			 process_visit visit)
{
	struct pids children = { 0 };

	visit(all, p, pid); /* first: later forks are then without patches, too */
	target_children(pid, &children);
	for (size_t i = 0; depth && i < children.n; i++)
		visit_family(all, p, children.data[i], depth - 1, visit);
	vec_release(&children);
}

/* Children of processes that have ended are found by their records, as no known process is their
 * parent. */
static void visit_writers(struct processes *all, const struct patched *p, process_visit visit)
{
	const struct inproc_region *g =
		p->region == PATCHED_NONE ? NULL : &all->drain->regions.data[p->region];

	for (uint32_t i = 0; g && g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++)
		if (g->slots[i].state == INPROC_LIVE)
			visit(all, p, (pid_t)g->slots[i].pid);
}

#define GENERATIONS 16

static void visit_all(struct processes *all, process_visit visit)
{
	vec_for_each (&all->patched, const struct patched, p) {
		visit_family(all, p, p->pid, GENERATIONS, visit);
		visit_writers(all, p, visit);
	}
}

bool processes_unpatch(struct processes *p, const bool *functions)
{
	p->given_up = functions;
	p->could_not = false;
	visit_all(p, visit_unpatch);
	return !p->could_not;
}

/* Writes to the file which functions are not patched any more. */
static void write_given_up(struct processes *p, const struct budget *b, const bool *given_up)
{
	for (uint32_t i = 0; i < b->n; i++) {
		if (!given_up[i])
			continue;
		p->functions->data[i].is_out = true;
		inject_targets_write_given_up(&p->functions->data[i], &b->functions[i],
					      clock_now_ns(), p->drain->writer);
	}
}

/* Lets a later check find the same functions again. Each try takes seconds in which no ring is
 * read. */
static void retry_later(struct budget *b, const bool *given_up)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->functions[i].is_out &= !given_up[i];
	b->not_before_ns = clock_now_ns() + AGAIN_NS;
}

void processes_enforce_budget(struct processes *p, struct budget *b, bool *given_up,
			      uint64_t now_ns)
{
	size_t n = 0;
	bool done;

	if (!budget_is_exceeded(b, p->drain, p->functions, now_ns, given_up))
		return;
	done = processes_unpatch(p, given_up);
	budget_settle(b, clock_now_ns());
	if (done)
		write_given_up(p, b, given_up);
	else
		retry_later(b, given_up);
	for (uint32_t i = 0; i < b->n; i++)
		n += given_up[i];
	log_detail("%zu functions are called too often for the budget%s", n,
		   done ? " and are taken out" : ", and could not be taken out yet");
}

void processes_write_passed(struct processes *p, struct budget *b, bool *given_up)
{
	if (budget_has_passed(b, p->drain, given_up))
		write_given_up(p, b, given_up);
}

void processes_drain_rest(struct processes *p)
{
	clock_sleep_ns(LATE_NS);
	inproc_drain_run(p->drain);
	for (int i = 0; i < REST_RUNS && p->drain->behind; i++)
		inproc_drain_run(p->drain);
}

void processes_restore(struct processes *p)
{
	if (p->is_alone)
		check_programs(p);
	visit_all(p, visit_restore);
}

void processes_release(struct processes *all)
{
	vec_for_each (&all->patched, struct patched, p)
		patched_release(p);
	vec_release(&all->patched);
}

/* ---- while they run ---- */

/* A program that has locked itself up since would end at the system calls that the first record of
 * a new thread makes. */
static void check_seccomp(struct processes *p)
{
	vec_for_each (&p->drain->regions, struct inproc_region, g) {
		uint32_t pid = 0;

		for (uint32_t i = 0; g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++) {
			if (g->slots[i].state != INPROC_LIVE || g->slots[i].pid == pid)
				continue;
			pid = g->slots[i].pid;
			if (refusal_of_seccomp((pid_t)pid, NULL))
				inproc_stamped_seal(g);
		}
	}
}

static void check_breakpoints(const struct processes *all)
{
	vec_for_each (&all->patched, const struct patched, p) {
		uint32_t function = patched_yield_to_breakpoints(p);

		if (function != PATCHED_NONE)
			log_notice("another tool probes %s, too, in process %d: its calls are not "
				   "all recorded from now on",
				   all->functions->data[function].function->symbol, p->pid);
	}
}

void processes_check(struct processes *p, uint64_t now_ns)
{
	if (now_ns - p->checked_ns >= CHECK_NS) {
		p->checked_ns = now_ns;
		check_breakpoints(p);
		if (p->is_alone)
			check_programs(p);
	}
	if (now_ns - p->seccomp_checked_ns >= SECCOMP_CHECK_NS) {
		p->seccomp_checked_ns = now_ns;
		check_seccomp(p);
	}
}
