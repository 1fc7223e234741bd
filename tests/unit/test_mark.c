/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which processes have patched code, and which only look so. */
#include "elf_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/text.h"
#include "probes/process/mark.h"

#define BYTES 4096
#define NAME  250 /* bytes of a file's name */

/* The memory of the mark: of a file, or of none if it is -1. */
static struct patched_mark *map_mark(int fd, uint64_t recorder)
{
	const struct patched_mark mark = { .magic = MARK_MAGIC, .recorder = recorder };
	const int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
	struct patched_mark *m = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	assert_true(m != MAP_FAILED);
	*m = mark;
	assert_int_equal(mprotect(m, BYTES, PROT_READ | PROT_EXEC), 0);
	return m;
}

static int made_file(int fd)
{
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	return fd;
}

static void only_a_mark_that_counts(void **state)
{
	struct patched_mark *m;

	(void)state;
	assert_false(process_is_patched(getpid()));
	m = map_mark(-1, 0); /* the patches have been removed */
	assert_false(process_is_patched(getpid()));
	munmap(m, BYTES);
	m = map_mark(-1, 1);
	assert_true(process_is_patched(getpid()));
	munmap(m, BYTES);
	assert_false(process_is_patched(getpid()));
}

static void memory_of_a_file_is_not_read(void **state)
{
	int fd = made_file(memfd_create("mark", MFD_CLOEXEC));
	struct patched_mark *m = map_mark(fd, 1);

	(void)state;
	assert_false(process_is_patched(getpid()));
	munmap(m, BYTES);
	close(fd);
}

/* A directory below that of the path, of so many newlines: four bytes each in a list of mappings.
 */
static void go_below(struct text *path, int newlines)
{
	text_add(path, "/");
	while (newlines--)
		text_add(path, "\n");
	assert_int_equal(mkdir(path->s, 0755), 0);
}

/* A file whose path fills 4,300 bytes of its line; then come spaces and what looks like the
 * beginning of a line, of memory of no file. */
static int open_like_a_line(const void *start)
{
	struct text path = { 0 };
	char rest[64];
	int fd;

	snprintf(rest, sizeof(rest), "%tx-0 r-xp 0 0:0 0", (intptr_t)start);
	text_add(&path, fixture_open());
	for (int i = 0; i < 4; i++)
		go_below(&path, NAME);
	go_below(&path, 50);
	text_printf(&path, "/%*s", NAME, rest);
	fd = open(path.s, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	text_release(&path);
	return fd;
}

static void the_rest_of_a_path_is_no_line(void **state)
{
	int marked = made_file(memfd_create("mark", MFD_CLOEXEC)), fd;
	struct patched_mark *m = map_mark(marked, 1);
	void *named;

	(void)state;
	fd = made_file(open_like_a_line(m));
	named = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(named != MAP_FAILED);
	assert_false(process_is_patched(getpid()));
	munmap(named, BYTES);
	munmap(m, BYTES);
	close(marked);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_mark_that_counts),
		cmocka_unit_test(memory_of_a_file_is_not_read),
		cmocka_unit_test(the_rest_of_a_path_is_no_line),
	};

	return unit_run(tests);
}
