// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The attach protocol of HotSpot machines, as jcmd speaks it: a file asks for it, SIGQUIT makes the
 * machine look for the file and open a socket, and over that it is told what to load.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/java/pauses.h"
#include "probes/java/preload/preload.h"
#include "probes/java/record.h"

#define PATIENCE_NS 10000000000ull
#define TURN_NS	    20000000ull

/* A line of /proc/PID/status; NULL: not there. To be freed. */
static char *status_line(pid_t pid, const char *name)
{
	char path[64], line[512], *found = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			found = xstrdup(line + strlen(name));
	if (f)
		fclose(f);
	return found;
}

/* A process that does not wait for SIGQUIT is ended by it. */
static bool catches_quit(pid_t pid)
{
	char *line = status_line(pid, "SigCgt:");
	bool catches = line && strtoull(line, NULL, 16) & 1ull << (SIGQUIT - 1);

	free(line);
	return catches;
}

static bool maps_jvm(pid_t pid)
{
	char path[64], line[4500];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "/libjvm.so");
	if (f)
		fclose(f);
	return found;
}

/* As the process itself has its number. */
static pid_t inner_pid(pid_t pid)
{
	char *line = status_line(pid, "NSpid:"), *last = line ? strrchr(line, '\t') : NULL;
	pid_t inner = last ? atoi(last) : pid;

	free(line);
	return inner > 0 ? inner : pid;
}

static int try_connect(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return -1;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Makes the file that asks, and sends the signal; gone again when this returns. */
static int wake(pid_t pid, const char *ask, const char *socket_path, struct err *err)
{
	uint64_t since = clock_now_ns();
	int fd = open(ask, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), made = -1;
	char path[64];
	struct stat st;

	if (fd < 0)
		return err_set(err, -errno, "cannot make %s: %s; run as the user of process %d",
			       ask, strerror(errno), pid);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!stat(path, &st) && st.st_uid != geteuid() && fchown(fd, st.st_uid, st.st_gid))
		since = 0;
	close(fd);
	if (since && !kill(pid, SIGQUIT))
		while ((made = try_connect(socket_path)) < 0 &&
		       clock_now_ns() - since < PATIENCE_NS)
			clock_sleep_ns(TURN_NS);
	unlink(ask);
	return made >= 0 ? made
			 : err_set(err, -ETIMEDOUT,
				   "the Java machine of process %d does not answer; was it started "
				   "with -XX:+DisableAttachMechanism?",
				   pid);
}

static int open_socket(pid_t pid, struct err *err)
{
	char *path = xasprintf("/proc/%d/root/tmp/.java_pid%d", pid, inner_pid(pid));
	char *ask = xasprintf("/proc/%d/root/tmp/.attach_pid%d", pid, inner_pid(pid));
	int fd = try_connect(path);

	if (fd < 0)
		fd = wake(pid, ask, path, err);
	free(path);
	free(ask);
	return fd;
}

/* A request is its version, a word and three arguments. */
static int ask(int fd, pid_t pid, const char *const words[4], struct err *err)
{
	int ret = write(fd, "1", 2) < 0 ? -errno : 0;

	for (size_t i = 0; i < 4; i++)
		if (write(fd, words[i], strlen(words[i]) + 1) < 0)
			ret = -errno;
	return ret ? err_set(err, ret, "the Java machine of process %d hung up; try again", pid)
		   : 0;
}

/* "0\n" is success, from some machines with a word behind it. */
static bool succeeded(int fd, char *reply, size_t room)
{
	size_t n = 0;
	ssize_t got;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (n < room - 1 && poll(&p, 1, PATIENCE_NS / 1000000) > 0 &&
	       (got = read(fd, reply + n, room - 1 - n)) > 0)
		n += (size_t)got;
	reply[n] = '\0';
	return *reply == '0' && !strstr(reply, "return code: -") && !strstr(reply, "not loaded");
}

static int load(int fd, pid_t pid, const char *directory, struct err *err)
{
	char *agent = xasprintf("%s/" JAVA_AGENT, directory), reply[256];
	const char *const words[] = { "load", agent, "true", directory };
	int ret = ask(fd, pid, words, err);

	free(agent);
	if (ret || succeeded(fd, reply, sizeof(reply)))
		return ret;
	reply[strcspn(reply, "\r")] = '\0';
	for (char *c = reply; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	text_printable(reply, sizeof(reply), reply);
	return err_set(err, -EIO,
		       "the Java machine of process %d did not load the agent (%s); see what it "
		       "wrote to its error output",
		       pid, *reply ? reply : "no answer");
}

bool java_attach_log(pid_t pid, const char *directory, bool on)
{
	char *log = java_pauses_log(inner_pid(pid), directory, on), reply[256] = "";
	const char *const words[] = { "jcmd", log, "", "" };
	int fd = open_socket(pid, NULL);
	bool done = fd >= 0 && !ask(fd, pid, words, NULL) && succeeded(fd, reply, sizeof(reply));

	if (fd >= 0)
		close(fd);
	free(log);
	return done;
}

int java_attach(pid_t pid, const char *directory, struct err *err)
{
	char *seen = xasprintf("/proc/%d/root%s/config", pid, directory);
	bool elsewhere = access(seen, R_OK);
	int fd, ret;

	free(seen);
	if (!maps_jvm(pid))
		return err_set(err, -EINVAL,
			       "process %d is no Java machine, or not yours; name one that is, or "
			       "leave out --java",
			       pid);
	if (!catches_quit(pid))
		return err_set(err, -EINVAL,
			       "the Java machine of process %d runs with -Xrs or is only starting, "
			       "so it cannot be attached to; record its command instead",
			       pid);
	if (elsewhere)
		return err_set(err, -ENOTSUP,
			       "process %d is in a container that does not see %s; record its "
			       "command instead",
			       pid, directory);
	fd = open_socket(pid, err);
	if (fd < 0)
		return fd;
	ret = load(fd, pid, directory, err);
	close(fd);
	return ret;
}
