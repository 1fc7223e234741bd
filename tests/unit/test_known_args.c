/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include "trace/meta/known_args.h"

/* The number of the argument by which a function's calls are told apart by size, 0: none. */
static uint32_t size_of(const char *symbol)
{
	const struct known_arg *found[KNOWN_ARGS_MAX];
	size_t n = known_args(symbol, found);

	for (size_t i = 0; i < n; i++)
		if (found[i]->class == ARGUMENT_SIZE && !found[i]->aside)
			return found[i]->number;
	return 0;
}

/* As glibc 2.31 … 2.42 call what is behind their IFUNC symbols. */
static void what_the_loader_chooses_is_known(void **state)
{
	static const char *const of_third[] = {
		"memcpy",
		"__memcpy_avx512_unaligned_erms",
		"__memcpy_sse2_unaligned",
		"__memcpy_ssse3",
		"__memcpy_erms",
		"__memcpy_chk_evex_unaligned_erms",
		"__memmove_avx_unaligned_erms_rtm",
		"__mempcpy_avx512_no_vzeroupper",
		"__memset_avx2_unaligned_erms",
		"__memcmp_avx2_movbe",
		"__memcmpeq_evex",
		"__memchr_evex",
		"__memrchr_avx2",
		"__memcpy_generic",
		"__memcpy_a64fx",
		"__memmove_sve",
		"__memset_zva64",
		"__memset_kunpeng",
		"__memchr_nosimd",
	};

	for (size_t i = 0; i < sizeof(of_third) / sizeof(*of_third); i++)
		if (size_of(of_third[i]) != 3)
			fail_msg("%s: its third argument is not known", of_third[i]);
}

static void others_of_like_name_are_not(void **state)
{
	static const char *const others[] = { "__memcpy",	"memcpy_fast", "__wmemset_evex",
					      "__strlen_avx2",	"_memcpy_a",   "__memcpyx_a",
					      "__read_nocancel" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (size_of(others[i]))
			fail_msg("%s is taken for another function", others[i]);
	assert_int_equal(size_of("malloc"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_loader_chooses_is_known),
		cmocka_unit_test(others_of_like_name_are_not),
	};

	return unit_run(tests);
}
