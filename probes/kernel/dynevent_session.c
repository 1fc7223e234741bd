/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/dynevent_session.h"

#include "probes/kernel/dynevent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "probes/kernel/tracing.h"

#define LOCK_DIR     "/run/ispot"
#define LOCK_SUFFIX  ".lock"
#define GROUP_PREFIX "ispot_"

void dynevent_gate_shut(int lock_fd)
{
	if (ftruncate(lock_fd, 0))
		log_notice("cannot empty a lock file in %s: %s", LOCK_DIR, strerror(errno));
}

int dynevent_gate_open(int lock_fd)
{
	return ftruncate(lock_fd, 4096) ? -errno : 0;
}

/*
 * When the CPU goes from a parent to a child that inherited all of its events, or back, the kernel
 * swaps their events instead of the contents. The event that then ends with the child is the one by
 * which the kernel knows that the parent is probed, so it removes the parent's breakpoints.
 * Inherited events that are read in samples are never swapped (kernel >= 6.13; older ones refuse
 * them).
 */
static const uint64_t never_swapped = PERF_SAMPLE_READ | PERF_SAMPLE_TID;

static int perf_open(int perf_id, pid_t pid, int inherit, int disabled, uint64_t sample_type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = perf_id,
		.sample_period = 1,
		.disabled = disabled,
		.inherit = inherit,
		.sample_type = sample_type,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Returns true if the limit could be raised. Raised only when needed, as a command that is started
 * later inherits it.
 */
static bool raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

static int perf_open_patiently(int perf_id, pid_t pid, int inherit, int disabled,
			       uint64_t sample_type)
{
	int fd = -EINTR;

	/* EINTR: a signal (perf_event_open is not restarted), or an ftrace user, who remains. */
	for (int tries = 0; fd == -EINTR && tries < 5; tries++)
		fd = perf_open(perf_id, pid, inherit, disabled, sample_type);
	if (fd == -EMFILE && raise_descriptor_limit())
		fd = perf_open(perf_id, pid, inherit, disabled, sample_type);
	return fd;
}

int dynevent_perf_open(int perf_id, pid_t pid, int inherit, int disabled)
{
	int fd = -EINVAL;

	if (inherit)
		fd = perf_open_patiently(perf_id, pid, inherit, disabled, never_swapped);
	return fd == -EINVAL ? perf_open_patiently(perf_id, pid, inherit, disabled, 0) : fd;
}

/* Tries to open the shut event (dynevent_session.h). Any unexpected result counts as in use. */
static bool event_is_free(int perf_id)
{
	int fd = dynevent_perf_open(perf_id, 0, 0, 1);

	if (fd >= 0)
		close(fd);
	return fd == -EINVAL;
}

static bool event_becomes_free(int perf_id, int tries)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	while (!event_is_free(perf_id)) {
		if (--tries <= 0)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int dynevent_erase(const char *group, const char *event, int tries)
{
	int ret, perf_id = tracing_event_id(group, event);

	if (perf_id == -ENOENT)
		return 0; /* another process removed it */
	if (perf_id < 0)
		return perf_id;
	if (!event_becomes_free(perf_id, tries))
		return -EBUSY;
	ret = tracing_remove(group, event);
	return ret == -ENOENT ? 0 : ret;
}

/* Deletes every event of a dead session, whose lock the caller holds. Returns how many are left. */
static size_t sweep_group(const char *group, int tries)
{
	char **events = tracing_events(group);
	size_t n_left = 0;

	for (char **event = events; event && *event; event++)
		n_left += dynevent_erase(group, *event, tries) != 0;
	tracing_events_free(events);
	return n_left;
}

/*
 * Whether the path still leads to the open file: between open and flock, another session may have
 * swept the path, and a third one may have taken it.
 */
static bool is_still_at(int fd, const char *path)
{
	struct stat here, there;

	return !fstat(fd, &here) && !stat(path, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static void sweep_session(const char *name, int tries)
{
	char path[512], group[300];
	size_t n_left;
	int fd;

	snprintf(path, sizeof(path), "%s/%s%s", LOCK_DIR, name, LOCK_SUFFIX);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB) && is_still_at(fd, path)) {
		dynevent_gate_shut(fd);
		snprintf(group, sizeof(group), "%s%s", GROUP_PREFIX, name);
		n_left = sweep_group(group, tries);
		if (!n_left)
			unlink(path);
		log_detail("swept the dead session %s, %zu of its events are in use", name, n_left);
	}
	close(fd);
}

static bool is_session_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == strlen(name) && *name;
}

static void sweep_dead_sessions(int tries)
{
	struct dirent *entry;
	DIR *dir = opendir(LOCK_DIR);

	while (dir && (entry = readdir(dir))) {
		char *suffix = strstr(entry->d_name, LOCK_SUFFIX);

		if (!suffix || strcmp(suffix, LOCK_SUFFIX))
			continue;
		*suffix = '\0';
		if (is_session_name(entry->d_name))
			sweep_session(entry->d_name, tries);
	}
	if (dir)
		closedir(dir);
}

/*
 * Makes and locks a lock file with a random name. -EAGAIN: another session swept the file before it
 * was locked; try another name.
 */
static int make_lock_file(struct dynevent_session *s)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(s->name, sizeof(s->name), "%016llx", (unsigned long long)random);
	snprintf(s->group, sizeof(s->group), "%s%s", GROUP_PREFIX, s->name);
	snprintf(s->gate, sizeof(s->gate), "%s/%s%s", LOCK_DIR, s->name, LOCK_SUFFIX);
	s->lock_fd = open(s->gate, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0)
		return -errno;
	if (!flock(s->lock_fd, LOCK_EX | LOCK_NB) && is_still_at(s->lock_fd, s->gate))
		return 0;
	close(s->lock_fd);
	s->lock_fd = -1;
	return -EAGAIN;
}

static int lock_session(struct dynevent_session *s, struct err *err)
{
	int e = -EAGAIN;

	if (mkdir(LOCK_DIR, 0755) && errno != EEXIST)
		return err_set(err, -errno,
			       "cannot make %s for the lock file: %s; run with sudo, /run writable",
			       LOCK_DIR, strerror(errno));
	for (int tries = 0; e == -EAGAIN && tries < 10; tries++)
		e = make_lock_file(s);
	if (e)
		return err_set(err, e,
			       "cannot make a lock file in %s: %s; run with sudo, %s writable",
			       LOCK_DIR, strerror(-e), LOCK_DIR);
	return 0;
}

static int open_control(struct dynevent_session *s, struct err *err)
{
	int fd = tracing_control();

	if (fd >= 0) {
		s->control_fd = fd;
		return 0;
	}
	switch (fd) {
	case -EACCES:
		return err_set(err, fd, "probes need root; run with sudo");
	case -EPERM:
		return err_set(err, fd,
			       "the kernel's lockdown forbids %s/uprobe_events; boot without "
			       "lockdown=confidentiality",
			       tracing_directory());
	case -ENOENT:
		return err_set(err, fd,
			       "this kernel has no uprobe events (%s/uprobe_events); use one with "
			       "CONFIG_UPROBE_EVENTS",
			       tracing_directory());
	default:
		return err_set(err, fd,
			       "cannot write %s/uprobe_events: %s; run with sudo, tracefs mounted "
			       "writable",
			       tracing_directory(), strerror(-fd));
	}
}

int dynevent_session_open(struct dynevent_session **session, struct err *err)
{
	struct dynevent_session *s = xcalloc(1, sizeof(*s));
	int e;

	s->lock_fd = s->control_fd = -1;
	e = tracing_mount(err);
	if (!e)
		e = open_control(s, err);
	if (!e)
		e = lock_session(s, err);
	if (e) {
		dynevent_session_close(s);
		return e;
	}
	sweep_dead_sessions(1);
	*session = s;
	return 0;
}

void dynevent_session_close(struct dynevent_session *s)
{
	if (!s)
		return;
	while (s->events.n)
		dynevent_delete(*vec_last(&s->events));
	vec_release(&s->events);
	if (s->lock_fd >= 0) {
		/*
		 * A session that was killed shortly before this one started may still have been
		 * closing its events then.
		 */
		sweep_dead_sessions(DYNEVENT_PATIENCE);
		if (!s->left_behind)
			unlink(s->gate);
		close(s->lock_fd);
	}
	if (s->control_fd >= 0)
		close(s->control_fd);
	free(s);
}
