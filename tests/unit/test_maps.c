/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "symbol/maps.h"

static void own_mappings(void **state)
{
	struct mappings maps = { 0 };
	const struct mapping *here, *libc;
	struct err err = { 0 };
	char path[4096];
	struct stat st;

	assert_int_equal(mappings_read(&maps, getpid(), &err), 0);
	here = mappings_find(&maps, (uint64_t)(uintptr_t)own_mappings);
	libc = mappings_find(&maps, (uint64_t)(uintptr_t)&setenv);
	assert_non_null(here);
	assert_non_null(libc);
	assert_ptr_not_equal(here, libc);
	assert_non_null(strstr(libc->path, "libc"));
	/* By its path: stat() of the link itself is of valgrind, where that runs the test. */
	assert_true(realpath("/proc/self/exe", path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(here->inode, st.st_ino);
	assert_int_equal(mapping_path(here, getpid(), path, sizeof(path), &err), 0);
	assert_string_equal(path, here->path);
	assert_null(mappings_find(&maps, 0));
	assert_null(mappings_find(&maps, UINT64_MAX));
	assert_null(mappings_find(&maps, (uint64_t)(uintptr_t)&maps)); /* the stack is no file */
	mappings_release(&maps);
	mappings_release(&maps);
}

static void no_process(void **state)
{
	struct mappings maps = { 0 };
	struct err err = { 0 };
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(mappings_read(&maps, pid, &err), -ESRCH);
	assert_non_null(strstr(err.text, "no process"));
	assert_int_equal(maps.n, 0);
}

static const struct mapping *program_mapping(struct mappings *maps, pid_t pid)
{
	assert_int_equal(mappings_read(maps, pid, NULL), 0);
	vec_for_each (maps, struct mapping, m) {
		if (strstr(m->path, fixture_dir))
			return m;
	}
	return NULL;
}

static pid_t start(const char *path)
{
	struct mappings maps = { 0 };
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, "100", NULL);
		_exit(127);
	}
	while (!program_mapping(&maps, pid)) /* the test's timeout ends this */
		usleep(1000);
	mappings_release(&maps);
	return pid;
}

static void with_program(const char *name, const char *change, int expected, const char *part)
{
	struct mappings maps = { 0 };
	struct err err = { 0 };
	const struct mapping *m;
	char path[4096], command[512];
	pid_t pid;

	snprintf(command, sizeof(command), "cp /bin/sleep '%s'", name);
	fixture_run(command);
	pid = start(fixture_path(name));
	if (*change)
		fixture_run(change);
	m = program_mapping(&maps, pid);
	if (m) {
		assert_int_equal(mapping_path(m, pid, path, sizeof(path), &err), expected);
		if (expected && !strstr(err.text, part))
			fail_msg("'%s' not in '%s'", part, err.text);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_non_null(m);
	mappings_release(&maps);
}

static void changed_on_disk(void **state)
{
	with_program("same", "", 0, "");
	with_program("with blank", "", 0, "");
	/* The process's own file is still there, behind the mapping; opening it takes privilege. */
	with_program("gone", "rm gone", geteuid() ? -ENOENT : 0, "deleted or replaced");
	with_program("new", "cp /bin/sleep other && mv other new", geteuid() ? -ENOENT : 0,
		     "restart it");
}

static void odd_names(void **state)
{
	with_program("new\nline", "", 0, "");
}

/* Any number of mappings are read as far as they are looked at. */
static void the_number_of_mappings_has_an_end(void **state)
{
	enum { PAGE = 4096, N = MAPPINGS_MAX + 1000 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct mappings maps = { 0 };
	char **pages = calloc(N, sizeof(*pages));
	sigset_t ends;
	int number;

	for (int i = 0; i < N; i++) /* each of the same page, so that they stay apart */
		pages[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_int_equal(mappings_read(&maps, getpid(), NULL), 0);
	assert_int_equal(maps.n, MAPPINGS_MAX);
	/* Nor does reading hold up a signal that ends ispot. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	raise(SIGTERM);
	assert_int_equal(mappings_read(&maps, getpid(), NULL), 0);
	assert_in_range(maps.n, 1, MAPPINGS_MAX - 1);
	assert_int_equal(sigwait(&ends, &number), 0);
	sigprocmask(SIG_UNBLOCK, &ends, NULL);
	for (int i = 0; i < N; i++)
		munmap(pages[i], PAGE);
	mappings_release(&maps);
	free(pages);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_mappings),
		cmocka_unit_test(no_process),
		cmocka_unit_test(changed_on_disk),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(the_number_of_mappings_has_an_end),
	};

	return unit_run(tests);
}
