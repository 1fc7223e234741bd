// SPDX-License-Identifier: GPL-3.0-or-later
/* Rules of placement on aarch64, a few words each. */

#include "unit.h"

#include "probes/place/placement.h"

#define ADDRESS 0x10000

enum {
	NOP = 0xd503201f,
	YIELD = 0xd503203f,
	BTI_C = 0xd503245f,
	PACIASP = 0xd503233f,
	RET = 0xd65f03c0,
	RETAA = 0xd65f0bff,
	PUSH_FRAME = 0xa9bf7bfd,  /* stp x29, x30, [sp, #-16]! */
	POP_FRAME = 0xa8c17bfd,	  /* ldp x29, x30, [sp], #16 */
	SET_FRAME = 0x910003fd,	  /* mov x29, sp */
	SUB_SP = 0xd10083ff,	  /* sub sp, sp, #32 */
	LOAD = 0xf9400020,	  /* ldr x0, [x1] */
	LOAD_X16 = 0xf9400410,	  /* ldr x16, [x0, #8] */
	STORE = 0xf9000020,	  /* str x0, [x1] */
	STORE_STACK = 0xf90007e0, /* str x0, [sp, #8] */
	LDXR = 0xc85f7c20,
	LDADD = 0xf8200041,
	LDAR = 0xc8dffc20,
	CAS = 0xc8a07c41,
	DMB = 0xd5033bbf,
	SVC = 0xd4000001,
	MRS_TLS = 0xd53bd040, /* mrs x0, tpidr_el0 */
	LOAD_LITERAL = 0x58000040,
	ADRP = 0x90000000, /* adrp x0, . */
	ADR_X1 = 0x10000001,
	MOV_X0_X1 = 0xaa0103e0,
	MOV_W8 = 0x52800028,
	MOV_X30_X1 = 0xaa0103fe,
	CBZ_8 = 0xb4000040, /* cbz x0, .+8 */
	TBZ_8 = 0x36000040,
	BEQ_8 = 0x54000040,
	BHI_8 = 0x54000048,
	B_8 = 0x14000002,      /* b .+8 */
	B_BACK_8 = 0x17fffffe, /* b .-8 */
	BL = 0x94000002,
	BR_X0 = 0xd61f0000,
	BR_X16 = 0xd61f0200,
	LOAD_BYTE_ENTRY = 0x38604820,	 /* ldrb w0, [x1, w0, uxtw] */
	LOAD_POINTER_ENTRY = 0xf8607820, /* ldr x0, [x1, x0, lsl #3] */
	ADD_ENTRY = 0x8b208820,		 /* add x0, x1, w0, sxtb #2 */
	CMP_5 = 0x7100141f,		 /* cmp w0, #5 */
	ADDVL_SP = 0x043f57ff,
	PREFETCH = 0xf9800000,
	BRK = 0xd4200000,
	CPYFP = 0x19010440,
};

struct row {
	const char *what;
	uint32_t words[8];
	uint32_t argument_mask;
	bool impossible, no_return;
	enum probe_class class, alone;
	uint32_t alone_offset;
	uint32_t sites; /* bit n: word n is an exit */
	bool incomplete;
};

#define STEP CLASS_SINGLE_STEP
#define EMUL CLASS_EMULATED

static const struct row rows[] = {
	{ "both probes at +0",
	  { MOV_W8, ADRP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "emulated ones", { ADRP, RET }, .class = EMUL, .alone = EMUL, .sites = 2 },
	{ "cbz",
	  { MOV_W8, CBZ_8, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 8 },
	{ "tbz",
	  { BTI_C, TBZ_8, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 8 },
	{ "b.cond",
	  { MOV_W8, BEQ_8, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 8 },
	{ "bl",
	  { MOV_W8, BL, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 8 },
	{ "paciasp writes the return address",
	  { PACIASP, NOP, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "bti does not",
	  { BTI_C, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "nor any write of x30",
	  { MOV_X30_X1, NOP, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "sp moves: a push",
	  { PUSH_FRAME, NOP, POP_FRAME, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 8 },
	{ "sp moves: a subtraction",
	  { SUB_SP, NOP, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "sp moves: by vector lengths",
	  { ADDVL_SP, NOP, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "a load is passed for a cheaper class",
	  { LOAD, ADRP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "a store is",
	  { STORE, ADRP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "one to the stack is not",
	  { STORE_STACK, NOP, RET },
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "atomics are not passed", { LDADD, NOP, RET }, .class = STEP, .alone = STEP, .sites = 4 },
	{ "nor cas", { CAS, NOP, RET }, .class = STEP, .alone = STEP, .sites = 4 },
	{ "nor acquiring loads", { LDAR, NOP, RET }, .class = STEP, .alone = STEP, .sites = 4 },
	{ "nor barriers", { DMB, NOP, RET }, .class = STEP, .alone = STEP, .sites = 4 },
	{ "exclusives are refused", { LDXR, NOP, RET }, .impossible = true },
	{ "system calls are refused", { SVC, NOP, RET }, .impossible = true },
	{ "and not passed", { MOV_W8, SVC, NOP, RET }, .class = STEP, .alone = STEP, .sites = 8 },
	{ "mrs is refused, and passed",
	  { MRS_TLS, NOP, RET },
	  .no_return = true,
	  .class = EMUL,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "literal loads too",
	  { LOAD_LITERAL, NOP, RET },
	  .no_return = true,
	  .class = EMUL,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "yield is refused", { YIELD, NOP, RET }, .impossible = true },
	{ "copies are refused", { CPYFP, NOP, RET }, .impossible = true },
	{ "prefetch is harmless",
	  { PREFETCH, NOP, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "brk is refused", { BRK }, .impossible = true },
	{ "a captured argument stays",
	  { MOV_X0_X1, NOP, RET },
	  .argument_mask = 1,
	  .class = STEP,
	  .alone = STEP,
	  .sites = 4 },
	{ "another may go",
	  { MOV_X0_X1, NOP, RET },
	  .argument_mask = 2,
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 4 },
	{ "a target ends the run", { MOV_W8, NOP, NOP, B_BACK_8 }, .class = STEP, .alone = STEP },
	{ "ret with authentication",
	  { NOP, RETAA },
	  .class = EMUL,
	  .alone = EMUL,
	  .incomplete = true },
	{ "tail jump", { NOP, B_8 }, .class = EMUL, .alone = EMUL, .sites = 2 },
	{ "jump away with a frame",
	  { PUSH_FRAME, B_8 },
	  .class = STEP,
	  .alone = STEP,
	  .incomplete = true },
	{ "conditional tail jump",
	  { NOP, RET, CBZ_8 },
	  .class = EMUL,
	  .alone = EMUL,
	  .sites = 2,
	  .incomplete = true },
	{ "tail call through memory",
	  { NOP, LOAD_X16, BR_X16 },
	  .class = EMUL,
	  .alone = EMUL,
	  .sites = 4 },
	{ "switch over bytes",
	  { NOP, ADR_X1, LOAD_BYTE_ENTRY, ADD_ENTRY, BR_X0, RET },
	  .class = EMUL,
	  .alone = EMUL,
	  .sites = 32 },
	{ "switch over pointers, bounded",
	  { CMP_5, BHI_8, LOAD_POINTER_ENTRY, BR_X0, RET },
	  .class = STEP,
	  .alone = EMUL,
	  .alone_offset = 4,
	  .sites = 16 },
	{ "table of functions, unbounded",
	  { NOP, LOAD_POINTER_ENTRY, BR_X0, RET },
	  .class = EMUL,
	  .alone = EMUL,
	  .sites = 8,
	  .incomplete = true },
	{ "jump through an argument", { NOP, BR_X0 }, .class = EMUL, .alone = EMUL, .sites = 2 },
	{ "jump of unknown origin, tables about",
	  { NOP, LOAD_BYTE_ENTRY, BR_X16 },
	  .class = EMUL,
	  .alone = EMUL,
	  .incomplete = true },
};

static struct placement find(const struct row *row)
{
	uint8_t code[32];
	struct code_input in = { .machine = CODE_AARCH64,
				 .code = code,
				 .address = ADDRESS,
				 .argument_mask = row->argument_mask };
	struct placement out;
	size_t n = 8;

	while (n && !row->words[n - 1])
		n--;
	for (size_t i = 0; i < n * 4; i++)
		code[i] = (uint8_t)(row->words[i / 4] >> (8 * (i % 4)));
	in.size_bytes = n * 4;
	placement_find(&in, &out);
	return out;
}

static void check_row(const struct row *row, const struct placement *p)
{
	uint32_t sites = 0;

	for (uint32_t i = 0; i < p->n_ret_sites; i++)
		sites |= 1u << (p->ret_sites[i] / 4);
	if (p->class != row->class || p->alone_class != row->alone ||
	    p->alone_offset != row->alone_offset || p->return_possible == row->no_return ||
	    p->return_offset)
		fail_msg("%s: class %d, alone %d at +%u", row->what, p->class, p->alone_class,
			 p->alone_offset);
	if (sites != row->sites || p->ret_sites_complete == row->incomplete)
		fail_msg("%s: exits 0x%x, %s", row->what, sites, p->ret_sites_reason);
	if (row->incomplete)
		assert_string_not_equal(p->ret_sites_reason, "");
}

static void rules_hold(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct placement p = find(&rows[i]);

		if (p.possible == rows[i].impossible)
			fail_msg("%s: possible %d (%s)", rows[i].what, p.possible, p.reason);
		if (p.possible)
			check_row(&rows[i], &p);
	}
}

static void entry_probe_moves_without_a_return_probe(void **state)
{
	const struct row row = { .words = { MOV_W8, ADRP, RET } };
	struct placement p = find(&row);

	assert_int_equal(p.entry_offset, 0);
	placement_without_return(&p);
	assert_int_equal(p.entry_offset, 4);
	assert_int_equal(p.class, CLASS_EMULATED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold),
		cmocka_unit_test(entry_probe_moves_without_a_return_probe),
	};

	return cmocka_run_group_tests_name("placement_arm64", tests, NULL, NULL);
}
