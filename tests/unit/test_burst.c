/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --burst's clock: how long a turn of the loop may sleep, without probes or processes. */
#include "unit.h"

#include <string.h>

#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/burst.h"

static struct session_options options;
static struct recording r;

static int set_up(void **state)
{
	memset(&options, 0, sizeof(options));
	memset(&r, 0, sizeof(r));
	r.options = &options;
	return 0;
}

static void a_turn_ends_with_its_burst(void **state)
{
	struct burst b = { 0 };

	options.burst_on_ns = 20000000;
	options.burst_period_ns = 50000000;
	session_burst_begin(&b, &r);
	assert_int_equal(session_burst_timeout_ms(&b, &r, 100), 100); /* it has not begun */
	r.begun = true;
	assert_in_range(session_burst_timeout_ms(&b, &r, 100), 0, 21);
	assert_int_equal(session_burst_timeout_ms(&b, &r, 0), 0);
	b.until_ns = 0; /* it is over */
	assert_int_equal(session_burst_timeout_ms(&b, &r, 100), 0);
}

static void without_bursts_a_turn_sleeps_as_long_as_it_may(void **state)
{
	struct burst b = { 0 };

	r.begun = true;
	assert_int_equal(session_burst_timeout_ms(&b, &r, 100), 100);
	assert_int_equal(session_burst_step(&b, &r, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_turn_ends_with_its_burst, set_up),
		cmocka_unit_test_setup(without_bursts_a_turn_sleeps_as_long_as_it_may, set_up),
	};

	return unit_run(tests);
}
