// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "probes/inject/machine/blob.h"
#include "probes/inproc/inproc.h"
#include "probes/process/status.h"
#include "probes/process/target.h"
#include "probes/process/translator.h"
#include "symbol/dso/dso.h"

#ifdef __aarch64__
#define OWN_MACHINE DSO_AARCH64
#else
#define OWN_MACHINE DSO_X86_64
#endif

static int refuse_processor(struct err *err)
{
	if (!blob_get().bytes)
		return err_set(err, -ENOTSUP,
			       "--engine in-process works on x86-64 and aarch64 only; record it "
			       "with --engine kernel");
	if (sysconf(_SC_PAGESIZE) != INPROC_PAGE)
		return err_set(err, -ENOTSUP,
			       "--engine in-process needs pages of 4 KiB, and this kernel's have "
			       "%ld; record it with --engine kernel",
			       sysconf(_SC_PAGESIZE));
	return 0;
}

int refusal_of_machine(struct err *err)
{
	const char *unstable = clock_cycles_unstable();

	if (refuse_processor(err))
		return err->code;
	if (unstable)
		return err_set(
			err, -ENOTSUP,
			"--engine in-process stamps by the TSC, and %s; record it with --engine kernel",
			unstable);
	return 0;
}

int refusal_of_program(struct dso *program, struct err *err)
{
	if (dso_machine(program) != OWN_MACHINE)
		return err_set(err, -ENOTSUP,
			       "%s is code of another machine; record it with --engine kernel",
			       dso_path(program));
	if (dso_is_go(program))
		return err_set(err, -ENOTSUP,
			       "%s is a Go program, whose stacks move: it is not patched; use its "
			       "own profiler",
			       dso_path(program));
	if (dso_is_setuid(program) && geteuid())
		return err_set(err, -EPERM,
			       "%s changes its user when it starts, which a tracer's user may not "
			       "see; run ispot with sudo",
			       dso_path(program));
	return 0;
}

/*
 * Tries to lock a byte when nothing may be locked, to find out whether the limit applies. The
 * capabilities that a process lists may be those of a user namespace, which do not lift the limit.
 */
static bool needs_room_to_lock(const struct rlimit *limit)
{
	const struct rlimit none = { .rlim_max = limit->rlim_max };
	char byte = 0;
	bool locked;

	if (setrlimit(RLIMIT_MEMLOCK, &none))
		return true;
	locked = !mlock(&byte, sizeof(byte));
	if (locked)
		munlock(&byte, sizeof(byte));
	setrlimit(RLIMIT_MEMLOCK, limit);
	return !locked;
}

uint64_t refusal_lock_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    !needs_room_to_lock(&limit))
		return UINT64_MAX;
	return limit.rlim_cur;
}

int refusal_of_locking(const char *program, struct err *err)
{
	if (refusal_lock_limit() == UINT64_MAX)
		return 0;
	return err_set(
		err, -ENOTSUP,
		"%s can lock its memory (mlockall), and the room for records could exceed its "
		"limit; set ulimit -l unlimited, or record with sudo",
		program);
}

static unsigned number_of(pid_t pid, const char *name)
{
	char *line = status_line(pid, name);
	unsigned n = line ? (unsigned)strtoul(line, NULL, 10) : 0;

	free(line);
	return n;
}

static int refuse_state(pid_t pid, struct err *err)
{
	char *state = status_line(pid, "State:");
	const char *s = state;
	char c;

	while (s && (*s == ' ' || *s == '\t'))
		s++;
	c = s ? *s : 'X';
	free(state);
	if (c == 'X' || c == 'Z')
		return err_set(err, -ESRCH, "process %d has ended; record it while it runs", pid);
	if (c == 'T')
		return err_set(err, -EBUSY, "process %d is stopped; continue it first (kill -CONT)",
			       pid);
	return 0;
}

/* The process's own rules would end it at a system call that they do not allow. */
int refusal_of_seccomp(pid_t pid, struct err *err)
{
	if (!number_of(pid, "Seccomp:"))
		return 0;
	return err_set(err, -ENOTSUP,
		       "process %d runs under seccomp, which ends it at a system call that it does "
		       "not expect; record it with --engine kernel",
		       pid);
}

/* Returns the effective capabilities. *there: whether the process lists them. */
static uint64_t capabilities_of(pid_t pid, bool *there)
{
	char *line = status_line(pid, "CapEff:");
	uint64_t all = line ? strtoull(line, NULL, 16) : 0;

	*there = line != NULL;
	free(line);
	return all;
}

static bool has_my_user(pid_t pid)
{
	char *line = status_line(pid, "Uid:");
	const uid_t mine = geteuid();
	unsigned ids[4];
	bool same = line && sscanf(line, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4 &&
		    ids[0] == mine && ids[1] == mine && ids[2] == mine && ids[3] == mine;

	free(line);
	return same;
}

static bool is_in_my_user_namespace(pid_t pid)
{
	struct stat mine, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return !stat("/proc/self/ns/user", &mine) && !stat(path, &its) &&
	       mine.st_ino == its.st_ino && mine.st_dev == its.st_dev;
}

int refusal_of_rights(pid_t pid, struct err *err)
{
	bool there, is_there;
	uint64_t mine = capabilities_of(getpid(), &there), its = capabilities_of(pid, &is_there);

	if (has_my_user(pid) && there && is_there && !(mine & ~its) && is_in_my_user_namespace(pid))
		return 0;
	if (geteuid() && !has_my_user(pid))
		return err_set(
			err, -EPERM,
			"process %d belongs to another user; run ispot as root, or as that user "
			"(sudo -u USER)",
			pid);
	return err_set(
		err, -EPERM,
		"process %d does not have all the rights that ispot has, and what ispot does "
		"inside of it could give it those; run ispot as its user (sudo -u USER), or "
		"with --engine kernel",
		pid);
}

int refusal_of_numbers(pid_t pid, struct err *err)
{
	if (status_inner_pid(pid) == pid)
		return 0;
	return err_set(
		err, -ENOTSUP,
		"process %d has other process numbers, as in a container; record it with --engine kernel",
		pid);
}

int refusal_of_process(pid_t pid, struct err *err)
{
	unsigned tracer = number_of(pid, "TracerPid:");
	int ret = refuse_state(pid, err);

	if (ret)
		return ret;
	ret = translator_refuse_process(pid, err);
	if (ret)
		return ret;
	ret = refusal_of_seccomp(pid, err);
	if (ret)
		return ret;
	ret = refusal_of_rights(pid, err);
	if (ret)
		return ret;
	if (tracer)
		return err_set(err, -EBUSY,
			       "process %d is traced by process %u already; end that first", pid,
			       tracer);
	return refusal_of_numbers(pid, err);
}
