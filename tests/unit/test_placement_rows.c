// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The instructions whose probing the guest kernels confirm (tests/vm/guest/placement.c) are
 * probeable to the decoder as well: the two lists are one.
 */

#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "unit.h"

#include "probes/code/decode.h"
#include "tests/vm/guest/placement_rows.h"

static void every_row_is_probeable(void **state)
{
	void *decoder = decoder_x86_new(true);

	for (size_t i = 0; i < N_PROBED_ROWS; i++) {
		const struct probed_row *row = &probed_rows[i];
		struct insn insn;

#ifdef __x86_64__
		assert_true(decode_x86(decoder, row->probed, 15, (uintptr_t)row->probed, &insn));
#else
		assert_true(decode_arm64(NULL, row->probed, 4, (uintptr_t)row->probed, &insn));
#endif
		if (insn.class == CLASS_N)
			fail_msg("%s %s", row->name, insn.refusal);
	}
	decoder_x86_free(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_probeable),
	};

	return cmocka_run_group_tests_name("placement_rows", tests, NULL, NULL);
}
