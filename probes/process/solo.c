/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/solo.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "probes/process/target.h"

#define PIDS_MAX    1024
#define THREADS_MAX 4096 /* no window opens for a program with more threads */
#define PASSES_MAX  20	 /* most passes over threads that create threads */
#define GENERATIONS 64	 /* most generations of children: a program decides how many there are */

/* A thread with the CPUs that it may use outside the window. */
struct kept {
	pid_t pid, tid;
	cpu_set_t cpus;
	uint64_t delay_ns; /* how long it had waited for CPUs when the window began */
};

struct solo_area {
	pid_t recorder;
	uint32_t n_pids;
	pid_t pids[PIDS_MAX];
	/* of the open window */
	uint32_t n;
	uint64_t born_after_ticks;
	cpu_set_t one, all; /* the window's CPU; all CPUs that any of the threads may use */
	struct kept threads[THREADS_MAX];
};

/* ---- affinities ---- */

static bool is_online_all(const cpu_set_t *cpus)
{
	return CPU_COUNT(cpus) >= sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * Restores a thread's CPUs. A thread that may use every CPU may also use those that come online
 * later.
 */
static void give_back(pid_t tid, const cpu_set_t *cpus)
{
	cpu_set_t now, all;

	memset(&all, 0xff, sizeof(all));
	if (sched_getaffinity(tid, sizeof(now), &now))
		return;
	if (!is_online_all(cpus) || sched_setaffinity(tid, sizeof(all), &all))
		sched_setaffinity(tid, sizeof(*cpus), cpus);
}

static bool is_on(pid_t tid, const cpu_set_t *cpus)
{
	cpu_set_t now;

	return !sched_getaffinity(tid, sizeof(now), &now) && CPU_EQUAL(&now, cpus);
}

static uint64_t delay_ns(pid_t pid, pid_t tid)
{
	unsigned long long ran = 0, waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return waited;
}

static uint64_t now_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK) +
	       (uint64_t)now.tv_nsec / (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static const struct kept *kept_of(const struct solo_area *a, pid_t tid)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->threads[i].tid == tid)
			return &a->threads[i];
	return NULL;
}

/*
 * Returns the CPUs of an older thread of the same process, or those of all threads if there is
 * none.
 */
static const cpu_set_t *of_maker(const struct solo_area *a, uint32_t thread)
{
	for (uint32_t i = 0; i < thread; i++)
		if (a->threads[i].pid == a->threads[thread].pid)
			return &a->threads[i].cpus;
	return &a->all;
}

/* ---- a window ---- */

static int add_thread(struct solo_area *a, pid_t pid, pid_t tid)
{
	struct kept *k = &a->threads[a->n];

	if (a->n == THREADS_MAX)
		return -E2BIG;
	*k = (struct kept){ .pid = pid, .tid = tid, .delay_ns = delay_ns(pid, tid) };
	if (sched_getaffinity(tid, sizeof(k->cpus), &k->cpus))
		return errno == ESRCH ? 0 : -errno;
	a->n++;
	return 0;
}

/* Returns the number of threads that were new, or a negative error. */
static int add_threads(struct solo_area *a)
{
	struct pids tids = { 0 };
	uint32_t known = a->n, n_pids = a->n_pids < PIDS_MAX ? a->n_pids : PIDS_MAX;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < n_pids; i++) {
		if (target_threads(a->pids[i], &tids))
			continue;
		vec_for_each (&tids, pid_t, tid)
			if (!ret && !kept_of(a, *tid))
				ret = add_thread(a, a->pids[i], *tid);
	}
	vec_release(&tids);
	return ret ? ret : (int)(a->n - known);
}

/*
 * Chooses a CPU that all threads may use, at random, so that it is not always the one that handles
 * interrupts.
 */
static int choose_cpu(struct solo_area *a, uint64_t random)
{
	cpu_set_t common = a->threads[0].cpus;
	int n;

	a->all = common;
	for (uint32_t i = 1; i < a->n; i++) {
		CPU_AND(&common, &common, &a->threads[i].cpus);
		CPU_OR(&a->all, &a->all, &a->threads[i].cpus);
	}
	n = CPU_COUNT(&common);
	if (!n || CPU_COUNT(&a->all) < 2)
		return -1;
	n = (int)(random % (uint64_t)n);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &common) && !n--)
			return cpu;
	return -1;
}

static bool move(const struct solo_area *a, uint32_t from)
{
	bool moved = true;

	for (uint32_t i = from; i < a->n; i++)
		if (sched_setaffinity(a->threads[i].tid, sizeof(a->one), &a->one) && errno != ESRCH)
			moved = false;
	return moved;
}

/*
 * Moves all threads to the window's CPU, in passes: each pass finds the threads created meanwhile,
 * until all of their creators have been moved.
 */
static bool move_all(struct solo_area *a)
{
	uint32_t from = 0;

	for (int pass = 0; pass < PASSES_MAX; pass++) {
		int more;

		if (!move(a, from))
			return false;
		from = a->n;
		more = add_threads(a);
		if (more <= 0)
			return !more;
		for (uint32_t i = from; i < a->n; i++)
			if (CPU_EQUAL(&a->threads[i].cpus, &a->one))
				a->threads[i].cpus = *of_maker(a, i);
	}
	return false;
}

/* Restores the CPUs of threads that inherited the window's CPU. Returns how many there were. */
static unsigned free_process(const struct solo_area *a, pid_t pid, const cpu_set_t *cpus)
{
	struct pids tids = { 0 };
	unsigned n = 0;

	if (target_threads(pid, &tids))
		tids.n = 0;
	vec_for_each (&tids, pid_t, tid)
		if (!kept_of(a, *tid) && is_on(*tid, &a->one)) {
			give_back(*tid, cpus);
			n++;
		}
	vec_release(&tids);
	return n;
}

/* Does the same for the process's children that were created in the window. */
static unsigned free_family(const struct solo_area *a, pid_t pid, const cpu_set_t *cpus,
			    unsigned generations)
{
	struct pids children = { 0 };
	unsigned n = free_process(a, pid, cpus);

	if (generations)
		target_children(pid, &children);
	vec_for_each (&children, pid_t, child)
		if (*child != a->recorder && *child != getpid() &&
		    target_start_ticks(*child) >= a->born_after_ticks)
			n += free_family(a, *child, cpus, generations - 1);
	vec_release(&children);
	return n;
}

static void free_born(const struct solo_area *a)
{
	unsigned found = 1;

	for (int pass = 0; found && pass < PASSES_MAX; pass++) {
		pid_t last = 0;

		found = 0;
		for (uint32_t i = 0; i < a->n; i++) {
			if (a->threads[i].pid != last)
				found += free_family(a, a->threads[i].pid, &a->threads[i].cpus,
						     GENERATIONS);
			last = a->threads[i].pid;
		}
	}
}

/* Restores all threads, whatever state the window is in. Called by the keeper, or in its place. */
static void restore(struct solo_area *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (is_on(a->threads[i].tid, &a->one))
			give_back(a->threads[i].tid, &a->threads[i].cpus);
	if (a->n)
		free_born(a);
	a->n = 0;
}

static uint64_t waited_ns(const struct solo_area *a)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t now = delay_ns(a->threads[i].pid, a->threads[i].tid);

		if (now > a->threads[i].delay_ns)
			sum += now - a->threads[i].delay_ns;
	}
	return sum;
}

/* ---- the keeper ---- */

static void wait_or_end(int fd, uint64_t ns, bool *over)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t until = clock_now_ns() + ns, now;

	while ((now = clock_now_ns()) < until && !*over) {
		struct timespec left = { (time_t)((until - now) / 1000000000),
					 (long)((until - now) % 1000000000) };

		/* nobody writes to fd: it becomes readable when the recorder has closed its end */
		if (ppoll(&p, 1, &left, NULL) > 0)
			*over = true;
	}
}

static void window(struct solo_area *a, int fd, uint64_t random, bool *over)
{
	struct solo_window w = { 0 };
	int cpu = -1;

	a->born_after_ticks = now_ticks();
	CPU_ZERO(&a->one);
	if (add_threads(a) > 0)
		cpu = choose_cpu(a, random);
	if (cpu < 0) {
		a->n = 0;
		return;
	}
	CPU_SET(cpu, &a->one);
	if (move_all(a)) {
		w.begin_ns = clock_now_ns();
		wait_or_end(fd, SOLO_ON_NS, over);
		w.end_ns = clock_now_ns();
		w.cpu = (uint32_t)cpu;
		w.waited_ns = waited_ns(a);
		w.cost_ns = (w.end_ns - w.begin_ns) * (uint64_t)(CPU_COUNT(&a->all) - 1);
		if (w.cost_ns > w.waited_ns)
			w.cost_ns = w.waited_ns;
	}
	restore(a);
	if (w.end_ns)
		send(fd, &w, sizeof(w), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void keeper(struct solo_area *a, int fd)
{
	const uint64_t off = SOLO_PERIOD_NS - SOLO_ON_NS;
	uint64_t random = clock_now_ns(), next_ns = SOLO_FIRST_NS;
	bool over = false;

	for (;;) {
		wait_or_end(fd, next_ns, &over);
		if (over)
			return;
		random = random * 6364136223846793005u + 1442695040888963407u;
		window(a, fd, random >> 33, &over);
		/* random, so that it cannot stay in step with a period of the program */
		next_ns = off / 2 + (random >> 20) % off;
	}
}

/*
 * Runs the keeper. It keeps no descriptor of the recorder, so that no output stays open and no
 * probe stays active because of it.
 */
static _Noreturn void be_keeper(struct solo_area *a, int fd)
{
	prctl(PR_SET_NAME, "ispot-solo");
	if (dup2(fd, 0) < 0 || syscall(SYS_close_range, 1u, ~0u, 0u))
		_exit(1);
	keeper(a, 0);
	_exit(0);
}

int solo_open(struct solo *s, struct err *err)
{
	sigset_t all, before;
	int fds[2];

	*s = (struct solo){ .fd = -1 };
	s->area = mmap(NULL, sizeof(*s->area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (s->area == MAP_FAILED) {
		s->area = NULL;
		return err_set(err, -errno, "--solo: %s; record without it", strerror(errno));
	}
	s->area->recorder = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		int ret = err_set(err, -errno, "--solo: %s; record without it", strerror(errno));

		solo_release(s);
		return ret;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	s->keeper = fork();
	if (!s->keeper) {
		close(fds[0]);
		be_keeper(s->area, fds[1]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fds[1]);
	s->fd = fds[0];
	if (s->keeper > 0)
		return 0;
	s->keeper = 0;
	solo_release(s);
	return err_set(
		err, -EAGAIN,
		"--solo: no process could be made for it; raise ulimit -u, or record without --solo");
}

void solo_targets(struct solo *s, const pid_t *pids, size_t n)
{
	if (!s->area)
		return;
	if (n > PIDS_MAX)
		n = PIDS_MAX;
	memcpy(s->area->pids, pids, n * sizeof(*pids));
	s->area->n_pids = (uint32_t)n;
}

int solo_next(struct solo *s, struct solo_window *w)
{
	ssize_t got = s->area ? recv(s->fd, w, sizeof(*w), MSG_DONTWAIT) : -1;

	if (!got) /* the keeper has ended, possibly inside a window */
		solo_end(s);
	return got == sizeof(*w) ? 0 : -EAGAIN;
}

void solo_end(struct solo *s)
{
	if (!s->keeper)
		return;
	shutdown(s->fd, SHUT_WR);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	s->keeper = 0;
	restore(s->area); /* does what a keeper that was killed could not do */
}

void solo_release(struct solo *s)
{
	solo_end(s);
	if (s->area && s->fd >= 0)
		close(s->fd);
	if (s->area)
		munmap(s->area, sizeof(*s->area));
	*s = (struct solo){ .fd = -1 };
}
