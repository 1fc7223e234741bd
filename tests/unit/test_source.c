/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which source lines are shown, whatever file the debugging information names. */
#include "elf_fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/text.h"
#include "report/imbalance/source.h"

static bool is_shown(const char *name, uint32_t line, const char *want)
{
	struct text out = { 0 };
	bool shown;

	source_read_line(*name == '/' ? name : fixture_path(name), line, &out);
	shown = out.s && strstr(out.s, want);
	if (!shown && out.s && *out.s)
		fail_msg("'%s' is shown of %s", out.s, name);
	text_release(&out);
	return shown;
}

static void write_files(void)
{
	fixture_write("open.c", "one\n\t two\n");
	fixture_write("closed.c", "secret\n");
	fixture_run("chmod 755 . && chmod 644 open.c && chmod 600 closed.c");
}

static void lines(void **state)
{
	write_files();
	unsetenv("SUDO_UID");
	assert_true(is_shown("open.c", 1, "one"));
	assert_true(is_shown("open.c", 2, "two"));
	assert_false(is_shown("open.c", 3, ""));
	assert_false(is_shown("open.c", 0, ""));
	assert_false(is_shown("nowhere.c", 1, ""));
}

static void no_files(void **state)
{
	write_files();
	alarm(60); /* to wait at the FIFO ends the test */
	fixture_run("mkfifo fifo.c; ln -s /dev/zero zero.c; truncate -s 4T hole.c");
	assert_false(is_shown("fifo.c", 1, ""));
	assert_false(is_shown("zero.c", 1, ""));
	assert_false(is_shown("hole.c", 1, ""));
	assert_false(is_shown("/proc/self/environ", 1, ""));
	assert_false(is_shown("/tmp", 1, ""));
	alarm(0);
	fixture_run("rm hole.c");
}

/* Root shows nobody what not everybody may read; and for a user only what is the user's to read. */
static void of_whom(void **state)
{
	write_files();
	if (geteuid()) {
		assert_true(is_shown("closed.c", 1, "secret"));
		assert_false(is_shown("/etc/shadow", 1, ""));
		return;
	}
	unsetenv("SUDO_UID");
	assert_false(is_shown("closed.c", 1, "secret"));
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_true(is_shown("open.c", 1, "one"));
	assert_false(is_shown("closed.c", 1, "secret"));
	assert_int_equal(chown(fixture_path("closed.c"), 65534, 65534), 0);
	assert_true(is_shown("closed.c", 1, "secret"));
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(no_files),
		cmocka_unit_test(of_whom),
	};

	return unit_run(tests);
}
