/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a spool that machines share is taken for a dead recorder's. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "trace/fleet/spool.h"

#define PART_NAME "0000000000000001-00000000.fleet.part"

static struct fleet_spool spool;
static char path[] = "/tmp/ispot-unit.XXXXXX";

static int open_spool(void **state)
{
	assert_non_null(mkdtemp(path));
	assert_int_equal(fleet_spool_open(&spool, path, 0, 0, NULL), 0);
	assert_int_equal(fleet_spool_lock(&spool, NULL), 0);
	close(openat(spool.dir, PART_NAME, O_WRONLY | O_CREAT, 0600));
	return 0;
}

static int close_spool(void **state)
{
	unlinkat(spool.dir, PART_NAME, 0);
	unlinkat(spool.dir, "lock", 0);
	fleet_spool_close(&spool, NULL);
	return rmdir(path);
}

static size_t n_listed(void)
{
	struct fleet_spool_names names = { 0 };
	size_t n;

	assert_int_equal(fleet_spool_list(&spool, &names, NULL), 0);
	n = names.n;
	fleet_spool_names_release(&names);
	return n;
}

static void age(time_t seconds)
{
	struct timespec times[2];
	struct stat now;

	assert_int_equal(futimens(spool.lock, NULL), 0);
	assert_int_equal(fstat(spool.lock, &now), 0);
	times[0] = times[1] = (struct timespec){ now.st_mtime - seconds, 0 };
	assert_int_equal(utimensat(spool.dir, PART_NAME, times, 0), 0);
}

static void on_one_machine_its_lock_tells(void **state)
{
	int fd = openat(spool.dir, PART_NAME, O_WRONLY | O_CLOEXEC);

	spool.is_shared = false;
	assert_int_equal(n_listed(), 1);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(n_listed(), 0);
	close(fd);
}

/* Its recorder's lock may be known on its own machine only. */
static void on_several_it_is_quiet_too(void **state)
{
	int fd = openat(spool.dir, PART_NAME, O_WRONLY | O_CLOEXEC);

	spool.is_shared = true;
	age(0);
	assert_int_equal(n_listed(), 0);
	age(300);
	assert_int_equal(n_listed(), 0);
	age(3600);
	assert_int_equal(n_listed(), 1);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(n_listed(), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_one_machine_its_lock_tells),
		cmocka_unit_test(on_several_it_is_quiet_too),
	};

	return cmocka_run_group_tests(tests, open_spool, close_spool);
}
