// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/identity.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "base/text.h"
#include "probes/inproc/inproc.h"
#include "probes/java/counted.h"
#include "probes/java/preload/preload.h"
#include "probes/recording/options.h"

#define ROOM_LEAST (64u << 20) /* room for some hundred threads */
#define PREFIX	   "ispot-java."

/* The agent is part of ispot only if the build had the headers of a JDK. */
extern const char ispot_java_agent_start[] __attribute__((weak));
extern const char ispot_java_agent_end[] __attribute__((weak));
extern const char ispot_java_preload_start[] __attribute__((weak));
extern const char ispot_java_preload_end[] __attribute__((weak));

/*
 * Chooses a directory in memory, unless programs may not be mapped from there or it is too small,
 * as in a container. Names with blanks or colons do not work in LD_PRELOAD, nor do the other
 * characters in options of Java machines.
 */
static const char *choose(void)
{
	const char *dirs[] = { "/dev/shm", getenv("TMPDIR"), "/var/tmp" };
	struct statvfs fs;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i] && !strpbrk(dirs[i], " :,\"'%") && !statvfs(dirs[i], &fs) &&
		    !(fs.f_flag & (ST_NOEXEC | ST_RDONLY)) &&
		    (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_LEAST)
			return dirs[i];
	return "/tmp";
}

/*
 * Removes a directory by descriptors, because anybody may have made a link or directory of that
 * name, and may replace it at any time. Only what this user has made is removed.
 */
static void remove_place(int in, const char *name)
{
	int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	DIR *dir = fd < 0 || fstat(fd, &st) || st.st_uid != geteuid() ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t uid;

	while (dir && (e = readdir(dir)))
		if (!text_parse_u64(e->d_name, &uid))
			temporary_remove_at(fd, e->d_name);
	if (dir) {
		temporary_remove_at(in, name);
		closedir(dir);
	} else if (fd >= 0) {
		close(fd);
	}
}

void java_place_sweep(const char *in)
{
	DIR *dir = opendir(in);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		int pid = strncmp(e->d_name, PREFIX, strlen(PREFIX))
				  ? 0
				  : atoi(e->d_name + strlen(PREFIX));

		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			remove_place(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
}

static int write_file(const char *dir, const char *name, const void *data, size_t n, mode_t mode)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	ssize_t put = fd < 0 ? -1 : write(fd, data, n);
	int ret = put == (ssize_t)n ? 0 : put < 0 ? -errno : -ENOSPC;

	if (fd >= 0 && fchmod(fd, mode))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

uint64_t java_place_ring_bytes(const struct session_options *o)
{
	uint64_t bytes = o->ring_bytes ? o->ring_bytes : INPROC_RING_BYTES;

	return bytes - bytes % sizeof(struct inproc_record);
}

static int write_config(const char *dir, const struct session_options *o,
			const struct pmu_list *counted)
{
	struct text t = { 0 };
	int ret;

	text_printf(&t, "ring-bytes %llu\n", (unsigned long long)java_place_ring_bytes(o));
	text_printf(&t, "stacks-ns %llu\n", (unsigned long long)o->slow_stack_ns);
	java_counted_config(counted, &t);
	for (size_t i = 0; i < o->n_patterns; i++)
		text_printf(&t, "pattern %s\n", o->patterns[i]);
	ret = write_file(dir, "config", t.s, t.n, 0644);
	text_release(&t);
	return ret;
}

/*
 * Makes a user's own directory, where the user's processes make their regions and no other user can
 * change them.
 */
static int make_for(const char *place, uid_t uid, gid_t gid, const struct session_options *o,
		    const struct pmu_list *counted)
{
	char *dir = java_place_of(place, uid);
	int ret = mkdir(dir, 0700) ? -errno : 0;

	/* processes that the user starts under another identity must reach the agent too */
	if (!ret && chmod(dir, 0711))
		ret = -errno;
	if (!ret)
		ret = write_config(dir, o, counted);
	if (!ret && uid != geteuid() && chown(dir, uid, gid))
		ret = -errno;
	free(dir);
	return ret == -EEXIST ? 0 : ret;
}

/* Makes the directories of the command's user, or of the users of the processes. */
static int make_for_users(const char *place, const struct session_options *o,
			  const struct pmu_list *counted)
{
	int ret = 0;

	if (o->user)
		return make_for(place, o->user->uid, o->user->gid, o, counted);
	if (!o->n_pids)
		return make_for(place, geteuid(), getegid(), o, counted);
	for (size_t i = 0; !ret && i < o->n_pids; i++) {
		char path[64];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d", o->pids[i]);
		ret = stat(path, &st) ? -errno : make_for(place, st.st_uid, st.st_gid, o, counted);
	}
	return ret;
}

char *java_place_of(const char *place, uid_t uid)
{
	return xasprintf("%s/%u", place, (unsigned)uid);
}

void java_place_remove(const char *place)
{
	remove_place(AT_FDCWD, place);
}

int java_place_make(const struct session_options *o, const struct pmu_list *counted, char **path,
		    struct err *err)
{
	const char *dir;
	int ret = 0;

	*path = NULL;
	if (!ispot_java_agent_start)
		return err_set(err, -ENOTSUP,
			       "this ispot was built without its Java agent; install a JDK "
			       "(openjdk-17-jdk-headless) and build it again");
	dir = choose();
	java_place_sweep(dir);
	*path = xasprintf("%s/" PREFIX "%d.XXXXXX", dir, getpid());
	if (!mkdtemp(*path)) {
		ret = -errno;
		err_set(err, ret, "cannot make %s: %s; set TMPDIR", *path, strerror(errno));
		free(*path);
		*path = NULL;
		return ret;
	}
	/*
	 * The agent belongs to the recorder: programs that load it may enter the directory, but
	 * change nothing in it.
	 */
	if (chmod(*path, 0711))
		ret = -errno;
	if (!ret)
		ret = write_file(*path, JAVA_AGENT, ispot_java_agent_start,
				 (size_t)(ispot_java_agent_end - ispot_java_agent_start), 0755);
	if (!ret)
		ret = write_file(*path, JAVA_PRELOAD, ispot_java_preload_start,
				 (size_t)(ispot_java_preload_end - ispot_java_preload_start), 0755);
	if (!ret)
		ret = make_for_users(*path, o, counted);
	return ret ? err_set(err, ret, "cannot put the Java agent into %s: %s; set TMPDIR", *path,
			     strerror(-ret))
		   : 0;
}
