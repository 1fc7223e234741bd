/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of a file that somebody else has replaced since it was chosen. */
#include "unit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/place/probeset.h"

static void a_fifo_holds_nobody_up(void **state)
{
	struct dynevent_session session = { .lock_fd = -1, .control_fd = -1 };
	struct probeset set;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/ispot-unit-fifo.%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	probeset_init(&set, &session, 1);
	alarm(30);
	probeset_add_point(&set, SET_ENTRY, path, 64, 1);
	alarm(0);
	unlink(path);
	assert_null(set.read.path);
	probeset_release(&set);
	vec_release(&session.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fifo_holds_nobody_up),
	};

	return unit_run(tests);
}
