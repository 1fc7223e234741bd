/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/identity.h"
#include "probes/process/child.h"

/*
 * How much lower ispot's nice value is. Where more threads are ready to run than there are CPUs,
 * the buffers of all of them would fill up while ispot waits for its turn. It needs little time.
 */
#define AHEAD 10

void launch_inherit_save(struct launch_inherit *inherit)
{
	sigprocmask(SIG_SETMASK, NULL, &inherit->signal_mask);
	sigaction(SIGPIPE, NULL, &inherit->on_pipe);
	sigaction(SIGXFSZ, NULL, &inherit->on_large_file);
	sigaction(SIGCHLD, NULL, &inherit->on_child);
	/* if SIGCHLD is ignored, waitpid() never reports an ended child */
	signal(SIGCHLD, SIG_DFL);
	getrlimit(RLIMIT_NOFILE, &inherit->files);
	inherit->nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, inherit->nice - AHEAD);
}

void launch_inherit_restore(const struct launch_inherit *inherit)
{
	sigaction(SIGPIPE, &inherit->on_pipe, NULL);
	sigaction(SIGXFSZ, &inherit->on_large_file, NULL);
	sigaction(SIGCHLD, &inherit->on_child, NULL);
	setrlimit(RLIMIT_NOFILE, &inherit->files);
	setpriority(PRIO_PROCESS, 0, inherit->nice);
	sigprocmask(SIG_SETMASK, &inherit->signal_mask, NULL);
}

static void child(int status_fd, char *const *argv, const struct launch_inherit *inherit)
{
	int error;

	child_becomes_own();
	if (inherit->output_is_ours)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	launch_inherit_restore(inherit);
	error = inherit->user ? -identity_become(inherit->user) : 0;
	if (!error) {
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(status_fd, &error, sizeof(error)) < 0)
		_exit(125);
	_exit(127);
}

int launch_start(struct launch *l, char *const *argv, const struct launch_inherit *inherit,
		 struct err *err)
{
	int status[2], error;
	pid_t pid;

	*l = (struct launch){ .go_fd = -1, .status_fd = -1 };
	if (pipe2(status, O_CLOEXEC))
		return err_set(err, -errno, "cannot make a pipe: %s; raise ulimit -n",
			       strerror(errno));
	pid = child_fork_held(&l->go_fd, status[1]);
	error = errno;
	if (!pid)
		child(status[1], argv, inherit);
	close(status[1]);
	l->status_fd = status[0];
	if (pid < 0)
		return err_set(err, -error,
			       "cannot start a process: %s; raise ulimit -u, or end some",
			       strerror(error));
	l->pid = pid;
	return 0;
}

bool launch_go(struct launch *l)
{
	l->went = child_go(l->go_fd);
	return l->went;
}

int launch_failure(struct launch *l, char *const *argv, struct err *err)
{
	int error = 0;
	ssize_t n;

	do
		n = read(l->status_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(error) || !error)
		return 0;
	err_set(err, -error, "cannot run '%s': %s; check the command", argv[0], strerror(error));
	if (err)
		err->exit_status = error == ENOENT ? 127 : 126;
	return -error;
}

int launch_exec(struct launch *l, char *const *argv, struct err *err)
{
	return launch_go(l) ? launch_failure(l, argv, err) : 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

/*
 * Whether the child has ended. Waiting for a child that is traced returns its stops, too, which are
 * for whoever traces it: no stop comes between this look and the wait for a child that has ended.
 */
static bool has_ended(pid_t pid)
{
	siginfo_t i = { 0 };

	if (waitid(P_PID, (id_t)pid, &i, WEXITED | WNOHANG | WNOWAIT))
		return errno == ECHILD;
	return i.si_pid && i.si_code != CLD_TRAPPED && i.si_code != CLD_STOPPED;
}

bool launch_poll(struct launch *l)
{
	struct rusage used;
	pid_t got;

	if (l->ended || !l->pid)
		return l->ended;
	if (!has_ended(l->pid))
		return false;
	got = wait4(l->pid, &l->status, WNOHANG, &used);
	if (got == l->pid) {
		l->ended = true;
		l->cpu_ns = timeval_ns(&used.ru_utime) + timeval_ns(&used.ru_stime);
	} else if (got < 0 && errno == ECHILD) {
		/* somebody else has waited for the child, so its status is unknown */
		l->ended = true;
	}
	return l->ended;
}

int launch_exit_status(const struct launch *l)
{
	return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
}

void launch_release(struct launch *l)
{
	bool waiting = l->go_fd >= 0;

	if (l->go_fd >= 0)
		close(l->go_fd);
	if (l->status_fd >= 0)
		close(l->status_fd);
	l->go_fd = l->status_fd = -1;
	if (waiting && l->pid && !l->ended)
		launch_poll(l);
}

int target_threads(pid_t pid, struct pids *tids)
{
	struct dirent *e;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	tids->n = 0;
	while ((e = readdir(dir)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
			*vec_add(tids) = atoi(e->d_name);
	closedir(dir);
	return tids->n ? 0 : -ESRCH;
}

/* Reads the start of a thread's file in /proc. Returns false if the thread is gone. */
static bool read_about(pid_t pid, pid_t tid, const char *file, char *line, size_t room)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, line, room - 1);
	close(fd);
	line[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool is_young(pid_t pid, pid_t tid)
{
	char line[1024], *end;
	long long born = -1;
	struct timespec now;

	if (!read_about(pid, tid, "stat", line, sizeof(line)))
		return true;
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1,
			   " %*c"
			   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			   " %*s %*s %*s %lld",
			   &born) != 1)
		return true;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec - born / sysconf(_SC_CLK_TCK) < 2;
}

/* Returns how often a thread got a CPU. */
static uint64_t turns_of(pid_t pid, pid_t tid)
{
	unsigned long long turns;
	char line[128];

	return read_about(pid, tid, "schedstat", line, sizeof(line)) &&
			       sscanf(line, "%*s %*s %llu", &turns) == 1
		       ? turns
		       : UINT64_MAX;
}

uint32_t target_quiet_threads(pid_t pid, pid_t tids[TARGET_QUIET])
{
	uint64_t turns[TARGET_QUIET];
	struct pids all = { 0 };
	uint32_t n = 0;

	if (target_threads(pid, &all))
		all.n = 0;
	vec_for_each (&all, pid_t, tid) {
		uint64_t now = is_young(pid, *tid) ? UINT64_MAX : turns_of(pid, *tid);
		uint32_t i = n;

		if (now == UINT64_MAX || (n == TARGET_QUIET && now >= turns[n - 1]))
			continue;
		if (n < TARGET_QUIET)
			n++;
		else
			i--;
		for (; i && turns[i - 1] > now; i--) {
			turns[i] = turns[i - 1];
			tids[i] = tids[i - 1];
		}
		turns[i] = now;
		tids[i] = *tid;
	}
	vec_release(&all);
	return n;
}

void target_children(pid_t pid, struct pids *children)
{
	struct pids tids = { 0 };

	if (target_threads(pid, &tids))
		tids.n = 0;
	vec_for_each (&tids, pid_t, tid) {
		char path[64];
		pid_t child;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, *tid);
		f = fopen(path, "re");
		while (f && fscanf(f, "%d", &child) == 1)
			*vec_add(children) = child;
		if (f)
			fclose(f);
	}
	vec_release(&tids);
}

int target_comm(pid_t pid, pid_t tid, char *buf, size_t n)
{
	if (!read_about(pid, tid, "comm", buf, n))
		return -ESRCH;
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

uint64_t target_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t target_memory_bytes(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*s %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool target_alive(pid_t pid)
{
	char path[64], line[512], *state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (got <= 0)
		return false;
	line[got] = '\0';
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

uint64_t target_start_ticks(pid_t pid)
{
	unsigned long long ticks = 0;
	char path[64], line[1024];
	const char *rest = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f))
		rest = strrchr(line, ')');
	fclose(f);
	/* the 22nd field of the line; the third one follows the name */
	if (!rest || sscanf(rest + 1,
			    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %llu",
			    &ticks) != 1)
		return 0;
	return ticks;
}

bool target_has_program(pid_t pid)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, target, sizeof(target)) >= 0 || errno != ENOENT;
}
