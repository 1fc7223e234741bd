/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where temporary files are made, and that nothing of them is left, however ispot ends. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
#define N_ENDS (sizeof(ends) / sizeof(*ends))

static char place[] = "/tmp/ispot_temporary.XXXXXX";

static int begin(void **state)
{
	/* In the background of a shell they are ignored. */
	for (size_t i = 0; i < N_ENDS; i++)
		signal(ends[i], SIG_DFL);
	return !mkdtemp(place) || setenv("TMPDIR", place, 1);
}

/* Fails where something is left in it. */
static int end(void **state)
{
	return rmdir(place);
}

static void fill(const char *dir, int n)
{
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%d", dir, i);

		close(open(path, O_CREAT | O_WRONLY, 0600));
		free(path);
	}
}

static char *make(void)
{
	char *dir;

	if (temporary_directory(&dir, "ispot-test", "/nowhere", NULL))
		abort();
	fill(dir, 3);
	return dir;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- made ---- */

static void a_directory_is_the_owners_alone(void **state)
{
	char *wanted = xasprintf("%s/ispot-test.", place), *dir = make();
	struct stat st;

	assert_true(starts(dir, wanted));
	assert_int_equal(strlen(dir), strlen(wanted) + 6);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	fill(dir, 1000);
	temporary_release(dir);
	free(wanted);
	temporary_release(NULL);
}

static void without_tmpdir_it_is_elsewhere(void **state)
{
	char elsewhere[] = "/tmp/ispot_elsewhere.XXXXXX", *dir;

	assert_non_null(mkdtemp(elsewhere));
	for (int empty = 0; empty < 2; empty++) {
		assert_int_equal(empty ? setenv("TMPDIR", "", 1) : unsetenv("TMPDIR"), 0);
		assert_int_equal(temporary_directory(&dir, "x", elsewhere, NULL), 0);
		assert_true(starts(dir, elsewhere));
		temporary_release(dir);
	}
	setenv("TMPDIR", place, 1);
	assert_int_equal(rmdir(elsewhere), 0);
}

static void what_cannot_be_made_is_said(void **state)
{
	struct err err = { 0 };
	char *dir;

	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(temporary_directory(&dir, "x", place, &err), -ENOENT);
	assert_null(dir);
	assert_true(starts(err.text, "cannot make /nowhere/at/all/x."));
	assert_non_null(strstr(err.text, "; set TMPDIR"));
	assert_int_equal(temporary_file(place, &err), -ENOENT);
	setenv("TMPDIR", place, 1);
}

static void a_file_has_no_name(void **state)
{
	int fd = temporary_file("/nowhere", NULL);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "kept", 4), 4);
	close(fd);
}

/* ---- removed ---- */

static void a_link_is_not_followed(void **state)
{
	char *dir = make(), *link = xasprintf("%s/link", place), *file = xasprintf("%s/0", dir);

	assert_int_equal(symlink(dir, link), 0);
	temporary_remove(link);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(unlink(link), 0);
	free(file);
	free(link);
	temporary_release(dir);
}

/* How a child ends that makes two directories and then does it; 0: it has released them itself. */
static int ends_by(void (*it)(int with), int with)
{
	pid_t pid = fork();
	char *first, *second;
	int status;

	if (!pid) {
		first = make();
		second = make();
		it(with);
		temporary_release(first);
		temporary_release(second);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void by_signal(int number)
{
	raise(number);
}

static void by_ignored_signal(int number)
{
	signal(number, SIG_IGN);
	raise(number);
}

static void by_exhaustion(int unused)
{
	volatile size_t all = SIZE_MAX / 4;

	(void)unused;
	close(STDERR_FILENO);
	xmalloc(all);
}

static void signals_leave_nothing(void **state)
{
	for (size_t i = 0; i < N_ENDS; i++) {
		int status = ends_by(by_signal, ends[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ends[i]);
	}
	assert_int_equal(ends_by(by_ignored_signal, SIGHUP), 0);
}

/* The sanitizers' malloc() ends the process itself. */
static void exhaustion_leaves_nothing(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return;
#endif
	assert_int_equal(WEXITSTATUS(ends_by(by_exhaustion, 0)), 1);
}

static void signals_are_given_back(void **state)
{
	struct sigaction is;
	char *dir = make();

	assert_int_equal(sigaction(SIGTERM, NULL, &is), 0);
	assert_true(is.sa_handler != SIG_DFL);
	temporary_release(dir);
	assert_int_equal(sigaction(SIGTERM, NULL, &is), 0);
	assert_true(is.sa_handler == SIG_DFL);
}

static void a_child_leaves_its_parents_alone(void **state)
{
	char *dir = make(), *file = xasprintf("%s/0", dir);
	pid_t pid = fork();
	int status;

	if (!pid)
		raise(SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(access(file, F_OK), 0);
	free(file);
	temporary_release(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_is_the_owners_alone),
		cmocka_unit_test(without_tmpdir_it_is_elsewhere),
		cmocka_unit_test(what_cannot_be_made_is_said),
		cmocka_unit_test(a_file_has_no_name),
		cmocka_unit_test(a_link_is_not_followed),
		cmocka_unit_test(signals_leave_nothing),
		cmocka_unit_test(exhaustion_leaves_nothing),
		cmocka_unit_test(signals_are_given_back),
		cmocka_unit_test(a_child_leaves_its_parents_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
