/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "symbol/demangle.h"

static void is(char *got, const char *expected)
{
	assert_string_equal(got, expected);
	free(got);
}

static void cxx(void **state)
{
	is(demangle("_ZN2ns5plainEPKc"), "ns::plain(char const*)");
	is(demangle_bare("_ZN2ns5plainEPKc"), "ns::plain");
	is(demangle("_ZN2ns5twiceIiEET_S1_"), "int ns::twice<int>(int)");
	is(demangle_bare("_ZN2ns5twiceIiEET_S1_"), "ns::twice<int>");
	is(demangle_bare("_ZN2ns3BoxltERKS0_"), "ns::Box::operator<");
	is(demangle("_ZN2ns5plainEi.isra.0"), "ns::plain(int) [clone .isra.0]");
	assert_true(symbol_is_cxx("_ZN2ns5plainEPKc"));
	assert_false(symbol_is_rust("_ZN2ns5plainEPKc"));
}

static void rust(void **state)
{
	static const char legacy[] = "_ZN4core3fmt5Write9write_str17h0123456789abcdefE";
	static const char v0[] = "_RNvNtCs1234_7mycrate3foo3bar";

	is(demangle(legacy), "core::fmt::Write::write_str"); /* the hash is cut off */
	is(demangle(v0), "mycrate::foo::bar");
	assert_true(symbol_is_rust(legacy));
	assert_true(symbol_is_rust(v0));
	assert_false(symbol_is_cxx(legacy));
}

static void not_mangled(void **state)
{
	is(demangle("pthread_mutex_lock"), "pthread_mutex_lock");
	is(demangle(""), "");
	is(demangle("_"), "_");
	is(demangle("_Z"), "_Z");
	is(demangle("_ZN"), "_ZN");
	is(demangle("_R"), "_R");
	is(demangle("_ZNotAName"), "_ZNotAName");
	assert_false(symbol_is_cxx("main"));
}

/* Each substitution doubles the name: f(A<X,X>, A<that,that>, …) stands for 2^40 bytes. */
static void a_name_that_explodes(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char bomb[1024] = "_Z1f1AIiiE", expected[1024];

	for (int i = 0; i < 35; i++) {
		char part[32];

		snprintf(part, sizeof(part), "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(bomb, part);
	}
	strcpy(expected, bomb);
	is(demangle(bomb), expected);
	is(demangle("_Z3onei"), "one(int)"); /* and the next one works */
}

static void deep_nesting(void **state)
{
	char symbol[20000] = "_Z1f", *end = symbol + 4;

	memset(end, 'P', 15000);
	strcpy(end + 15000, "i");
	free(demangle(symbol)); /* must only come back */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx),		cmocka_unit_test(rust),
		cmocka_unit_test(not_mangled),	cmocka_unit_test(a_name_that_explodes),
		cmocka_unit_test(deep_nesting),
	};

	return unit_run(tests);
}
