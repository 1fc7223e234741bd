// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "probes/inject/machine/registers.h"
#include "probes/process/status.h"
#include "probes/process/target.h"

#define POLL_NS	     20000
#define SPINS	     50	     /* polls without a pause: most threads stop within microseconds */
#define WAIT_NS	     1000000 /* for a command that does nothing now */
#define BUSY_NS	     100000000ull
#define ROUNDS	     100 /* rounds of stopping threads that were born meanwhile */
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define OPTIONS	     (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)
#define FOLLOWING    (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

static int event_of(int status)
{
	return status >> 16;
}

/* ---- stopping ---- */

#define STOP_NS		   200000000ull /* how long one thread may hold up the others */
#define AGAIN_NS	   50000000ull	/* for which they run before another try */
#define TRIES		   20
#define KCMP_SHARES_MEMORY 1

/*
 * Threads that were told to stop, but had not stopped when the others were released. They wait in
 * the kernel, and will stop when they leave it. This process is the tracer of all of them, so there
 * is one list.
 */
static struct {
	VEC(struct tracee)
} late;

static bool remove_late(pid_t tid)
{
	vec_for_each (&late, struct tracee, e)
		if (e->tid == tid) {
			*e = late.data[--late.n];
			return true;
		}
	return false;
}

/* Returns whether tid is a command of ispot, whose end launch_poll() waits for. */
static bool is_command(pid_t tid)
{
	char *group = status_line(tid, "Tgid:");
	bool is_leader = group && atoi(group) == tid;

	free(group);
	return is_leader && status_parent(tid) == getpid();
}

/* Works like waitpid(), except that the end of a command can still be waited for afterwards. */
static pid_t poll_thread(pid_t tid, int *status)
{
	siginfo_t i = { 0 };

	if (waitid(P_PID, (id_t)tid, &i, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
		return -1;
	if (!i.si_pid)
		return 0;
	if (i.si_code == CLD_TRAPPED || i.si_code == CLD_STOPPED || !is_command(tid))
		return waitpid(tid, status, __WALL | WNOHANG);
	*status = i.si_code == CLD_EXITED ? W_EXITCODE(i.si_status, 0) : i.si_status;
	return tid;
}

/* Waits until the thread has stopped or ended. Returns 0 with *status, or -errno; -ETIMEDOUT if it
 * has not. */
static int wait_for_stop(pid_t tid, uint64_t patience_ns, int *status)
{
	uint64_t since_ns = clock_now_ns();

	for (unsigned n = 0;; n++) {
		pid_t got = poll_thread(tid, status);

		if (got == tid)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (clock_now_ns() - since_ns > patience_ns)
			return -ETIMEDOUT;
		if (n > SPINS)
			clock_sleep_ns(POLL_NS);
	}
}

static void update_tracee(struct tracee *t, int status)
{
	t->gone = !WIFSTOPPED(status);
	t->is_stopping = !t->gone && (event_of(status) || WSTOPSIG(status) == SYSCALL_STOP);
	t->signal = t->gone || event_of(status) ? 0 : WSTOPSIG(status);
	if (t->signal == SYSCALL_STOP)
		t->signal = 0;
}

static bool is_known(const struct tracees *t, pid_t tid)
{
	vec_for_each (&t->threads, const struct tracee, e)
		if (e->tid == tid)
			return true;
	return false;
}

static bool has_ended(pid_t pid, pid_t tid)
{
	char path[64], line[512] = "", *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return !state || strchr("ZX", state[2]);
}

static int report_refused(pid_t pid, int error, struct err *err)
{
	if (error == ESRCH)
		return err_set(err, -ESRCH, "process %d has ended; record it while it runs", pid);
	return err_set(
		err, -error,
		"process %d cannot be stopped: %s; it is another user's, has another tracer, "
		"or kernel.yama.ptrace_scope forbids it: run with sudo",
		pid, strerror(error));
}

static int seize(struct tracees *t, pid_t tid, struct err *err)
{
	struct tracee *e;
	int error;

	if (!remove_late(tid) && ptrace(PTRACE_SEIZE, tid, NULL, OPTIONS)) {
		error = errno;
		return has_ended(t->pid, tid) ? 0 : report_refused(t->pid, error, err);
	}
	e = vec_add(&t->threads);
	e->tid = tid;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

static int wait_from(struct tracees *t, size_t first, struct err *err)
{
	for (size_t i = first; i < t->threads.n; i++) {
		struct tracee *e = &t->threads.data[i];
		int status, ret = wait_for_stop(e->tid, STOP_NS, &status);

		if (ret)
			return err_set(err, ret,
				       "thread %d of process %d does not stop: %s; it waits in the "
				       "kernel, try again later",
				       e->tid, t->pid, strerror(-ret));
		update_tracee(e, status);
	}
	return 0;
}

/* Stops the threads that are not known yet. */
static int stop_new(struct tracees *t, struct err *err)
{
	struct pids tids = { 0 };
	size_t before = t->threads.n;
	int ret = target_threads(t->pid, &tids);

	if (ret)
		err_set(err, ret, "process %d has ended; record it while it runs", t->pid);
	for (size_t i = 0; !ret && i < tids.n; i++)
		if (!is_known(t, tids.data[i]))
			ret = seize(t, tids.data[i], err);
	vec_release(&tids);
	return ret ? ret : wait_from(t, before, err);
}

static int open_memory(struct tracees *t, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", t->pid);
	if (t->memory >= 0)
		close(t->memory);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	return t->memory >= 0
		       ? 0
		       : err_set(err, -errno,
				 "the memory of process %d cannot be written: %s; record it with --engine kernel",
				 t->pid, strerror(errno));
}

/* A child of vfork(), for example, uses its parent's memory. */
static bool shares_memory(pid_t pid, pid_t other)
{
	return other > 0 && !syscall(SYS_kcmp, pid, other, KCMP_SHARES_MEMORY, 0, 0);
}

/* All threads that use this memory have to be stopped, but other processes are not stopped here. */
static int refuse_shared(const struct tracees *t, struct err *err)
{
	pid_t with = status_parent(t->pid);
	struct pids children = { 0 };

	if (!shares_memory(t->pid, with))
		with = 0;
	target_children(t->pid, &children);
	for (size_t i = 0; !with && i < children.n; i++)
		if (shares_memory(t->pid, children.data[i]))
			with = children.data[i];
	vec_release(&children);
	return with ? err_set(err, -EBUSY,
			      "process %d shares its memory with process %d, as between vfork() and "
			      "exec(); try again later",
			      t->pid, with)
		    : 0;
}

int tracees_stop_rest(struct tracees *t, struct err *err)
{
	size_t before;
	int ret, rounds = 0;

	do {
		before = t->threads.n;
		ret = stop_new(t, err);
	} while (!ret && t->threads.n > before && ++rounds < ROUNDS);
	if (!ret && !t->threads.n)
		ret = err_set(err, -ESRCH, "process %d has ended; record it while it runs", t->pid);
	return ret ? ret : refuse_shared(t, err);
}

int tracees_stop_now(struct tracees *t, pid_t pid, struct err *err)
{
	int ret;

	*t = (struct tracees){ .pid = pid, .memory = -1 };
	ret = tracees_stop_rest(t, err);
	if (!ret)
		ret = open_memory(t, err);
	if (ret)
		tracees_detach(t);
	return ret;
}

int tracees_stop(struct tracees *t, pid_t pid, struct err *err)
{
	int ret = 0;

	for (int i = 0; i < TRIES; i++) {
		if (i && interrupt_pending())
			break;
		if (i)
			clock_sleep_ns(AGAIN_NS);
		ret = tracees_stop_now(t, pid, err);
		if (ret != -ETIMEDOUT && ret != -EBUSY)
			break;
	}
	return ret;
}

/* ---- a command, until it has executed the program ---- */

static void add_tracee(struct tracees *t, pid_t tid)
{
	*vec_add(&t->threads) = (struct tracee){ .tid = tid };
}

int tracees_seize_command(struct tracees *t, pid_t pid, struct err *err)
{
	*t = (struct tracees){ .pid = pid, .is_running = true, .memory = -1 };
	if (ptrace(PTRACE_SEIZE, pid, NULL, OPTIONS | FOLLOWING))
		return report_refused(pid, errno, err);
	add_tracee(t, pid);
	return 0;
}

static int resume_thread(struct tracee *e, int request)
{
	int signal = e->signal;

	e->signal = 0;
	return ptrace(request, e->tid, NULL, (void *)(intptr_t)signal) ? -errno : 0;
}

static bool is_birth(int status)
{
	return event_of(status) == PTRACE_EVENT_FORK || event_of(status) == PTRACE_EVENT_VFORK ||
	       event_of(status) == PTRACE_EVENT_CLONE;
}

/* A thread that a signal has stopped with its process, until it is continued. */
static bool is_group_stop(int status)
{
	return event_of(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

/* Returns the thread or process that a stopped thread has made, which is traced, too. */
static pid_t born_of(pid_t tid)
{
	unsigned long born = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &born) ? 0 : (pid_t)born;
}

/* Returns the index of a thread that has stopped or ended, or the number of threads if none has. */
static size_t find_stopped(struct tracees *t, int *status)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		struct tracee *e = &t->threads.data[i];
		int ret = e->gone ? -ETIMEDOUT : wait_for_stop(e->tid, 0, status);

		if (!ret)
			return i;
		e->gone |= ret != -ETIMEDOUT;
	}
	return t->threads.n;
}

static bool all_gone(const struct tracees *t)
{
	vec_for_each (&t->threads, const struct tracee, e)
		if (!e->gone)
			return false;
	return true;
}

static void resume_executed(struct tracees *t)
{
	vec_for_each (&t->threads, struct tracee, e)
		if (e->tid == t->pid)
			resume_thread(e, PTRACE_CONT);
}

int tracees_wait_exec(struct tracees *t, uint64_t until_ns, int *command_status, struct err *err)
{
	uint64_t busy_ns = clock_now_ns();

	if (t->memory >= 0)
		resume_executed(t);
	t->is_running = true;
	while (!all_gone(t)) {
		int status;
		size_t i;
		pid_t tid;

		if (interrupt_pending()) /* asked first: a stop is reported only once */
			return err_set(err, -EINTR,
				       "ended before the command began; record it again");
		i = find_stopped(t, &status);
		if (i == t->threads.n && clock_now_ns() > until_ns)
			return err_set(err, -ETIMEDOUT,
				       "the command has not executed its program yet; give the "
				       "program itself as the command");
		if (i == t->threads.n) {
			clock_sleep_ns(clock_now_ns() - busy_ns < BUSY_NS ? POLL_NS : WAIT_NS);
			continue;
		}
		busy_ns = clock_now_ns();
		tid = t->threads.data[i].tid;
		update_tracee(&t->threads.data[i], status);
		if (!i && t->threads.data[0].gone)
			*command_status = status;
		if (t->threads.data[i].gone)
			continue;
		if (event_of(status) == PTRACE_EVENT_EXEC) {
			t->pid = tid;
			t->is_running = false;
			return open_memory(t, err);
		}
		if (is_birth(status) && born_of(tid))
			add_tracee(t, born_of(tid));
		resume_thread(&t->threads.data[i],
			      is_group_stop(status) ? PTRACE_LISTEN : PTRACE_CONT);
	}
	return err_set(err, -ESRCH, "the command has ended; record it while it runs");
}

int tracees_follow_no_more(struct tracees *t, struct err *err)
{
	struct tracee program = { 0 };

	vec_for_each (&t->threads, const struct tracee, e) {
		if (e->tid == t->pid) {
			program = *e;
		} else if (!e->gone) {
			ptrace(PTRACE_INTERRUPT, e->tid, NULL, NULL);
			*vec_add(&late) = *e;
		}
	}
	t->threads.n = 0;
	*vec_add(&t->threads) = program;
	/* the program is patched next, and the others need not stand so long */
	for (unsigned n = 0; tracees_detach_late() && n < SPINS; n++)
		clock_sleep_ns(POLL_NS);
	if (ptrace(PTRACE_SETOPTIONS, t->pid, NULL, OPTIONS))
		return err_set(err, -errno, "process %d has ended; record it while it runs",
			       t->pid);
	return 0;
}

/* A thread that runs may be about to stop because it has made another one, of which only that stop
 * tells. If it were detached then, the new one would stand for ever. */
void tracees_detach(struct tracees *t)
{
	vec_for_each (&t->threads, struct tracee, e)
		if (!e->gone && (t->is_running || resume_thread(e, PTRACE_DETACH))) {
			ptrace(PTRACE_INTERRUPT, e->tid, NULL, NULL);
			*vec_add(&late) = *e;
		}
	tracees_detach_late();
	vec_release(&t->threads);
	vec_release(&t->blocks);
	t->runner = NULL;
	if (t->memory >= 0)
		close(t->memory);
	t->memory = -1;
}

bool tracees_detach_late(void)
{
	for (size_t i = 0; i < late.n;) {
		struct tracee *e = &late.data[i];
		int status, ret = wait_for_stop(e->tid, 0, &status);

		if (!ret) {
			const pid_t born = is_birth(status) ? born_of(e->tid) : 0;

			update_tracee(e, status);
			if (!e->gone && resume_thread(e, PTRACE_DETACH))
				ret = -ETIMEDOUT; /* it was killed meanwhile: its end comes next */
			if (born) {
				*vec_add(&late) = (struct tracee){ .tid = born };
				e = &late.data[i];
			}
		}
		if (ret == -ETIMEDOUT)
			i++;
		else
			*e = late.data[--late.n];
	}
	if (late.n)
		return true;
	vec_release(&late);
	return false;
}

/* ---- memory ---- */

int tracees_read(const struct tracees *t, uint64_t at, void *bytes, size_t n)
{
	ssize_t got = pread(t->memory, bytes, n, (off_t)at);

	return got == (ssize_t)n ? 0 : got < 0 ? -errno : -EFAULT;
}

int tracees_write(const struct tracees *t, uint64_t at, const void *bytes, size_t n)
{
	ssize_t put = pwrite(t->memory, bytes, n, (off_t)at);

	return put == (ssize_t)n ? 0 : put < 0 ? -errno : -EFAULT;
}

/* ---- registers ---- */

int tracee_position(const struct tracee *t, uint64_t *ip, uint64_t *sp)
{
	struct registers regs;
	int ret = registers_read(t->tid, &regs);

	*ip = ret ? 0 : registers_ip(&regs);
	*sp = ret ? 0 : registers_sp(&regs);
	return ret;
}

bool tracee_has_free_block(const struct tracees *all, const struct tracee *t)
{
	struct registers regs;
	uint64_t block;

	if (registers_read(t->tid, &regs) || !registers_block(&regs, &block))
		return false;
	vec_for_each (&all->blocks, const struct tracee_blocks, b)
		if (block >= b->start && block < b->end)
			return true;
	return !block;
}

uint64_t tracee_key(const struct tracees *all, const struct tracee *t)
{
	struct registers regs;
	uint64_t key = 0, thread;

	if (registers_read(t->tid, &regs))
		return 0;
	thread = registers_thread(&regs);
	if (!thread || !registers_lead_to_blocks())
		return thread;
	return tracees_read(all, thread, &key, sizeof(key)) ? 0 : key;
}

int tracee_set_block(const struct tracee *t, uint64_t block, uint64_t thread_if_none)
{
	struct registers regs;
	int ret;

	if (!registers_lead_to_blocks())
		return 0;
	ret = registers_read(t->tid, &regs);
	if (ret)
		return ret;
	registers_set_block(&regs, block, thread_if_none);
	return registers_write(t->tid, &regs);
}

#define GET_RSEQ_CONFIGURATION 0x420f
#define RSEQ_SECTION_AT	       8 /* offset of rseq_cs in struct rseq */

struct rseq_place {
	uint64_t address;
	uint32_t bytes, signature, flags, pad;
};

struct rseq_section {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

/* The kernel sends a thread that was interrupted in a restartable sequence (rseq) back to its
 * start. It would not do so if the thread were elsewhere meanwhile. */
static bool is_restartable(const struct tracees *t, const struct tracee *e, uint64_t ip)
{
	struct rseq_place place = { 0 };
	struct rseq_section section;
	uint64_t at = 0;

	if (ptrace(GET_RSEQ_CONFIGURATION, e->tid, sizeof(place), &place) <= 0 || !place.address)
		return false;
	if (tracees_read(t, place.address + RSEQ_SECTION_AT, &at, sizeof(at)) || !at)
		return false;
	return !tracees_read(t, at, &section, sizeof(section)) &&
	       ip - section.start < section.bytes;
}

static bool can_run(const struct tracees *t, const struct tracee *e, struct registers *regs)
{
	return !e->gone && e->is_stopping && !registers_read(e->tid, regs) &&
	       registers_can_go(e->tid, regs) && !is_restartable(t, e, registers_ip(regs));
}

static int choose_runner(struct tracees *t, struct registers *regs, struct err *err)
{
	t->runner = NULL;
	vec_for_each (&t->threads, struct tracee, e)
		if (!t->runner && can_run(t, e, regs))
			t->runner = e;
	if (!t->runner)
		return err_set(
			err, -EAGAIN,
			"no thread of process %d stands where it can be made to run something "
			"else; try it again",
			t->pid);
	registers_restart(regs);
	return 0;
}

int tracees_resume_at(struct tracees *t, uint64_t *resume, struct err *err)
{
	struct registers regs;
	int ret = choose_runner(t, &regs, err);

	*resume = ret ? 0 : registers_ip(&regs);
	return ret;
}

static int report_gone(const struct tracees *t, int ret, struct err *err)
{
	return ret ? err_set(err, ret, "process %d is gone; record it while it runs", t->pid) : 0;
}

int tracees_begin_detour(struct tracees *t, uint64_t code, struct err *err)
{
	struct registers regs;
	int ret = choose_runner(t, &regs, err);

	if (ret)
		return ret;
	t->before_detour = regs;
	registers_go_to(&regs, code);
	return report_gone(t, registers_write(t->runner->tid, &regs), err);
}

int tracees_end_detour(struct tracees *t, struct err *err)
{
	return report_gone(t, registers_write(t->runner->tid, &t->before_detour), err);
}

static bool is_at_mark(const struct tracee *e, uint64_t tag, int64_t *value)
{
	struct registers regs;

	return !registers_read(e->tid, &regs) && registers_at_mark(&regs, tag, value);
}

int tracees_run_to_mark(struct tracees *t, uint64_t tag, uint64_t patience_ns, int64_t *value,
			struct err *err)
{
	struct tracee *e = t->runner;
	uint64_t since_ns = clock_now_ns();
	int status, ret;

	do {
		ret = resume_thread(e, PTRACE_SYSCALL);
		if (!ret)
			ret = wait_for_stop(e->tid, patience_ns, &status);
		if (ret)
			return err_set(
				err, ret,
				"process %d does not go on: %s; record it with --engine kernel",
				t->pid, strerror(-ret));
		update_tracee(e, status);
		if (e->gone)
			return err_set(err, -ESRCH, "process %d has ended; record it while it runs",
				       t->pid);
		if (WSTOPSIG(status) == SYSCALL_STOP && is_at_mark(e, tag, value))
			return 0;
	} while (clock_now_ns() - since_ns < patience_ns);
	return err_set(
		err, -ETIMEDOUT,
		"process %d does not come to where it is to be; record it with --engine kernel",
		t->pid);
}
