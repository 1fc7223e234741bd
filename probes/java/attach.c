// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The attach protocol of HotSpot machines, as jcmd speaks it: a file requests the connection,
 * SIGQUIT makes the machine look for the file and open a socket, and the socket takes the command
 * that loads the agent.
 *
 * Any user may own the machine, and it may be hostile. So a child process talks to it, with the
 * machine's identity and root: links and files then lead to nothing that the machine's user could
 * not reach anyway. The socket must belong to that user, and the machine itself must listen on it.
 * The signal goes to the process that was checked, even if its number has been given again. The
 * agent is a file that only the recorder can write.
 */
#include "probes/java/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/identity.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/reap.h"
#include "base/text.h"
#include "probes/java/pauses.h"
#include "probes/java/preload/preload.h"
#include "probes/java/place.h"
#include "probes/process/status.h"
#include "symbol/maps.h"

#define PATIENCE_NS  10000000000ull
#define TURN_NS	     20000000ull
#define LAST_WORD_NS 1000000000ull /* in which the child may end by itself */
#define REPLY_BYTES  256
/* The only two descriptors above stderr of the child that talks to a machine. */
#define ANSWERS_FD 3
#define MACHINE_FD 4

/* Returns whether the process handles SIGQUIT, which would end it otherwise. */
static bool catches_quit(pid_t pid)
{
	char *line = status_line(pid, "SigCgt:");
	bool catches = line && strtoull(line, NULL, 16) & 1ull << (SIGQUIT - 1);

	free(line);
	return catches;
}

/* Returns 1 if it does, 0 if not, or -EINTR if a signal that ends ispot cut the reading short. */
static int maps_jvm(pid_t pid)
{
	struct mappings maps = { 0 };
	bool found = false;

	mappings_read(&maps, pid, NULL);
	vec_for_each (&maps, const struct mapping, m)
		found |= strstr(m->path, "/libjvm.so") != NULL;
	mappings_release(&maps);
	return !found && interrupt_pending() ? -EINTR : found;
}

/* ---- what runs as the machine's user, in its root ---- */

/* A machine as the kernel described it when it was first checked. */
struct machine {
	pid_t pid, inner;
	int pidfd;
	uid_t uid;
	gid_t gid, groups[IDENTITY_GROUPS_MAX];
	int n_groups;
	bool in_its_root; /* this process is in its root, so paths are the machine's own */
};

static bool read_machine(struct machine *m, pid_t pid)
{
	char *line = status_line(pid, "Groups:"), *at = line;
	bool found = line && status_effective(pid, "Uid:", &m->uid) &&
		     status_effective(pid, "Gid:", &m->gid);

	for (int used; found && at && m->n_groups < IDENTITY_GROUPS_MAX; at += used)
		if (sscanf(at, "%u%n", &m->groups[m->n_groups], &used) != 1)
			break;
		else
			m->n_groups++;
	free(line);
	return found;
}

/* Root can open its own files and sockets without capabilities. A container's root may have had
 * fewer than ispot has. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* A process keeps its number until it is waited for. So if it still exists, everything that was
 * read by its number was its own. */
static bool is_there(const struct machine *m)
{
	return !syscall(SYS_pidfd_send_signal, m->pidfd, 0, NULL, 0);
}

/*
 * Gives this process the machine's identity and root. From here on it can reach what the machine's
 * user can, and nothing else. That user cannot read its memory, which is a copy of the recorder's.
 * A change of the user cancels the signal at the parent's end, so the process requests it again.
 */
static int become(struct machine *m, pid_t parent)
{
	char root[64];

	if (geteuid() == 0) {
		snprintf(root, sizeof(root), "/proc/%d/root", m->pid);
		if (chroot(root) || chdir("/"))
			return -errno;
		if (!is_there(m))
			return -ESRCH;
		if (setgroups((size_t)m->n_groups, m->groups) ||
		    setresgid(m->gid, m->gid, m->gid) || setresuid(m->uid, m->uid, m->uid))
			return -errno;
		m->in_its_root = true;
		if (drop_capabilities())
			return -EPERM;
	}
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGTERM) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/* Connects to a socket of the machine's user on which the machine itself listens. */
static int try_connect(const struct machine *m, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t n = sizeof(peer);
	struct stat st;
	int fd;

	if (strlen(path) >= sizeof(a.sun_path) || lstat(path, &st) || !S_ISSOCK(st.st_mode) ||
	    st.st_uid != m->uid || st.st_mode & (S_IWGRP | S_IWOTH))
		return -1;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) && peer.pid == m->pid &&
	    peer.uid == m->uid)
		return fd;
	close(fd);
	return -1;
}

static volatile sig_atomic_t told; /* SIGTERM came: the child removes its files and ends */

static void on_signal(int number)
{
	(void)number;
	told = 1;
}

/* Makes the file that requests the socket. A file that a killed tool of the machine's user has left
 * behind serves as well. */
static int make_request(const struct machine *m, const char *ask)
{
	int fd = open(ask, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd >= 0)
		close(fd);
	else if (errno != EEXIST)
		return -errno;
	else if (lstat(ask, &st) || !S_ISREG(st.st_mode) || st.st_uid != m->uid)
		return -EEXIST;
	return 0;
}

/* Makes the requesting file and sends the signal. The file is gone again when this returns. */
static int wake(const struct machine *m, const char *ask, const char *socket_path)
{
	uint64_t since = clock_now_ns();
	int made = -1, ret = make_request(m, ask);

	if (ret)
		return ret;
	if (!syscall(SYS_pidfd_send_signal, m->pidfd, SIGQUIT, NULL, 0))
		while (!told && (made = try_connect(m, socket_path)) < 0 &&
		       clock_now_ns() - since < PATIENCE_NS)
			clock_sleep_ns(TURN_NS);
	unlink(ask);
	return made < 0 ? -ETIMEDOUT : made;
}

/* A recorder that is not root reaches the machine's root through /proc. */
static int open_socket(const struct machine *m)
{
	char *root = m->in_its_root ? xstrdup("") : xasprintf("/proc/%d/root", m->pid);
	char *path = xasprintf("%s/tmp/.java_pid%d", root, m->inner);
	char *ask = xasprintf("%s/tmp/.attach_pid%d", root, m->inner);
	int fd = try_connect(m, path);

	if (fd < 0)
		fd = wake(m, ask, path);
	free(path);
	free(ask);
	free(root);
	return fd;
}

/* A request consists of its version, a command and three arguments. */
static int ask(int fd, const char *const words[4])
{
	int ret = write(fd, "1", 2) < 0 ? -errno : 0;

	for (size_t i = 0; i < 4; i++)
		if (write(fd, words[i], strlen(words[i]) + 1) < 0)
			ret = -errno;
	return ret;
}

/* The child's answer: the machine's whole reply, or the reason that there is none. */
struct reply {
	int code; /* 0 or -errno */
	enum { STEP_BECOME, STEP_SEE, STEP_OPEN, STEP_ASK, STEP_ANSWER } step;
	char text[REPLY_BYTES];
};

static void read_answer(int fd, struct reply *r)
{
	size_t n = 0;
	ssize_t got;

	/* the parent ends this process at its deadline */
	while (!told && n < sizeof(r->text) - 1 &&
	       (got = read(fd, r->text + n, sizeof(r->text) - 1 - n)) > 0)
		n += (size_t)got;
	r->text[n] = '\0';
}

static void converse(struct machine *m, pid_t parent, const char *sees, const char *const words[4],
		     struct reply *r)
{
	int fd = -1;
	char *path;

	r->step = STEP_BECOME;
	r->code = become(m, parent);
	if (r->code)
		return;
	r->step = STEP_SEE;
	path = m->in_its_root ? xstrdup(sees) : xasprintf("/proc/%d/root%s", m->pid, sees);
	r->code = access(path, R_OK) ? -errno : 0;
	free(path);
	if (r->code)
		return;
	r->step = STEP_OPEN;
	fd = open_socket(m);
	r->code = fd < 0 ? fd : 0;
	if (r->code)
		return;
	r->step = STEP_ASK;
	r->code = ask(fd, words);
	if (r->code)
		return;
	r->step = STEP_ANSWER;
	read_answer(fd, r);
}

/* Closes the recording's descriptors, which must not exist in another root, and opens stdin to
 * stderr as /dev/null. */
static bool close_others(struct machine *m, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int kept = fcntl(out, F_DUPFD_CLOEXEC, MACHINE_FD + 1);
	int machine = fcntl(m->pidfd, F_DUPFD_CLOEXEC, MACHINE_FD + 1);

	if (null < 0 || kept < 0 || machine < 0)
		return false;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	m->pidfd = MACHINE_FD;
	return dup2(kept, ANSWERS_FD) >= 0 && dup2(machine, MACHINE_FD) >= 0 &&
	       !syscall(SYS_close_range, MACHINE_FD + 1, ~0u, 0);
}

/*
 * SIGTERM, sent by the recorder or at its end, makes the child remove its files and end. If the
 * machine holds the child up all the same, the alarm ends it.
 */
static void child(struct machine *m, pid_t parent, const char *sees, const char *const words[4],
		  int out)
{
	const struct sigaction ends = { .sa_handler = on_signal };
	struct reply r = { 0 };
	sigset_t none;

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &ends, NULL);
	sigemptyset(&none);
	signal(SIGINT, SIG_IGN); /* of the terminal: the recorder handles it */
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(2 * PATIENCE_NS / 1000000000);
	if (!close_others(m, out))
		_exit(1);
	converse(m, parent, sees, words, &r);
	_exit(write(ANSWERS_FD, &r, sizeof(r)) == sizeof(r) ? 0 : 1);
}

/* Waits for the reply. One deadline covers all that the machine does; a signal ends the wait at
 * once. */
static int await(int in, const sigset_t *ends, struct reply *r)
{
	uint64_t since = clock_now_ns();
	struct pollfd p = { .fd = in, .events = POLLIN };

	while (clock_now_ns() - since < 2 * PATIENCE_NS) {
		if (ends && interrupt_pending())
			return -EINTR;
		if (poll(&p, 1, TURN_NS / 1000000) > 0)
			return read(in, r, sizeof(*r)) == sizeof(*r) ? 0 : -EIO;
	}
	return -ETIMEDOUT;
}

/* Lets the child remove its file and end. It runs as the machine's user, who may hold it up. */
static void end_child(pid_t pid)
{
	uint64_t since = clock_now_ns();
	pid_t ended = 0;

	kill(pid, SIGTERM);
	while (!ended && clock_now_ns() - since < LAST_WORD_NS) {
		ended = waitpid(pid, NULL, WNOHANG);
		if (!ended)
			clock_sleep_ns(TURN_NS / 4);
	}
	if (!ended)
		reap(pid);
}

static int talk(struct machine *m, const char *sees, const char *const words[4],
		const sigset_t *ends, struct reply *r)
{
	pid_t pid, parent = getpid();
	int ends_of[2], ret;

	if (pipe2(ends_of, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		child(m, parent, sees, words, ends_of[1]);
	close(ends_of[1]);
	ret = pid < 0 ? -errno : await(ends_of[0], ends, r);
	close(ends_of[0]);
	if (pid > 0)
		end_child(pid);
	return ret;
}

/* ---- requests ---- */

static int open_machine(struct machine *m, pid_t pid)
{
	*m = (struct machine){ .pid = pid, .inner = status_inner_pid(pid), .pidfd = -1 };
	m->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (m->pidfd < 0)
		return -errno;
	return read_machine(m, pid) ? 0 : -ESRCH;
}

/* A reply that begins with "0\n" means success; some machines append a word. */
static bool succeeded(const struct reply *r)
{
	return !r->code && r->step == STEP_ANSWER && *r->text == '0' &&
	       !strstr(r->text, "return code: -") && !strstr(r->text, "not loaded");
}

static int cannot_talk(pid_t pid, int ret, struct err *err)
{
	if (ret == -EINTR)
		return err_set(err, ret, "ended while process %d was attached to; record again",
			       pid);
	return err_set(err, ret == -EIO ? -ETIMEDOUT : ret,
		       "the Java machine of process %d does not answer; was it started with "
		       "-XX:+DisableAttachMechanism?",
		       pid);
}

static int explain(pid_t pid, const char *place, struct reply *r, struct err *err)
{
	if (r->step == STEP_SEE)
		return err_set(err, -ENOTSUP,
			       "process %d is in a container that does not see %s; record its "
			       "command instead",
			       pid, place);
	if (r->step == STEP_OPEN && r->code == -ETIMEDOUT)
		return cannot_talk(pid, r->code, err);
	if (r->code)
		return err_set(
			err, r->code,
			"cannot attach to the Java machine of process %d: %s; run as its user "
			"or as root, and look whether its /tmp can be written",
			pid, strerror(-r->code));
	r->text[strcspn(r->text, "\r")] = '\0';
	for (char *c = r->text; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	text_printable(r->text, sizeof(r->text), r->text);
	return err_set(err, -EIO,
		       "the Java machine of process %d did not load the agent (%s); see what it "
		       "wrote to its error output",
		       pid, *r->text ? r->text : "no answer");
}

static int load(struct machine *m, const char *place, const sigset_t *ends, struct err *err)
{
	char *directory = java_place_of(place, m->uid);
	char *agent = xasprintf("%s/" JAVA_AGENT, place);
	const char *const words[] = { "load", agent, "true", directory };
	struct reply r = { 0 };
	int ret = talk(m, agent, words, ends, &r);

	if (ret)
		ret = cannot_talk(m->pid, ret, err);
	else if (!succeeded(&r))
		ret = explain(m->pid, place, &r, err);
	free(agent);
	free(directory);
	return ret;
}

bool java_attach_log(pid_t pid, const char *place, const sigset_t *ends, bool on)
{
	struct reply r = { 0 };
	struct machine m;
	bool done = !open_machine(&m, pid);
	char *directory = java_place_of(place, m.uid);
	char *log = java_pauses_log(m.inner, directory, on);
	const char *const words[] = { "jcmd", log, "", "" };

	done = done && !talk(&m, "/", words, ends, &r) && succeeded(&r);
	if (m.pidfd >= 0)
		close(m.pidfd);
	free(directory);
	free(log);
	return done;
}

int java_attach(pid_t pid, const char *place, const sigset_t *ends, struct err *err)
{
	struct machine m;
	int ret = open_machine(&m, pid), is_java = ret ? 0 : maps_jvm(pid);

	if (is_java < 0)
		ret = cannot_talk(pid, is_java, err);
	else if (!is_java)
		ret = err_set(err, -EINVAL,
			      "process %d is no Java machine, or not yours; name one that is, or "
			      "leave out --java",
			      pid);
	else if (!catches_quit(pid))
		ret = err_set(err, -EINVAL,
			      "the Java machine of process %d runs with -Xrs or is only starting, "
			      "so it cannot be attached to; record its command instead",
			      pid);
	else
		ret = load(&m, place, ends, err);
	if (m.pidfd >= 0)
		close(m.pidfd);
	return ret;
}
