/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The package that a file without symbols belongs to, by dpkg's lists of files. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "symbol/package.h"

static char lists[64];
static const char *const files[][2] = {
	{ "liblzma5:amd64.list",
	  "/.\n/usr/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu/liblzma.so.5.4.1\n" },
	{ "liblzma5:amd64.md5sums", "/usr/bin/xz\n" },
	{ "xz-utils.list", "/usr/bin/lzmainfo\n/usr/bin/xz" },
	{ "xz-utils-doc.list", "/usr/bin/xzdiff\n/usr/bin/xz-not\n" },
};

static int set_up(void **state)
{
	snprintf(lists, sizeof(lists), "/tmp/ispot-package-XXXXXX");
	if (!mkdtemp(lists))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[128];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", lists, files[i][0]);
		f = fopen(path, "w");
		if (!f || fputs(files[i][1], f) < 0 || fclose(f))
			return -1;
	}
	return 0;
}

static int take_down(void **state)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", lists, files[i][0]);
		unlink(path);
	}
	return rmdir(lists);
}

static void the_list_that_has_the_file_names_the_package(void **state)
{
	char name[PACKAGE_NAME];

	assert_true(package_find(lists, "/usr/bin/xz", name));
	assert_string_equal(name, "xz-utils");
	assert_true(package_find(lists, "/usr/bin/lzmainfo", name));
	assert_string_equal(name, "xz-utils");
	assert_false(package_find(lists, "/usr/bin/x", name));
	assert_false(package_find("/tmp/no such directory", "/usr/bin/xz", name));
}

static void a_file_is_found_by_its_name_from_before_usr_was_merged(void **state)
{
	char name[PACKAGE_NAME];

	assert_true(package_find(lists, "/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1", name));
	assert_string_equal(name, "liblzma5");
	assert_true(package_find(lists, "/bin/xz", name));
	assert_string_equal(name, "xz-utils");
}

static void check_advice(const char *path, const char *advice)
{
	struct text out = { 0 };

	package_symbols_from(lists, path, &out);
	assert_string_equal(out.s, advice);
	text_release(&out);
}

static void who_has_the_source_builds_with_symbols(void **state)
{
	check_advice("/usr/bin/xz", "install xz-utils-dbgsym or set DEBUGINFOD_URLS (ispot(1))");
	check_advice("/usr/bin/gm", "install its debug symbols or set DEBUGINFOD_URLS (ispot(1))");
	check_advice("/home/me/app", "build it without -s, and do not strip it");
	check_advice("/usr/local/bin/app", "build it without -s, and do not strip it");
	check_advice("/usrland/app", "build it without -s, and do not strip it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_list_that_has_the_file_names_the_package,
						set_up, take_down),
		cmocka_unit_test_setup_teardown(
			a_file_is_found_by_its_name_from_before_usr_was_merged, set_up, take_down),
		cmocka_unit_test_setup_teardown(who_has_the_source_builds_with_symbols, set_up,
						take_down),
	};

	return unit_run(tests);
}
