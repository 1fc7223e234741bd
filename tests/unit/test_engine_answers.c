/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which answers of a database are worth another request. */
#include "unit.h"

#include "analysis/fleet/clickhouse/internal.h"

static bool passes(long status, bool final, char *body)
{
	const struct fleet_http_answer a = { .status = status,
					     .final = final,
					     .body = { .s = body } };

	return engine_is_passing(&a);
}

static void what_may_go_well_later_is_asked_again(void **state)
{
	static char busy[] = "Code: 202, e.displayText() = DB::Exception: Too many queries";
	static char unknown[] = "Code: 62. DB::Exception: Syntax error";

	assert_true(passes(0, false, NULL));
	assert_false(passes(0, true, NULL)); /* a certificate that is not trusted */
	assert_true(passes(503, false, NULL));
	assert_true(passes(429, false, NULL));
	assert_true(passes(500, false, busy));
	assert_false(passes(500, false, unknown));
	assert_false(passes(404, false, NULL));
	assert_false(passes(200, false, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_go_well_later_is_asked_again),
	};

	return unit_run(tests);
}
