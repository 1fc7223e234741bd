/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lifecycle law of dynamic events (design fact 5) under dynevent's API: many points, late
 * sets, killed sessions, sweeps, and, only in guests because a mistake costs the kernel, events
 * that others hold open. "lifecycle live" (tests/live/dynevent.t) runs what is safe beside other
 * people's work.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/kernel/dynevent.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/kernel/tracing.h"
#include "tests/vm/guest/tap.h"

/* Blanks and '#' split and end the kernel's command lines. */
#define TARGET_FILE "/tmp/ispot lifecycle #1"
#define FOREIGN	    "vm_lifecycle_foreign"

static char tracefs[256], group[64];

/* A function that returns at once; the rest of the file nobody executes, so any offset can be
 * probed. */
#if defined(__x86_64__)
static const unsigned char code[] = { 0x90, 0xc3 };
#elif defined(__aarch64__)
static const unsigned char code[] = { 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code) || ftruncate(fd, 1 << 20))
		exit(2);
	close(fd);
}

/* Lines of uprobe_events that contain a word. */
static int count_lines(const char *word)
{
	char line[1024], path[300];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, word) != NULL;
	if (f)
		fclose(f);
	return n;
}

#define READINGS_MAX 200

/*
 * Whether so many lines contain the word. The kernel hands the file out a page at a time, by the
 * number of the line that comes next: where another recording deletes lines above meanwhile, as
 * many below are skipped. So a count that is too low is taken again.
 */
static bool has_lines(const char *word, int n)
{
	int found = count_lines(word);

	for (int i = 1; found < n && i < READINGS_MAX; i++) {
		usleep(10000);
		found = count_lines(word);
	}
	if (found != n)
		printf("# %d lines have %s, not %d\n", found, word, n);
	return found == n;
}

/* The same of the points of an event of the latest session of this process. */
static bool has_points(const char *event, int n)
{
	char word[128];

	snprintf(word, sizeof(word), "%s/%s ", group, event);
	return has_lines(word, n);
}

static int write_text(const char *below, const char *text)
{
	char path[512];
	int fd, e = 0;

	snprintf(path, sizeof(path), "%s/%s", tracefs, below);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		e = -errno;
	if (fd >= 0)
		close(fd);
	return e;
}

static struct dynevent_session *open_session(void)
{
	struct err err = { 0 };
	struct dynevent_session *s = NULL;

	if (dynevent_session_open(&s, &err)) {
		printf("# %s\n", err.text);
		exit(2);
	}
	snprintf(tracefs, sizeof(tracefs), "%s", tracing_directory());
	snprintf(group, sizeof(group), "%s", s->group);
	return s;
}

static struct dynevent *make_event(struct dynevent_session *s, enum point_class class, unsigned set,
				   int n)
{
	struct dynevent *ev = dynevent_new(s, class, set);
	struct err err = { 0 };

	for (int i = 0; i < n; i++)
		dynevent_add(ev, TARGET_FILE, 16 * i, i);
	if (dynevent_create(ev, NULL, NULL, &err))
		printf("# %s\n", err.text);
	return ev;
}

static int open_event(struct dynevent *ev)
{
	struct err err = { 0 };
	int fd = dynevent_open(ev, getpid(), 0, 1, &err);

	if (fd < 0)
		printf("# %s\n", err.text);
	return fd;
}

static int foreign_open(const char *event)
{
	return dynevent_perf_open(tracing_event_id(group, event), getpid(), 0, 1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void test_times(void)
{
	struct dynevent_session *s = open_session();
	double start = now_ms(), made, opened, closed;
	struct dynevent *ev = make_event(s, POINT_CODE, 0, 500);

	made = now_ms();
	ok(open_event(ev) >= 0, "500 points open");
	opened = now_ms();
	dynevent_delete(ev);
	closed = now_ms();
	printf("# 500 points: create %.1f ms, open %.1f ms, close and delete %.1f ms\n",
	       made - start, opened - made, closed - opened);
	dynevent_session_close(s);
}

static void refused(void *ctx, uint32_t id, int errnum)
{
	*(int *)ctx += id == 8 && errnum == EINVAL;
	*(int *)ctx += id == 9 && errnum == ENOENT;
}

static void test_refused(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *ev = dynevent_new(s, POINT_CODE, 0);
	int n_refused = 0;

	dynevent_add(ev, TARGET_FILE, 0, 7);
	dynevent_add(ev, TARGET_FILE, 1 << 30, 8);
	dynevent_add(ev, "/nowhere/at all", 0, 9);
	dynevent_add(ev, TARGET_FILE, 16, 10);
	dynevent_add(ev, TARGET_FILE, 16, 10);
	dynevent_create(ev, refused, &n_refused, NULL);
	ok(n_refused == 2, "a point beyond the file and one of no file are refused");
	ok(dynevent_n(ev) == 3 && has_lines(group, 3), "the others are made, a repeated one once");
	ok(open_event(ev) >= 0, "and open");
	dynevent_session_close(s);
}

static uint64_t hits(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void test_fires(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *entry = make_event(s, POINT_CODE, 0, 1),
			*ret = dynevent_new(s, POINT_RETURN, 0);
	int file = open(TARGET_FILE, O_RDONLY), entry_fd, return_fd;
	void (*function)(void) = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

	dynevent_add(ret, TARGET_FILE, 0, 0);
	dynevent_create(ret, NULL, NULL, NULL);
	entry_fd = dynevent_open(entry, getpid(), 0, 0, NULL);
	return_fd = dynevent_open(ret, getpid(), 0, 0, NULL);
	for (int i = 0; i < 97; i++)
		function();
	ok(hits(entry_fd) == 97,
	   "97 calls are 97 hits at the entry, in a file with blanks in its name");
	ok(hits(return_fd) == 97, "and 97 at the return");
	dynevent_session_close(s);
	for (int i = 0; i < 97; i++)
		function();
	munmap((void *)function, 4096);
	close(file);
}

#define KINDS	   3
#define KIND_SHIFT 32 /* of a tag's kind, above its id */

static void test_kinds(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *ev = dynevent_new(s, POINT_CODE, 0);
	int file = open(TARGET_FILE, O_RDONLY), fd;
	void (*function)(void) = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

	dynevent_add(ev, TARGET_FILE, 0, 2ull << KIND_SHIFT | 7);
	dynevent_add(ev, TARGET_FILE, sizeof(code) / 2, 7);
	dynevent_add(ev, TARGET_FILE, 0, 1ull << KIND_SHIFT | 7);
	dynevent_create(ev, NULL, NULL, NULL);
	ok(dynevent_n(ev) == KINDS,
	   "points of three kinds are made in one event, two of them at one offset");
	fd = dynevent_open(ev, getpid(), 0, 0, NULL);
	for (int i = 0; i < 97; i++)
		function();
	ok(hits(fd) == 97 * KINDS, "and 97 calls hit each of them");
	dynevent_session_close(s);
	munmap((void *)function, 4096);
	close(file);
}

static void test_many_points(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *entry = make_event(s, POINT_CODE, 0, 2000);
	struct dynevent *ret = make_event(s, POINT_RETURN, 0, 2000);

	ok(dynevent_n(entry) == 2000 && dynevent_n(ret) == 2000,
	   "2,000 points of each class are accepted");
	ok(has_lines(group, 4002), "and are in uprobe_events, with a gate per event");
	ok(open_event(entry) >= 0 && open_event(entry) >= 0 && open_event(ret) >= 0,
	   "they open, twice too");
	dynevent_session_close(s);
	ok(has_lines(group, 0), "closing the session deletes them");
}

#define N_ABOVE 60

/* Deletes lines that are above those that are counted. */
static void delete_above(void)
{
	char text[128];

	for (int i = 0; i < N_ABOVE; i++) {
		snprintf(text, sizeof(text), "-:" FOREIGN "/above%d\n", i);
		write_text("uprobe_events", text);
	}
}

static void test_others_delete(void)
{
	struct dynevent_session *s;
	int n_short = 0, n_bad = 0;
	char text[128];
	pid_t pid;

	for (int i = 0; i < N_ABOVE; i++) {
		snprintf(text, sizeof(text), "p:" FOREIGN "/above%d /proc/self/exe:0x%x\n", i,
			 64 + 16 * i);
		write_text("uprobe_events", text);
	}
	s = open_session();
	make_event(s, POINT_CODE, 0, 2000);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		delete_above();
		_exit(0);
	}
	/* Each count is one that begins beside a deletion, at least at first. */
	for (bool ended = false; !ended; ended = waitpid(pid, NULL, WNOHANG) == pid) {
		n_short += count_lines(group) < 2001;
		n_bad += !has_lines(group, 2001);
	}
	printf("# %d readings were short\n", n_short);
	ok(!n_bad, "all points are found, whatever others delete meanwhile");
	dynevent_session_close(s);
}

static void test_late_set(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *first = make_event(s, POINT_CODE, 0, 50), *late;

	ok(open_event(first) >= 0, "a first set is open");
	late = make_event(s, POINT_CODE, 1, 50);
	ok(open_event(late) >= 0, "a later set opens beside it");
	dynevent_delete(first);
	ok(has_points("p0", 0) && has_points("p1", 51), "the first is deleted, the later stays");
	dynevent_session_close(s);
}

static void test_shut_to_others(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *ev = make_event(s, POINT_CODE, 0, 20);
	char enable[128];
	int fd;

	snprintf(enable, sizeof(enable), "events/%s/p0/enable", group);
	ok(foreign_open("p0") == -EINVAL, "nobody else can be the first to open an event");
	ok(write_text(enable, "1") == -EINVAL, "nor enable it for ftrace");
	ok(open_event(ev) >= 0, "its owner can");
	fd = foreign_open("p0");
	ok(fd >= 0, "while it is open others can join");
	close(fd);
	dynevent_session_close(s);
	ok(has_lines(group, 0), "and it is deleted when they have left");
}

/* Deleting this event is what oopses 6.1 and 6.12. */
static void test_held_by_others(void)
{
	struct dynevent_session *s = open_session();
	struct dynevent *ev = make_event(s, POINT_CODE, 0, 50);
	char gate[64], old_group[64];
	int fd;

	open_event(ev);
	fd = foreign_open("p0");
	snprintf(gate, sizeof(gate), "%s", s->gate);
	snprintf(old_group, sizeof(old_group), "%s", group);
	dynevent_session_close(s);
	ok(fd >= 0 && has_lines(old_group, 51),
	   "an event that somebody else holds open is left in place");
	ok(access(gate, F_OK) == 0, "and so is its lock file");
	dynevent_session_close(open_session());
	ok(has_lines(old_group, 51), "a sweep leaves it while it is held");
	close(fd);
	dynevent_session_close(open_session());
	ok(has_lines(old_group, 0) && access(gate, F_OK) != 0, "a sweep removes both afterwards");
}

/* Another process with a session of its own. */
struct other {
	pid_t pid;
	char group[64];
};

static struct other start_session(int n_points)
{
	struct other other = { 0 };
	int ready[2];

	if (pipe(ready))
		exit(2);
	fflush(stdout);
	other.pid = fork();
	if (!other.pid) {
		struct dynevent_session *s = open_session();

		open_event(make_event(s, POINT_CODE, 0, n_points));
		open_event(make_event(s, POINT_RETURN, 0, n_points));
		if (write(ready[1], group, sizeof(group)) == sizeof(group))
			pause();
		_exit(0);
	}
	if (read(ready[0], other.group, sizeof(other.group)) != sizeof(other.group))
		exit(2);
	close(ready[0]);
	close(ready[1]);
	return other;
}

static void kill_session(struct other *other)
{
	kill(other->pid, SIGKILL);
	waitpid(other->pid, NULL, 0);
}

static void test_killed_session(void)
{
	struct other dead = start_session(200), living = start_session(30);
	struct dynevent_session *s;

	ok(write_text("uprobe_events", "p:" FOREIGN "/x /proc/self/exe:0x40\n") == 0,
	   "a foreign event is made");
	ok(has_lines(dead.group, 402) && has_lines(living.group, 62),
	   "two sessions have their points");
	kill_session(&dead);
	s = open_session();
	ok(has_lines(dead.group, 0), "the points of a killed one are swept by the next start");
	ok(has_lines(living.group, 62) && has_lines(FOREIGN, 1),
	   "the living session's and foreign ones stay");
	ok(open_event(make_event(s, POINT_CODE, 0, 10)) >= 0,
	   "the sweeper works beside the living");
	dynevent_session_close(s);
	kill_session(&living);
	dynevent_session_close(open_session());
	ok(has_lines(living.group, 0) && has_lines(FOREIGN, 1), "only the foreign event is left");
	write_text("uprobe_events", "-:" FOREIGN "/x\n");
}

/* Killed at any moment of their lives: what they leave is swept, and the kernel lives. */
static void test_killed_anywhere(void)
{
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		while (!pid) {
			struct dynevent_session *s = open_session();

			open_event(make_event(s, POINT_CODE, 0, 100));
			open_event(make_event(s, POINT_RETURN, 0, 100));
			dynevent_session_close(s);
		}
		usleep(20000 + 7919 * i);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	dynevent_session_close(open_session());
	ok(has_lines("ispot_", 0), "sessions killed at 40 moments leave nothing after a sweep");
}

static void run_sessions(int rounds)
{
	while (rounds--) {
		struct dynevent_session *s = open_session();
		struct dynevent *ev = make_event(s, POINT_CODE, 0, 60);

		if (dynevent_n(ev) != 60 || open_event(ev) < 0)
			_exit(1);
		dynevent_session_close(s);
		if (count_lines(group))
			_exit(1);
	}
	_exit(0);
}

static void test_several_at_once(void)
{
	pid_t pids[3];
	int n_bad = 0, status;

	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i])
			run_sessions(5);
	}
	for (int i = 0; i < 3; i++) {
		waitpid(pids[i], &status, 0);
		n_bad += status != 0;
	}
	ok(!n_bad, "three sessions that come and go at once do not disturb each other");
}

static const struct {
	void (*run)(void);
	int guest_only;
} tests[] = {
	{ test_times, 0 },	    { test_refused, 0 },	{ test_fires, 0 },
	{ test_many_points, 0 },    { test_others_delete, 0 },	{ test_late_set, 0 },
	{ test_kinds, 0 },	    { test_killed_session, 0 }, { test_several_at_once, 0 },
	{ test_shut_to_others, 1 }, { test_held_by_others, 1 }, { test_killed_anywhere, 1 },
};

int main(int argc, char **argv)
{
	int live = argc > 1 && !strcmp(argv[1], "live");

	make_file(TARGET_FILE);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!live || !tests[i].guest_only)
			tests[i].run();
	unlink(TARGET_FILE);
	return tap_end();
}
