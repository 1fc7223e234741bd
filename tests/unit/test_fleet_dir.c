/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a recording without end. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/fleet/dir.h"

static const struct fleet_header header = { .id = 7, .machine = "m", .indicator = "i" };
static char *path;

static void make_path(void)
{
	char name[] = "/tmp/ispot-unit.XXXXXX";

	path = xasprintf("%s/days", mkdtemp(name));
}

static bool is_there(unsigned number)
{
	char *name = xasprintf("%s/samples-%08u.fleet", path, number);
	bool is = !access(name, F_OK);

	free(name);
	return is;
}

/* A block of some 2 kB. */
static void add(struct fleet_dir *d, uint64_t sequence, unsigned *files)
{
	struct fleet_block b = { 0 };
	struct err err = { 0 };
	bool begun;

	fleet_block_begin(&b, sequence, 0);
	fleet_block_track(&b, 0);
	fleet_block_run(&b, fleet_block_app(&b, "a"), 0);
	for (int i = 0; i < 500; i++)
		fleet_block_sample(&b, 1000, 1000);
	assert_int_equal(fleet_dir_block(d, &header, &b, &begun, &err), 0);
	*files += begun;
	fleet_block_release(&b);
}

static void remove_all(void)
{
	char *command = xasprintf("rm -r '%s/..'/*", path), *slash = strrchr(path, '/');

	assert_int_equal(system(command), 0);
	*slash = '\0';
	rmdir(path);
	free(command);
	free(path);
}

static void the_oldest_goes_and_another_goes_on(void **state)
{
	struct err err = { 0 };
	struct fleet_dir d, other;
	unsigned files = 0;

	make_path();
	assert_int_equal(fleet_dir_open(&d, path, 3, 5000, &err), 0);
	assert_int_equal(fleet_dir_open(&other, path, 3, 5000, &err), -EBUSY);
	fleet_dir_close(&other, NULL);
	for (uint64_t i = 0; i < 15; i++)
		add(&d, i, &files);
	assert_int_equal(files, 5);
	assert_int_equal(d.removed, 2);
	assert_true(!is_there(1) && !is_there(2) && is_there(3) && is_there(4) && is_there(5));
	/* As if it were killed: its file stays open, and nothing says that it ended. */
	close(d.lock);
	assert_int_equal(fleet_dir_open(&other, path, 3, 5000, &err), 0);
	add(&other, 0, &files);
	assert_true(!is_there(3) && is_there(5) && is_there(6) && !is_there(7));
	assert_int_equal(fleet_dir_close(&other, &err), 0);
	d.lock = -1;
	assert_int_equal(fleet_dir_close(&d, &err), 0);
	remove_all();
}

static void a_header_that_has_changed_begins_a_file(void **state)
{
	struct err err = { 0 };
	struct fleet_dir d;
	unsigned files = 0;

	make_path();
	assert_int_equal(fleet_dir_open(&d, path, 3, 1 << 20, &err), 0);
	assert_int_equal(fleet_dir_end_file(&d, &err), 0);
	add(&d, 0, &files);
	add(&d, 1, &files);
	assert_int_equal(files, 1);
	assert_int_equal(fleet_dir_end_file(&d, &err), 0);
	add(&d, 2, &files);
	assert_int_equal(files, 2);
	assert_true(is_there(2) && !is_there(3));
	assert_int_equal(fleet_dir_close(&d, &err), 0);
	remove_all();
}

static void files_of_others_stay(void **state)
{
	struct err err = { 0 };
	struct fleet_dir d;
	unsigned files = 0;
	char *name;

	make_path();
	assert_int_equal(fleet_dir_open(&d, path, 1, 1, &err), 0);
	name = xasprintf("%s/samples-00000001.fleet.kept", path);
	fclose(fopen(name, "w"));
	for (uint64_t i = 0; i < 3; i++)
		add(&d, i, &files);
	assert_int_equal(files, 3);
	assert_int_equal(access(name, F_OK), 0);
	assert_true(is_there(3) && !is_there(2) && !is_there(1));
	assert_int_equal(fleet_dir_close(&d, &err), 0);
	free(name);
	remove_all();
}

static void no_directory(void **state)
{
	struct err err = { 0 };
	struct fleet_dir d;

	assert_int_equal(fleet_dir_open(&d, "/dev/null/days", 1, 1, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "--dir"));
	fleet_dir_close(&d, NULL);
}

/* What is left of a file's bytes, until the disk fails. */
static ssize_t fails_at_the_end(void *cookie, char *buf, size_t n)
{
	FILE *file = cookie;
	size_t got = fread(buf, 1, n, file);

	if (got)
		return (ssize_t)got;
	errno = EIO;
	return -1;
}

/* Where the disk fails nothing is known of the file's end: it is not cut off. */
static void a_disk_that_fails(void **state)
{
	struct fleet_dir d;
	struct fleet_reader r;
	struct fleet_block_head head;
	struct fleet_block block = { 0 };
	struct err err = { 0 };
	unsigned files = 0;
	char *name;
	FILE *whole;
	long bytes;

	make_path();
	assert_int_equal(fleet_dir_open(&d, path, 3, 1 << 20, &err), 0);
	add(&d, 0, &files);
	fleet_dir_close(&d, &err);
	name = xasprintf("%s/samples-%08u.fleet", path, 1);
	for (int skips = 0; skips < 2; skips++) {
		assert_int_equal(fleet_reader_open(&r, name, &err), 0);
		assert_int_equal(fleet_reader_next(&r, &head, &err), 1);
		whole = r.file;
		bytes = ftell(whole);
		assert_int_equal(truncate(name, bytes + head.body_bytes / 2), 0);
		assert_int_equal(fseek(whole, bytes, SEEK_SET), 0);
		r.file = fopencookie(whole, "r",
				     (cookie_io_functions_t){ .read = fails_at_the_end });
		if (skips)
			fleet_reader_skip(&r, &head);
		else
			assert_false(fleet_reader_block(&r, &head, &block));
		assert_false(r.truncated);
		assert_int_equal(fleet_reader_next(&r, &head, &err), -EIO);
		fleet_reader_close(&r);
		fclose(whole);
	}
	fleet_block_release(&block);
	free(name);
	remove_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_goes_and_another_goes_on),
		cmocka_unit_test(a_header_that_has_changed_begins_a_file),
		cmocka_unit_test(files_of_others_stay),
		cmocka_unit_test(no_directory),
		cmocka_unit_test(a_disk_that_fails),
	};

	return unit_run(tests);
}
