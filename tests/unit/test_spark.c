// SPDX-License-Identifier: GPL-3.0-or-later
/* A histogram in six characters. */
#include "unit.h"

#include <string.h>

#include "analysis/stat/hist.h"
#include "base/text.h"
#include "report/table/spark.h"

static void check(const struct hist *h, bool utf8, const char *wanted)
{
	struct text t = { 0 };

	spark(h, utf8, &t);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_shapes(void **state)
{
	struct hist h = { 0 };

	check(NULL, true, "      ");
	check(&h, true, "      ");
	for (int i = 0; i < 1000; i++)
		hist_add(&h, 1000);
	hist_add(&h, 1000000);
	check(&h, true, "█    ▁");
	check(&h, false, "#    .");
	hist_release(&h);
	for (int i = 0; i < 10; i++)
		hist_add(&h, 500); /* all the same */
	check(&h, false, "#     ");
	hist_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes) };

	return unit_run(tests);
}
