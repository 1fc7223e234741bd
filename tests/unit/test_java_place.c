/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where recorder and Java machines meet: what a killed recorder has left goes, and nothing else. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/java/attach.h"
#include "probes/java/place.h"

#define NOBODY_HAS 4194305 /* more than the largest number of a process */

static void make_file(const char *in, const char *name)
{
	char *path = xasprintf("%s/%s", in, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	close(fd);
	free(path);
}

static int has(const char *in, const char *name)
{
	char *path = xasprintf("%s/%s", in, name);
	int there = !access(path, F_OK);

	free(path);
	return there;
}

static char *make_directory(const char *in, const char *name)
{
	char *path = xasprintf("%s/%s", in, name);

	assert_int_equal(mkdir(path, 0755), 0);
	return path;
}

static void only_what_it_left(void **state)
{
	char parent[] = "/tmp/ispot-unit.XXXXXX", precious[] = "/tmp/ispot-unit.XXXXXX";
	char *inner, *in, *user, *link, *left, *theirs, *name;

	assert_non_null(mkdtemp(parent));
	assert_non_null(mkdtemp(precious));
	inner = make_directory(precious, "7");
	make_file(inner, "precious");
	link = xasprintf("%s/ispot-java.%d.link%d", parent, NOBODY_HAS, getpid());
	assert_int_equal(symlink(precious, link), 0);
	name = xasprintf("ispot-java.%d.left%d", NOBODY_HAS, getpid());
	left = make_directory(parent, name);
	free(name);
	user = make_directory(left, "7");
	make_file(user, "42.ispot");
	make_file(left, "agent");
	in = xasprintf("%s/8", left); /* a link that a user has put into it */
	assert_int_equal(symlink(inner, in), 0);
	name = xasprintf("ispot-java.%d.theirs%d", NOBODY_HAS, getpid());
	theirs = make_directory(parent, name);
	free(name);
	make_file(theirs, "file");
	if (!geteuid())
		assert_int_equal(chown(theirs, 65534, 65534), 0);

	java_place_sweep(parent);
	assert_true(has(inner, "precious"));
	assert_int_equal(access(left, F_OK), -1);
	if (!geteuid())
		assert_true(has(theirs, "file"));
	name = xasprintf("rm -rf %s %s", precious, parent);
	assert_int_equal(system(name), 0);
	free(name);
	free(inner);
	free(in);
	free(user);
	free(link);
	free(left);
	free(theirs);
}

/* A process may have thousands of mappings: reading them holds up no signal that ends ispot. */
static void mappings_hold_up_no_end(void **state)
{
	enum { PAGE = 4096, N = 9000 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), number;
	char **pages = xcalloc(N, sizeof(*pages));
	struct err err = { 0 };
	sigset_t ends;

	for (int i = 0; i < N; i++) /* each of the same page, so that they stay apart */
		pages[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	assert_int_equal(java_attach(getpid(), "/tmp", &ends, &err), -EINVAL);
	raise(SIGTERM);
	assert_int_equal(java_attach(getpid(), "/tmp", &ends, &err), -EINTR);
	assert_int_equal(sigwait(&ends, &number), 0);
	sigprocmask(SIG_UNBLOCK, &ends, NULL);
	for (int i = 0; i < N; i++)
		munmap(pages[i], PAGE);
	free(pages);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_it_left),
		cmocka_unit_test(mappings_hold_up_no_end),
	};

	return unit_run(tests);
}
