/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stubs of aarch64 in this process: a function made of them records each call, whatever threads,
 * signals and forks do, and changes nothing that its caller sees. */
#include "unit.h"

#include "probes/inject/machine/blob.h"

#ifdef __aarch64__

#include "stubs.h"

#include "probes/inject/machine/threadtable.h"

static uint32_t period; /* one call in this many is recorded */
static bool gives_up;	/* functions may be given up */

static uint64_t table_at(void)
{
	return (uintptr_t)blocks +
	       (INPROC_SLOTS + 1) * blob_block_bytes(period, FUNCTIONS, gives_up);
}

static void emit(struct stub_code *c, uint32_t w)
{
	stub_emit(c, &w, sizeof(w));
}

static void *begin_function(struct stub_code *c, struct stub_site *s)
{
	void *at = c->bytes + c->n;

	stub_emit_site_entry(c, s);
	return at;
}

static void end_function(struct stub_code *c, struct stub_site *s)
{
	stub_emit_site_exit(c, s);
	stub_emit_return(c);
}

static void make_functions(struct stub_code *c, const struct stub_facts *facts)
{
	struct stub_site s = { .facts = facts, .is_entry = true, .is_exit = true };
	uint64_t distance;

	s.entry.id = 3;
	made = (int (*)(int))(uintptr_t)begin_function(c, &s);
	emit(c, 0x11000400); /* add w0, w0, #1 */
	end_function(c, &s);
	s.entry.id = 0;
	frequent = (int (*)(int))(uintptr_t)begin_function(c, &s);
	emit(c, 0x11000400); /* add w0, w0, #1 */
	end_function(c, &s);
	s.entry.id = 7;
	s.entry.waits = true;
	taken = (int (*)(int))(uintptr_t)begin_function(c, &s);
	emit(c, 0x11000400); /* add w0, w0, #1 */
	end_function(c, &s);
	s.entry.waits = false;
	s.entry.id = 2;
	gated = (int (*)(int))(uintptr_t)begin_function(c, &s);
	emit(c, 0xa9be7bfd); /* stp x29, x30, [sp, #-32]! */
	emit(c, 0xb90013e0); /* str w0, [sp, #16] */
	emit(c, 0x340000a0); /* cbz w0, 1f */
	emit(c, 0x51000400); /* sub w0, w0, #1 */
	distance = (uintptr_t)gated - (c->address + c->n);
	emit(c, 0x94000000 | ((uint32_t)(distance >> 2) & 0x3ffffff)); /* bl gated */
	emit(c, 0xb94013e1);					       /* ldr w1, [sp, #16] */
	emit(c, 0x0b010000);					       /* add w0, w0, w1 */
	emit(c, 0xa8c27bfd); /* 1: ldp x29, x30, [sp], #32 */
	end_function(c, &s);
	s.entry.id = 1;
	left = (void (*)(bool))(uintptr_t)begin_function(c, &s);
	emit(c, 0x34000040); /* cbz w0, 1f */
	emit(c, 0xd4200000); /* brk #0 */
	end_function(c, &s);
	s.entry = (struct stub_entry){ .id = 4, .values = INPROC_ARGUMENTS };
	s.returns = true;
	valued = (sum_function *)(uintptr_t)begin_function(c, &s);
	emit(c, 0x8b050000); /* add x0, x0, x5 */
	end_function(c, &s);
	s.entry = (struct stub_entry){ .id = 6, .values = 3 | 1u << INPROC_CALLER };
	s.returns = false;
	placed = (sum_function *)(uintptr_t)begin_function(c, &s);
	end_function(c, &s);
	s.entry = (struct stub_entry){ .id = 5, .values = 7, .sometimes = true };
	s.returns = false;
	sometimes = (sum_function *)(uintptr_t)begin_function(c, &s);
	emit(c, 0x8b050000); /* add x0, x0, x5 */
	end_function(c, &s);
}

static void make_code(void)
{
	const struct blob blob = blob_get();
	uint8_t *page = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stub_code c = { .bytes = page, .address = (uintptr_t)page, .room = CODE };
	const struct stub_facts facts = { .enter = c.address + blob.enter,
					  .leave = c.address + blob.leave };
	const struct blob_facts f = { .region = (uintptr_t)region,
				      .blocks = (uintptr_t)blocks,
				      .ring_bytes = RING,
				      .block_bytes = blob_block_bytes(period, FUNCTIONS, gives_up),
				      .rows = (uintptr_t)region + REGION + INPROC_SLOTS * RING,
				      .rows_bytes = inproc_rows_bytes(FUNCTIONS),
				      .period = period,
				      .table = table_at(),
				      .small_from = UINT64_MAX,
				      .misses_most = gives_up ? BLOCK_MISSES_MOST : 0 };

	assert_ptr_not_equal(page, MAP_FAILED);
	stub_emit(&c, blob.code, blob.bytes);
	memcpy(page, &f, sizeof(f));
	in_code = (struct blob_facts *)page;
	make_functions(&c, &facts);
	assert_true(c.n < c.room);
	__builtin___clear_cache((char *)page, (char *)page + c.n);
}

static int begin_with(uint32_t one_in, bool may_give_up)
{
	period = one_in;
	gives_up = may_give_up;
	begin_drain(period > 1);
	begin_arguments();
	begin_blocks((INPROC_SLOTS + 1) * blob_block_bytes(period, FUNCTIONS, gives_up) +
		     blob_table_bytes());
	make_code();
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return begin_with(1, false);
}

static int begin_gated(void **state)
{
	(void)state;
	return begin_with(PERIOD, false);
}

static int begin_giving_up(void **state)
{
	(void)state;
	return begin_with(1, true);
}

/* ---- registers ---- */

#define N_REGISTERS 30 /* x0 to x29 */

/* Calls the function with registers that are all different, x16 its address, and stores what they
 * are then, and what the stack pointer has moved. */
uint64_t stub_call_with(uint64_t seen[N_REGISTERS], void *function);
__asm__(".pushsection .text\n"
	".globl stub_call_with\n"
	"stub_call_with:\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-112]!\n"
	"	stp x19, x20, [sp, #16]\n	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n	stp x0, x18, [sp, #96]\n"
	"	mov x16, x1\n"
	"	mov x30, sp\n	stp x30, x30, [sp, #-16]!\n"
	"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,21,22,23,24,25,26,27,28,29\n"
	"	mov x\\n, #(\\n + 100)\n"
	"	.endr\n"
	"	blr x16\n"
	"	ldr x30, [sp, #112]\n" /* x0 as it was */
	"	stp x0, x1, [x30]\n	stp x2, x3, [x30, #16]\n"
	"	stp x4, x5, [x30, #32]\n	stp x6, x7, [x30, #48]\n"
	"	stp x8, x9, [x30, #64]\n	stp x10, x11, [x30, #80]\n"
	"	stp x12, x13, [x30, #96]\n	stp x14, x15, [x30, #112]\n"
	"	stp x16, x17, [x30, #128]\n	stp x18, x19, [x30, #144]\n"
	"	stp x20, x21, [x30, #160]\n	stp x22, x23, [x30, #176]\n"
	"	stp x24, x25, [x30, #192]\n	stp x26, x27, [x30, #208]\n"
	"	stp x28, x29, [x30, #224]\n"
	"	ldp x1, x2, [sp], #16\n	mov x2, sp\n	sub x0, x1, x2\n"
	"	ldr x18, [sp, #104]\n"
	"	ldp x27, x28, [sp, #80]\n	ldp x25, x26, [sp, #64]\n"
	"	ldp x23, x24, [sp, #48]\n	ldp x21, x22, [sp, #32]\n"
	"	ldp x19, x20, [sp, #16]\n	ldp x29, x30, [sp], #112\n"
	"	ret\n"
	".popsection\n");

static bool keeps_registers(uintptr_t function, uint64_t result)
{
	uint64_t seen[N_REGISTERS];

	if (stub_call_with(seen, (void *)function) != 0 || seen[0] != result)
		return false;
	for (unsigned i = 1; i < N_REGISTERS; i++)
		if (seen[i] != (i == 16 ? function : i + 100))
			return false;
	return true;
}

static void *check_registers(void *unused)
{
	/* the first call takes a slot, some find the ring full */
	for (int i = 0; i < (period > 1 ? 300 : TRIED); i++)
		if (!keeps_registers((uintptr_t)made, 101))
			return "a register was changed";
	return unused;
}

static void *check_registers_with_values(void *unused)
{
	for (int i = 0; i < 300; i++)
		if (!keeps_registers((uintptr_t)valued, 100 + 105) ||
		    !keeps_registers((uintptr_t)sometimes, 100 + 105))
			return "a register was changed";
	return unused;
}

static void test_registers_with_values(void **state)
{

	(void)state;
	check_in_thread(check_registers_with_values, NULL);
}

static void test_registers(void **state)
{
	uint64_t calls, lost;

	(void)state;
	check_in_thread(check_registers, NULL);
	read_all(&calls, &lost);
	if (gives_up) /* some calls passed */
		assert_true(calls && 2 * calls + lost < 2 * TRIED);
	else
		assert_int_equal(2 * calls + lost, 2 * TRIED);
}

/* ---- threads ---- */

static const struct inproc_slot *slots(void)
{
	return (const struct inproc_slot *)(region + INPROC_PAGE);
}

static void *call_once(void *slot)
{
	uint32_t i = 0;

	made(1);
	while (slots()[i].tid != (uint32_t)gettid() || slots()[i].state != INPROC_LIVE)
		i++;
	*(uint32_t *)slot = i;
	return NULL;
}

/* A thread that is given the stack of one that has ended takes a slot of its own. */
static void test_one_after_the_other(void **state)
{
	uint32_t before = UINT32_MAX;
	uint64_t calls, lost;
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint32_t slot = UINT32_MAX;

		assert_int_equal(pthread_create(&thread, NULL, call_once, &slot), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_not_equal(slot, UINT32_MAX);
		assert_int_not_equal(slot, before);
		before = slot;
	}
	read_all(&calls, &lost);
	assert_int_equal(calls, 20);
	assert_int_equal(lost, 0);
}

/* Rows of threads that have ended are taken by others, wherever a search begins. */
static void test_table_is_full(void **state)
{
	struct threadtable_row *rows = (struct threadtable_row *)table_at();
	struct inproc_header *h = (struct inproc_header *)region;
	const uint64_t before = h->without_ring;
	const struct inproc_slot nobodys = { .state = INPROC_FREE };
	const uint64_t block[BLOCK_BYTES / 8] = { [BLOCK_SLOT / 8] = (uintptr_t)&nobodys };
	uint32_t slot = UINT32_MAX;
	uint64_t calls, lost;
	pthread_t thread;

	(void)state;
	for (uint64_t i = 0; i < 1u << THREADTABLE_BITS; i++)
		if (!rows[i].key)
			rows[i] = (struct threadtable_row){ .key = 2 + i,
							    .block = (uintptr_t)block,
							    .tid = 1 };
	assert_int_equal(pthread_create(&thread, NULL, call_once, &slot), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_not_equal(slot, UINT32_MAX);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1);
	assert_int_equal(h->without_ring - before, 0);
	for (uint64_t i = 0; i < 1u << THREADTABLE_BITS; i++)
		if (rows[i].block == (uintptr_t)block)
			rows[i] = (struct threadtable_row){ 0 };
}

/* ---- one call in several ---- */

/* The same registers are kept as where every call is recorded. */
static void test_gate_keeps_registers(void **state)
{
	uint64_t calls, lost;

	(void)state;
	check_in_thread(check_registers, NULL);
	read_all(&calls, &lost);
	assert_int_equal(lost, 0);
	assert_in_range(calls, 59, 61);
}

#define EACH_CALL(f)  cmocka_unit_test_setup_teardown(f, begin, end)
#define SOME_CALLS(f) cmocka_unit_test_setup_teardown(f, begin_gated, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH_CALL(test_counts),
		EACH_CALL(test_loss_is_counted),
		EACH_CALL(test_uses_a_part),
		EACH_CALL(test_registers),
		EACH_CALL(test_registers_with_values),
		EACH_CALL(test_values),
		EACH_CALL(test_callers),
		EACH_CALL(test_values_of_a_full_ring),
		EACH_CALL(test_values_of_some_calls),
		EACH_CALL(test_threads_and_signals),
		EACH_CALL(test_forked),
		EACH_CALL(test_one_after_the_other),
		EACH_CALL(test_table_is_full),
		EACH_CALL(test_sealed),
		cmocka_unit_test_setup_teardown(test_passes_what_is_called_too_often,
						begin_giving_up, end),
		cmocka_unit_test_setup_teardown(test_keeps_budget, begin_giving_up, end),
		cmocka_unit_test_setup_teardown(test_gives_locks_up_last, begin_giving_up, end),
		cmocka_unit_test_setup_teardown(test_registers, begin_giving_up, end),
		SOME_CALLS(test_gate_counts),
		SOME_CALLS(test_gate_of_recursion),
		SOME_CALLS(test_gate_of_left_calls),
		SOME_CALLS(test_gate_of_threads_forks_signals),
		SOME_CALLS(test_gate_keeps_registers),
		SOME_CALLS(test_registers_with_values),
	};

	return unit_run(tests);
}

#else

/* x86-64 has test_stub.c. */
static void test_none(void **state)
{
	(void)state;
	assert_int_equal(blob_table_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_none) };

	return unit_run(tests);
}

#endif
