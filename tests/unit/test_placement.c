// SPDX-License-Identifier: GPL-3.0-or-later
/* Rules of placement on x86-64, one byte string each. */
#include "unit.h"

#include <string.h>

#include "probes/place/placement.h"

#define ADDRESS 0x401000

struct row {
	const char *what;
	const char *code;
	size_t size;
	uint32_t argument_mask;
	bool old_kernel, past_load, reenters, impossible;
	enum probe_class class;
	uint32_t offset;
};

#define CODE(s) .code = (s), .size = sizeof(s) - 1
#define PUSH	"\x55"
#define ENDBR	"\xf3\x0f\x1e\xfa"
#define NOP5	"\x0f\x1f\x44\x00\x00"
#define RET	"\xc3"

static struct placement find(const struct row *row)
{
	struct code_input in = { .machine = CODE_X86_64,
				 .code = (const uint8_t *)row->code,
				 .size_bytes = row->size,
				 .address = ADDRESS,
				 .argument_mask = row->argument_mask,
				 .nop5_optimised = !row->old_kernel };
	struct placement out;

	placement_find(&in, &out);
	return out;
}

static const struct row rows[] = {
	{ "push is emulated", CODE(PUSH RET), .class = CLASS_EMULATED },
	{ "push of r12 too", CODE("\x41\x54" RET), .class = CLASS_EMULATED },
	{ "but not with another REX", CODE("\x40\x55" RET), .class = CLASS_SINGLE_STEP },
	{ "nor of a constant", CODE("\x6a\x05" RET), .class = CLASS_SINGLE_STEP },
	{ "nop5 is optimised", CODE(NOP5 PUSH RET), .class = CLASS_NOP5 },
	{ "unless the kernel is old", CODE(NOP5 RET), .old_kernel = true,
	  .class = CLASS_SINGLE_STEP },
	{ "then the push behind it serves", CODE(NOP5 PUSH RET), .old_kernel = true,
	  .class = CLASS_EMULATED, .offset = 5 },
	{ "nop5 before an earlier nop", CODE("\x90" NOP5 RET), .class = CLASS_NOP5, .offset = 1 },
	{ "long nops are emulated", CODE("\x66\x0f\x1f\x44\x00\x00" RET), .class = CLASS_EMULATED },
	{ "those over 8 bytes stepped", CODE("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00" RET),
	  .class = CLASS_SINGLE_STEP },
	{ "endbr64 is passed", CODE(ENDBR PUSH RET), .class = CLASS_EMULATED, .offset = 4 },
	{ "the stack pointer stays", CODE("\x48\x83\xec\x08" NOP5 RET),
	  .class = CLASS_SINGLE_STEP },
	{ "a push is not passed", CODE(PUSH NOP5 RET), .class = CLASS_EMULATED },
	{ "conditional jump", CODE("\x85\xff\x75\x01\x90" RET), .class = CLASS_EMULATED,
	  .offset = 2 },
	{ "is not passed", CODE("\x85\xff\x75\x05" NOP5 RET), .class = CLASS_EMULATED,
	  .offset = 2 },
	{ "a call is not passed", CODE("\x31\xc0\xe8\x00\x00\x00\x00" NOP5 RET),
	  .class = CLASS_EMULATED, .offset = 2 },
	{ "load before a jcc is passed", CODE("\x8b\x47\x10\xa8\x7c\x75\x01\x90" RET),
	  .past_load = true, .class = CLASS_EMULATED, .offset = 5 },
	{ "not for nop5 behind a push-like", CODE("\x90\x8b\x07" NOP5 RET),
	  .class = CLASS_EMULATED },
	{ "not to step behind it", CODE("\x8b\x07\x48\x89\xc2\x48\x01\xd0" RET),
	  .class = CLASS_SINGLE_STEP },
	{ "so is a store", CODE("\x89\x07" PUSH RET), .past_load = true, .class = CLASS_EMULATED,
	  .offset = 2 },
	{ "but not one to the red zone", CODE("\x89\x44\x24\xf8" NOP5 RET),
	  .class = CLASS_SINGLE_STEP },
	{ "nor a vector store there", CODE("\x0f\x11\x44\x24\xf0" NOP5 RET),
	  .class = CLASS_SINGLE_STEP },
	{ "nor an add to memory there", CODE("\x01\x44\x24\xf8" NOP5 RET),
	  .class = CLASS_SINGLE_STEP },
	{ "comparing with memory is a load", CODE("\x39\x07" PUSH RET), .past_load = true,
	  .class = CLASS_EMULATED, .offset = 2 },
	{ "lock is refused", CODE("\xf0\xff\x07" NOP5 RET), .impossible = true },
	{ "xchg with memory is atomic", CODE("\x87\x07" NOP5 RET), .class = CLASS_SINGLE_STEP },
	{ "fences are not passed", CODE("\x0f\xae\xf0" NOP5 RET), .class = CLASS_SINGLE_STEP },
	{ "rep strings fire each time", CODE("\xf3\xaa" NOP5 RET), .impossible = true },
	{ "and are not passed", CODE("\x31\xc0\xf3\xaa" NOP5 RET), .class = CLASS_SINGLE_STEP },
	{ "single ones are stores", CODE("\xaa" NOP5 RET), .past_load = true, .class = CLASS_NOP5,
	  .offset = 1 },
	{ "system calls are refused", CODE("\x0f\x05" NOP5 RET), .impossible = true },
	{ "and not passed", CODE("\x31\xc0\x0f\x05" NOP5 RET), .class = CLASS_SINGLE_STEP },
	{ "pushf is refused", CODE("\x9c" RET), .impossible = true },
	{ "pause is refused", CODE("\xf3\x90" NOP5 RET), .impossible = true },
	{ "xchg r8 looks like nop", CODE("\x41\x90" RET), .class = CLASS_SINGLE_STEP, .offset = 2 },
	{ "VEX is refused but passed", CODE("\xc5\xf9\xef\xc0" PUSH RET), .class = CLASS_EMULATED,
	  .offset = 4 },
	{ "EVEX too", CODE("\x62\xf1\x7d\x48\xef\xc0" PUSH RET), .class = CLASS_EMULATED,
	  .offset = 6 },
	{ "a VEX load, when nothing else", CODE("\xc5\xf8\x10\x07\x31\xc0" RET), .past_load = true,
	  .class = CLASS_SINGLE_STEP, .offset = 4 },
	{ "a VEX store to the stack is not passed", CODE("\xc5\xf8\x11\x44\x24\xf0\x31\xc0" RET),
	  .impossible = true },
	{ "ds prefix", CODE("\x3e\x89\xf8" PUSH RET), .class = CLASS_EMULATED, .offset = 3 },
	{ "fs prefix is stepped", CODE("\x64\x48\x8b\x04\x25\x00\x00\x00\x00" RET),
	  .class = CLASS_SINGLE_STEP },
	{ "captured argument is kept", CODE("\x31\xff" PUSH RET), .argument_mask = 1,
	  .class = CLASS_SINGLE_STEP },
	{ "another may be written", CODE("\x31\xff" PUSH RET), .argument_mask = 2,
	  .class = CLASS_EMULATED, .offset = 2 },
	{ "parts of a register count", CODE("\x40\xb7\x01" PUSH RET), .argument_mask = 1,
	  .class = CLASS_SINGLE_STEP },
	{ "implicit writes count", CODE("\x48\x99" PUSH RET), .argument_mask = 4,
	  .class = CLASS_SINGLE_STEP },
	{ "both of xchg count", CODE("\x48\x87\xf0" PUSH RET), .argument_mask = 2,
	  .class = CLASS_SINGLE_STEP },
	{ "division writes rdx", CODE("\xf7\xf1" PUSH RET), .argument_mask = 4,
	  .class = CLASS_SINGLE_STEP },
	{ "and is passed otherwise", CODE("\xf7\xf1" PUSH RET), .argument_mask = 3,
	  .class = CLASS_EMULATED, .offset = 2 },
	{ "r9 is argument 5", CODE("\x45\x31\xc9" PUSH RET), .argument_mask = 32,
	  .class = CLASS_SINGLE_STEP },
	{ "a branch target ends the run", CODE("\x31\xc0\x90\xeb\xfd"),
	  .class = CLASS_SINGLE_STEP },
	{ "behind the probe it does not matter", CODE("\x31\xc0\x90\x90\xeb\xfd"),
	  .class = CLASS_EMULATED, .offset = 2 },
	{ "a function that is its own loop", CODE("\x90\x85\xff\x75\xfb" RET), .reenters = true,
	  .impossible = true },
	{ "a loop behind the first instruction is none", CODE("\x90\x85\xff\x75\xfc" RET),
	  .class = CLASS_EMULATED },
	{ "ud2 cannot be probed", CODE("\x0f\x0b"), .impossible = true },
	{ "a lone ret can", CODE(RET), .class = CLASS_SINGLE_STEP },
	{ "a 16-bit branch cannot", CODE("\x66\xe9\x00\x00"), .impossible = true },
	{ "prefetch is no load", CODE("\x0f\x18\x0f" PUSH RET), .class = CLASS_EMULATED,
	  .offset = 3 },
	{ "nothing", CODE(""), .impossible = true },
	{ "half an instruction", CODE("\x48\x8b"), .impossible = true },
};

static void rules_hold(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct placement p = find(&rows[i]);

		if (p.possible == rows[i].impossible)
			fail_msg("%s: possible %d (%s)", rows[i].what, p.possible, p.reason);
		if (!p.possible) {
			assert_string_not_equal(p.reason, "");
			assert_int_equal(p.reenters, rows[i].reenters);
			continue;
		}
		if (p.class != rows[i].class || p.entry_offset != rows[i].offset ||
		    p.moved_past_load != rows[i].past_load || p.reenters != rows[i].reenters)
			fail_msg("%s: class %d at +%u, load %d, reenters %d", rows[i].what, p.class,
				 p.entry_offset, p.moved_past_load, p.reenters);
		assert_int_equal(p.return_offset, p.entry_offset);
		assert_int_equal(p.return_class, p.class);
	}
}

/* The kernel writes the five bytes of an optimised nop at once, never across a page. */
static void nop5_across_a_page_is_emulated(void **state)
{
	struct code_input in = { .machine = CODE_X86_64,
				 .code = (const uint8_t *)NOP5 RET,
				 .size_bytes = 6,
				 .address = 0x401ffc,
				 .nop5_optimised = true };
	struct placement out;

	placement_find(&in, &out);
	assert_int_equal(out.class, CLASS_EMULATED);
	in.address = 0x401ffb;
	placement_find(&in, &out);
	assert_int_equal(out.class, CLASS_NOP5);
}

static void probes_stay_before_another_entry_point(void **state)
{
	struct code_input in = { .machine = CODE_X86_64,
				 .code = (const uint8_t *)ENDBR PUSH RET,
				 .size_bytes = 6,
				 .address = ADDRESS,
				 .entry_limit = 4 };
	struct placement out;

	placement_find(&in, &out);
	assert_int_equal(out.entry_offset, 0);
	assert_int_equal(out.class, CLASS_SINGLE_STEP);
}

/* What may be recorded of arguments without moving the probe. */
static void arguments_that_are_still_there(void **state)
{
	static const struct row moved = { "", CODE("\x31\xff" PUSH RET), .class = CLASS_EMULATED };
	static const struct row first = { "", CODE(PUSH "\x31\xff" RET), .class = CLASS_EMULATED };

	assert_int_equal(find(&moved).entry_offset, 2);
	assert_int_equal(find(&moved).intact, 0x3e);
	assert_int_equal(find(&first).intact, 0x3f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold),
		cmocka_unit_test(arguments_that_are_still_there),
		cmocka_unit_test(nop5_across_a_page_is_emulated),
		cmocka_unit_test(probes_stay_before_another_entry_point),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
