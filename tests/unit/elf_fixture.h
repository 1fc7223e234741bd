/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small programs that a test compiles for itself, in a directory that goes with it. */
#ifndef ISPOT_TESTS_ELF_FIXTURE_H
#define ISPOT_TESTS_ELF_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char fixture_dir[] = "/tmp/ispot-unit-XXXXXX";

static void fixture_close(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", fixture_dir);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", fixture_dir);
}

static const char *fixture_open(void)
{
	static int opened;

	if (!opened) {
		assert_non_null(mkdtemp(fixture_dir));
		/* Also for the process that reads what is not only root's to write. */
		assert_int_equal(chmod(fixture_dir, 0755), 0);
		/* LD_PRELOAD and friends of the test's own environment are not the children's. */
		unsetenv("DEBUGINFOD_URLS");
		atexit(fixture_close);
		opened = 1;
	}
	return fixture_dir;
}

/* The path of a file in the directory; a few may be in use at once. */
static inline const char *fixture_path(const char *name)
{
	static char paths[16][256];
	static unsigned next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", fixture_open(), name);
	return path;
}

static inline void fixture_write(const char *name, const char *text)
{
	FILE *file = fopen(fixture_path(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Runs a command in the directory; its output goes to the file `log`. */
static inline void fixture_run(const char *command)
{
	char line[8192];

	snprintf(line, sizeof(line), "cd %s && { %s; } >>log 2>&1", fixture_open(), command);
	if (system(line)) {
		snprintf(line, sizeof(line), "cat %s/log >&2", fixture_dir);
		assert_int_equal(system(line), 0);
		fail_msg("failed: %s", command);
	}
}

#endif
