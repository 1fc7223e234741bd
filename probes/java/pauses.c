/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/java/pauses.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/regular.h"
#include "base/text.h"
#include "probes/inproc/inproc.h"
#include "probes/java/launch.h"
#include "probes/java/preload/preload.h"
#include "probes/java/record.h"

#define LINE_MAX_BYTES 1024

/*
 * The program owns the log and may give it any size, so each turn reads at most this much of a log,
 * and of all logs together. Later turns read the rest; the last turn reads no more than any other.
 */
#define LOG_TURN_BYTES	(1l << 20)
#define LOGS_TURN_BYTES (8l << 20)
#define LOG_TURN_LINES	4096 /* limit for empty lines, which hardly count as bytes */
#define FIND_TURN_NAMES 4096 /* limit for the names in a user's directory */

/* ---- the option ---- */

/*
 * Returns the version from a line such as JAVA_VERSION="17.0.15" (1.8.0 and the like before 9), or
 * 0 if it is unknown.
 */
static int version_of(const char *java)
{
	char line[256], *home = xstrdup(java), *slash = strrchr(home, '/'), *release;
	int version = 0, found;
	FILE *f;

	*slash = '\0';
	slash = strrchr(home, '/');
	release = xasprintf("%.*s/release", slash ? (int)(slash - home) : 0, home);
	f = regular_fopen(release);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "JAVA_VERSION=\"%d", &found) == 1)
			version = found;
	if (f)
		fclose(f);
	free(release);
	free(home);
	return version;
}

char *java_pauses_option(const char *program, const char *directory)
{
	char path[PATH_MAX];

	if (strpbrk(directory, ":,\"%") || !java_find_program(program, path) ||
	    version_of(path) < 9)
		return NULL;
	return xasprintf("%s%s%s", JAVA_PAUSES_LOG, directory, JAVA_PAUSES_FILE);
}

char *java_pauses_log(pid_t pid, const char *directory, bool on)
{
	char *of = xasprintf("VM.log output=%s/" JAVA_PAUSES "%d.log", directory, (int)pid), *all;

	all = xasprintf("%s %s", of,
			on ? "output_options=filecount=1,filesize=" JAVA_PAUSES_BYTES
			     " what=safepoint=info decorators=timenanos"
			   : "what=all=off");
	free(of);
	return all;
}

/* ---- lines ---- */

/*
 * [3381076198241ns] Safepoint "ThreadDump", …, Total: 36964 ns			JDK 13 and later
 * [3381076198241ns] Total time for which application threads were stopped: 0.0000369 seconds, …
 */
bool java_pauses_parse(const char *line, uint64_t *end_ns, uint64_t *ns)
{
	static const char stopped[] = "threads were stopped: ";
	const char *total;
	double seconds;

	if (sscanf(line, "[%" SCNu64 "ns]", end_ns) != 1)
		return false;
	total = strstr(line, "Safepoint \"") ? strstr(line, " Total: ") : NULL;
	if (total)
		return sscanf(total, " Total: %" SCNu64 " ns", ns) == 1 && *ns <= *end_ns;
	total = strstr(line, stopped);
	if (!total || sscanf(total + sizeof(stopped) - 1, "%lf", &seconds) != 1 ||
	    !(seconds >= 0 && seconds < 1e6))
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return *ns <= *end_ns;
}

/* ---- files ---- */

void java_pauses_init(struct java_pauses *p, const char *directory)
{
	*p = (struct java_pauses){ .directory = directory };
}

static bool is_known(const struct java_pauses *p, pid_t pid)
{
	vec_for_each (&p->logs, const struct java_log, log)
		if (log->pid == pid)
			return true;
	return false;
}

static void find_in(struct java_pauses *p, DIR *dir, uid_t user)
{
	struct dirent *entry;
	unsigned names = 0;
	int pid, end;

	while (p->logs.n < INPROC_REGIONS_MAX && names++ < FIND_TURN_NAMES &&
	       (entry = readdir(dir))) {
		end = 0;
		if (sscanf(entry->d_name, JAVA_PAUSES "%d.log%n", &pid, &end) == 1 && end &&
		    !entry->d_name[end] && !is_known(p, pid))
			*vec_add(&p->logs) = (struct java_log){ .pid = pid, .user = user };
	}
}

static void find_logs(struct java_pauses *p)
{
	DIR *all = opendir(p->directory), *dir;
	struct dirent *entry;
	uint64_t user;

	while (all && (entry = readdir(all))) {
		char *path = text_parse_u64(entry->d_name, &user)
				     ? NULL
				     : xasprintf("%s/%s", p->directory, entry->d_name);

		dir = path ? opendir(path) : NULL;
		if (dir) {
			find_in(p, dir, (uid_t)user);
			closedir(dir);
		}
		free(path);
	}
	if (all)
		closedir(all);
}

/*
 * Reads whole lines from where the last reading ended; the rest of an incomplete line comes later.
 * Returns how many bytes were read.
 */
static long read_lines(struct java_log *log, int fd,
		       void (*visit)(void *self, pid_t pid, uint64_t end_ns, uint64_t ns),
		       void *self)
{
	FILE *f = fdopen(fd, "r");
	char line[LINE_MAX_BYTES];
	uint64_t end_ns, ns;
	long from = log->at;
	unsigned lines = 0;

	if (!f) {
		close(fd);
		return 0;
	}
	fseek(f, log->at, SEEK_SET);
	while (log->at - from < LOG_TURN_BYTES && lines++ < LOG_TURN_LINES &&
	       fgets(line, sizeof(line), f)) {
		size_t n = strlen(line);

		if (n && line[n - 1] != '\n' && n < sizeof(line) - 1)
			break;
		log->at = ftell(f);
		if (java_pauses_parse(line, &end_ns, &ns))
			visit(self, log->pid, end_ns, ns);
	}
	fclose(f);
	return log->at - from;
}

/*
 * Opens a regular file. The program owns the directory, so ispot neither follows a link nor waits
 * for a pipe there. Returns -1 if there is no such file.
 */
static int open_file(const char *name, struct stat *st)
{
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Reads on in a log, first in the full one, which has another name by now. Files are not kept open,
 * because a build may start thousands of machines.
 */
static long follow(const struct java_pauses *p, struct java_log *log,
		   void (*visit)(void *self, pid_t pid, uint64_t end_ns, uint64_t ns), void *self)
{
	char *name = xasprintf("%s/%u/" JAVA_PAUSES "%d.log", p->directory, (unsigned)log->user,
			       (int)log->pid);
	char *full = xasprintf("%s.0", name);
	struct stat now, before;
	int fd = open_file(name, &now), old;
	long n = 0;

	if (fd >= 0 && now.st_ino != log->inode) {
		old = log->inode ? open_file(full, &before) : -1;
		if (old >= 0 && before.st_ino == log->inode)
			n = read_lines(log, old, visit, self);
		else if (old >= 0)
			close(old);
		log->inode = now.st_ino;
		log->at = 0;
	}
	if (fd >= 0 && now.st_size > log->at)
		n += read_lines(log, fd, visit, self);
	else if (fd >= 0)
		close(fd);
	free(full);
	free(name);
	return n;
}

void java_pauses_read(struct java_pauses *p,
		      void (*visit)(void *self, pid_t pid, uint64_t end_ns, uint64_t ns),
		      void *self)
{
	long n = 0;

	find_logs(p);
	for (size_t i = 0; i < p->logs.n && n < LOGS_TURN_BYTES; i++)
		n += follow(p, &p->logs.data[p->next++ % p->logs.n], visit, self);
}

void java_pauses_release(struct java_pauses *p)
{
	vec_release(&p->logs);
}
