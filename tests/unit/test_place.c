/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of the system and files of the user. */
#include "unit.h"

#include "base/place.h"

static void who_has_the_source_builds_with_symbols(void **state)
{
	assert_string_equal(place_symbols_from("/usr/bin/gm"), "install its -dbgsym package");
	assert_string_equal(place_symbols_from("/lib/x86_64-linux-gnu/libz.so.1"),
			    "install its -dbgsym package");
	assert_string_equal(place_symbols_from("/home/me/app"),
			    "build it without -s, and do not strip it");
	assert_string_equal(place_symbols_from("/usr/local/bin/app"),
			    "build it without -s, and do not strip it");
	assert_string_equal(place_symbols_from("/usrland/app"),
			    "build it without -s, and do not strip it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_source_builds_with_symbols),
	};

	return unit_run(tests);
}
