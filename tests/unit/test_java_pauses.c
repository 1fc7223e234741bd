/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a Java machine's log says of its safepoints. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/temporary.h"
#include "probes/java/pauses.h"

static void lines(void **state)
{
	uint64_t end_ns, ns;

	assert_true(java_pauses_parse(
		"[3381076198241ns] Safepoint \"ThreadDump\", Time since last: 268008 ns, Reaching "
		"safepoint: 1241 ns, Cleanup: 2154 ns, At safepoint: 33569 ns, Total: 36964 ns\n",
		&end_ns, &ns));
	assert_int_equal(end_ns, 3381076198241);
	assert_int_equal(ns, 36964);
	assert_true(java_pauses_parse(
		"[5000000000ns] Total time for which application threads were stopped: 0.0125000 "
		"seconds, Stopping threads took: 0.0000104 seconds\n",
		&end_ns, &ns));
	assert_int_equal(end_ns, 5000000000);
	assert_in_range(ns, 12499999, 12500001);
	assert_false(java_pauses_parse("[12ns] Application time: 0.5 seconds\n", &end_ns, &ns));
	assert_false(java_pauses_parse("[12ns] Safepoint \"X\", Total: 13 ns\n", &end_ns, &ns));
	assert_false(java_pauses_parse("Safepoint \"X\", Total: 13 ns\n", &end_ns, &ns));
	assert_false(java_pauses_parse("[12ns] Safepoint \"X\"\n", &end_ns, &ns));
	assert_false(java_pauses_parse("", &end_ns, &ns));
}

struct seen {
	unsigned n;
	uint64_t ns, end_ns;
	pid_t pid;
};

static void see(void *self, pid_t pid, uint64_t end_ns, uint64_t ns)
{
	struct seen *s = self;

	s->n++;
	s->ns += ns;
	s->end_ns = end_ns;
	s->pid = pid;
}

static void say(const char *name, const char *text)
{
	FILE *f = fopen(name, "a");

	fputs(text, f);
	fclose(f);
}

static void nul(const char *name)
{
	FILE *f = fopen(name, "a");

	fputc(0, f);
	fputc('\n', f);
	fclose(f);
}

/* A recording's directory by its template, and in it the directory of user 7; to be freed. */
static char *make_own(char *dir)
{
	char *own;

	assert_non_null(mkdtemp(dir));
	own = xasprintf("%s/7", dir);
	assert_int_equal(mkdir(own, 0700), 0);
	return own;
}

/* As it is written: in parts, and into another file when one is full. */
static void a_log_is_read_while_it_is_written(void **state)
{
	char dir[] = "/tmp/ispot-unit.XXXXXX", *name, *full;
	struct java_pauses p;
	struct seen s = { 0 };

	free(make_own(dir));
	name = xasprintf("%s/7/safepoint-42.log", dir);
	full = xasprintf("%s.0", name);
	java_pauses_init(&p, dir);
	java_pauses_read(&p, see, &s);
	say(name, "[100ns] Safepoint \"A\", Total: 10 ns\n[200ns] Safepoint \"B\", To");
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.pid, 42);
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 1);
	say(name, "tal: 20 ns\n");
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 2);
	/* the program may write anything, NUL bytes too */
	nul(name);
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 2);
	say(name, "[300ns] Safepoint \"C\", Total: 30 ns\n");
	rename(name, full);
	say(name, "[400ns] Safepoint \"D\", Total: 40 ns\n");
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.ns, 100);
	assert_int_equal(s.end_ns, 400);
	java_pauses_release(&p);
	unlink(name);
	unlink(full);
	*strrchr(name, '/') = '\0';
	rmdir(name);
	rmdir(dir);
	free(name);
	free(full);
}

/* A build starts more machines than a process may have files open. */
static void many_logs(void **state)
{
	char dir[] = "/tmp/ispot-unit.XXXXXX", *own, *name;
	struct rlimit few, before;
	struct java_pauses p;
	struct seen s = { 0 };

	own = make_own(dir);
	for (int i = 1; i <= 100; i++) {
		name = xasprintf("%s/safepoint-%d.log", own, i);
		say(name, "[100ns] Safepoint \"A\", Total: 10 ns\n");
		free(name);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 50;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	java_pauses_init(&p, dir);
	java_pauses_read(&p, see, &s);
	java_pauses_read(&p, see, &s);
	java_pauses_release(&p);
	setrlimit(RLIMIT_NOFILE, &before);
	temporary_remove(own);
	temporary_remove(dir);
	free(own);
	assert_int_equal(s.n, 100);
}

/* The program may make its log of any size: a turn reads a part of it. */
static void a_log_without_end(void **state)
{
	char dir[] = "/tmp/ispot-unit.XXXXXX", *own, *name;
	struct java_pauses p;
	struct seen s = { 0 };

	own = make_own(dir);
	name = xasprintf("%s/safepoint-42.log", own);
	say(name, "[100ns] Safepoint \"A\", Total: 10 ns\n");
	assert_int_equal(truncate(name, 1ll << 40), 0);
	java_pauses_init(&p, dir);
	java_pauses_read(&p, see, &s);
	assert_int_equal(s.n, 1);
	assert_in_range(p.logs.data[0].at, 1 << 20, 2 << 20);
	java_pauses_read(&p, see, &s);
	assert_in_range(p.logs.data[0].at, 2 << 20, 4 << 20);
	java_pauses_release(&p);
	temporary_remove(own);
	temporary_remove(dir);
	free(own);
	free(name);
}

/* A machine of which nothing is known gets no option that it may not know. */
static void who_does_not_know_the_option_gets_none(void **state)
{
	char dir[] = "/tmp/ispot-unit.XXXXXX", *bin, *java, *release, *option;

	assert_non_null(mkdtemp(dir));
	bin = xasprintf("mkdir %s/bin && touch %s/bin/java && chmod +x %s/bin/java", dir, dir, dir);
	assert_int_equal(system(bin), 0);
	java = xasprintf("%s/bin/java", dir);
	release = xasprintf("%s/release", dir);
	assert_null(java_pauses_option(java, "/tmp"));
	say(release, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"1.8.0_402\"\n");
	assert_null(java_pauses_option(java, "/tmp"));
	unlink(release);
	assert_int_equal(mkfifo(release, 0600), 0); /* nobody will ever write there */
	alarm(20);
	assert_null(java_pauses_option(java, "/tmp"));
	alarm(0);
	unlink(release);
	say(release, "JAVA_VERSION=\"17.0.15\"\n");
	option = java_pauses_option(java, "/tmp/x");
	assert_non_null(option);
	assert_non_null(strstr(option, "file=/tmp/x/safepoint-%p.log:"));
	assert_null(java_pauses_option(java, "/tmp/a:b"));
	assert_null(java_pauses_option("/nowhere/java", "/tmp"));
	free(option);
	unlink(release);
	unlink(java);
	free(bin);
	bin = xasprintf("%s/bin", dir);
	rmdir(bin);
	rmdir(dir);
	free(bin);
	free(java);
	free(release);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(a_log_is_read_while_it_is_written),
		cmocka_unit_test(many_logs),
		cmocka_unit_test(a_log_without_end),
		cmocka_unit_test(who_does_not_know_the_option_gets_none),
	};

	return unit_run(tests);
}
