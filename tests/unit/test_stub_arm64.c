/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stubs of aarch64 in this process: a function made of them records each call, whatever threads,
 * signals and forks do, and changes nothing that its caller sees. */
#include "unit.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/machine/threadtable.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/stamped.h"
#include "trace/write/writer.h"

#ifdef __aarch64__

#define RING	  4096u /* bytes: 256 records */
#define CODE	  8192u
#define FUNCTIONS 4
#define PERIOD	  5
#define REGION	  (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)

static struct inproc_drain drain;
static struct trace_writer *writer;
static char path[32];
static uint32_t period; /* one call in this many is recorded */
static bool gives_up;	/* functions may be given up */
static char *region, *blocks;
static int (*made)(int);   /* returns its argument and one, and records that as function 3 */
static int (*gated)(int);  /* calls itself n times, which is recorded as function 2 */
static void (*left)(bool); /* function 1: if true, raises a SIGTRAP that leaves it */
static _Atomic long in_handlers;

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
				      .misses_most = gives_up ? BLOCK_MISSES_MOST : 0 };

	assert_ptr_not_equal(page, MAP_FAILED);
	stub_emit(&c, blob.code, blob.bytes);
	memcpy(page, &f, sizeof(f));
	make_functions(&c, &facts);
	assert_true(c.n < c.room);
	__builtin___clear_cache((char *)page, (char *)page + c.n);
}

static int begin_with(uint32_t one_in, bool may_give_up)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	int fd = memfd_create("region", 0), file;
	size_t bytes;

	period = one_in;
	gives_up = may_give_up;
	bytes = (INPROC_SLOTS + 1) * blob_block_bytes(period, FUNCTIONS, gives_up) +
		blob_table_bytes();
	strcpy(path, "/tmp/ispot-unit.XXXXXX");
	file = mkstemp(path);
	assert_true(fd >= 0 && file >= 0);
	close(file);
	assert_int_equal(
		ftruncate(fd, REGION + INPROC_SLOTS * (RING + inproc_rows_bytes(FUNCTIONS))), 0);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, RING, writer);
	assert_int_equal(
		inproc_drain_add_stamped(&drain, fd, getpid(), RING, FUNCTIONS, period > 1), 0);
	region = drain.regions.data[0].memory->start;
	close(fd);
	blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(blocks, MAP_FAILED);
	assert_int_equal(madvise(blocks, bytes, MADV_WIPEONFORK), 0);
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

static int end(void **state)
{
	(void)state;
	inproc_drain_release(&drain);
	memset(&drain, 0, sizeof(drain));
	trace_writer_close(writer, NULL);
	return unlink(path);
}

/* Calls that were read, and records that were lost, since the last look. */
static void read_all(uint64_t *calls, uint64_t *lost)
{
	uint64_t calls_before = drain.calls, lost_before = drain.lost_records;

	usleep(1000); /* what is newer than a look at the clocks is left for the next */
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(inproc_drain_run(&drain), 0);
	*calls = drain.calls - calls_before;
	*lost = drain.lost_records - lost_before;
}

static void test_counts(void **state)
{
	uint64_t calls, lost;

	(void)state;
	for (int i = 0; i < 101; i++)
		assert_int_equal(made(i), i + 1);
	read_all(&calls, &lost);
	assert_int_equal(calls, 101);
	assert_int_equal(lost, 0);
}

static void test_loss_is_counted(void **state)
{
	uint64_t calls, lost;

	(void)state;
	for (int i = 0; i < 1009; i++)
		made(i);
	read_all(&calls, &lost);
	assert_int_equal(calls, RING / sizeof(struct inproc_stamp) / 2);
	assert_int_equal(2 * calls + lost, 2 * 1009);
	for (int i = 0; i < 11; i++)
		made(i);
	read_all(&calls, &lost);
	assert_int_equal(calls, 11);
	assert_int_equal(lost, 0);
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

static bool keeps_registers(void)
{
	uint64_t seen[N_REGISTERS];

	if (stub_call_with(seen, (void *)(uintptr_t)made) != 0 || seen[0] != 101)
		return false;
	for (unsigned i = 1; i < N_REGISTERS; i++)
		if (seen[i] != (i == 16 ? (uintptr_t)made : i + 100))
			return false;
	return true;
}

static void *check_registers(void *unused)
{
	/* the first call takes a slot, some find the ring full */
	for (int i = 0; i < 300; i++)
		if (!keeps_registers())
			return "a register was changed";
	return unused;
}

static void test_registers(void **state)
{
	uint64_t calls, lost;
	pthread_t other;
	void *wrong;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, check_registers, NULL), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	read_all(&calls, &lost);
	if (gives_up) /* some calls passed */
		assert_true(calls && 2 * calls + lost < 600);
	else
		assert_int_equal(2 * calls + lost, 600);
}

/* ---- threads ---- */

#define THREADS 6
#define EACH	20011

static void *many(void *unused)
{
	for (int i = 0; i < EACH; i++)
		if (made(i) != i + 1)
			return "a wrong result";
	return unused;
}

static void on_alarm(int number)
{
	(void)number;
	made(1);
	in_handlers++;
}

/* The recorder reads meanwhile: what it read and what was lost is all that was made. */
static void test_threads_and_signals(void **state)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	uint64_t calls, lost, records_before = drain.records, lost_before = drain.lost_records;
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, NULL), 0);
	for (int i = 0; i < 50; i++)
		read_all(&calls, &lost);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	/* a record whose ring was full while a handler reserved another one counts after a second
	 */
	for (int i = 0; i < 30; i++) {
		read_all(&calls, &lost);
		lost = drain.lost_records - lost_before;
		if (drain.records - records_before + lost ==
		    2 * (uint64_t)(THREADS * EACH + in_handlers))
			return;
		usleep(100000);
	}
	assert_int_equal(drain.records - records_before + lost, 2 * (THREADS * EACH + in_handlers));
}

static void test_forked(void **state)
{
	uint64_t calls, lost;
	int status;
	pid_t child;

	(void)state;
	made(0);
	child = fork();
	if (!child) {
		for (int i = 0; i < 53; i++)
			made(i);
		_exit(0);
	}
	for (int i = 0; i < 59; i++)
		made(i);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1 + 53 + 59);
	assert_int_equal(lost, 0);
}

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

/* A program that has locked itself up: what takes system calls is not done, and counted. */
static void test_sealed(void **state)
{
	struct inproc_header *h = (struct inproc_header *)region;
	uint64_t calls, lost, before = h->without_ring;
	pthread_t other;
	void *wrong;

	(void)state;
	made(0);
	read_all(&calls, &lost);
	inproc_stamped_seal(&drain.regions.data[0]);
	assert_int_equal(pthread_create(&other, NULL, many, NULL), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	assert_int_equal(h->without_ring - before, 2 * EACH);
	made(1);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1);
	h->recording = 1;
}

/* ---- one call in several ---- */

static const struct inproc_row *row_of(uint32_t slot)
{
	return (const struct inproc_row *)(region + REGION + INPROC_SLOTS * RING +
					   slot * inproc_rows_bytes(FUNCTIONS)) +
	       2;
}

/* Twice the calls that were made: those left out, and the records of the others, lost ones too. */
static uint64_t accounted(void)
{
	uint64_t sum = 2 * drain.regions.data[0].passed + drain.records + drain.lost_records;

	for (uint32_t i = 0; i < 64; i++)
		sum += 2 * (row_of(i)->calls - row_of(i)->recorded);
	return sum;
}

static void test_gate_counts(void **state)
{
	uint64_t calls, lost, before = accounted();

	(void)state;
	for (int i = 0; i < 102; i++)
		assert_int_equal(gated(0), 0);
	read_all(&calls, &lost);
	assert_in_range(calls, 20, 21); /* one of each 5 */
	assert_int_equal(row_of(0)->recorded, calls);
	assert_int_equal(row_of(0)->calls, 102);
	assert_int_equal(accounted() - before, 2 * 102);
	assert_int_equal(row_of(0)->inner, 0);
}

static void test_gate_of_recursion(void **state)
{
	uint64_t calls, lost, before = accounted(), inner = row_of(0)->inner;

	(void)state;
	for (int i = 0; i < 51; i++)
		assert_int_equal(gated(3), 6);
	assert_int_equal(row_of(0)->inner - inner, 3 * 51);
	assert_in_range(row_of(0)->inner_recorded, 1, 3 * 51 / 2);
	read_all(&calls, &lost);
	assert_int_equal(accounted() - before, 2 * 4 * 51);
	for (int i = 0; i < 5; i++) /* deeper than what a thread keeps of them */
		assert_int_equal(gated(99), 4950);
	read_all(&calls, &lost);
	assert_int_equal(accounted() - before, 2 * (4 * 51 + 500));
	gated(0);
	assert_int_equal(row_of(0)->inner - inner, 3 * 51 + 495);
}

static sigjmp_buf before_call;

static void leave_call(int number)
{
	siglongjmp(before_call, number);
}

/* A recorded call that was left has no exit, even if a call that is not recorded has its stack
 * pointer. */
static void test_gate_of_left_calls(void **state)
{
	const struct inproc_row *row = row_of(0) - 1; /* of function 1 */
	uint64_t calls, lost, records = drain.records;
	volatile uint64_t recorded, n_left = 0;

	(void)state;
	signal(SIGTRAP, leave_call);
	for (volatile int i = 0; i < 50; i++) {
		recorded = row->recorded;
		if (!sigsetjmp(before_call, 1))
			left(true);
		n_left += row->recorded - recorded;
		for (int k = 0; k < 9; k++)
			left(false);
	}
	signal(SIGTRAP, SIG_DFL);
	read_all(&calls, &lost);
	assert_int_equal(lost, 0);
	assert_int_equal(row->recorded, calls);
	assert_int_equal(drain.records - records, 2 * calls - n_left);
}

static void *many_gated(void *unused)
{
	for (int i = 0; i < EACH; i++)
		if (gated(i % 3) != (i % 3) * (i % 3 + 1) / 2)
			return "a wrong result";
	return unused;
}

static void on_gated_alarm(int number)
{
	(void)number;
	gated(0);
	in_handlers++;
}

static void test_gate_of_threads_forks_signals(void **state)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	uint64_t calls, lost, wanted, before = accounted();
	pthread_t threads[THREADS];
	int status;
	pid_t child;

	(void)state;
	in_handlers = 0;
	signal(SIGALRM, on_gated_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many_gated, NULL), 0);
	child = fork(); /* which has no timer */
	if (!child)
		_exit(many_gated(NULL) ? 1 : 0);
	for (int i = 0; i < 50; i++)
		read_all(&calls, &lost);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	wanted = 2 * (2 * EACH * (THREADS + 1) - (THREADS + 1) + (uint64_t)in_handlers);
	/* a record whose ring was full while a handler reserved another one counts after a second
	 */
	for (int i = 0; i < 30 && (!i || accounted() - before != wanted); i++) {
		usleep(i ? 100000 : 0);
		read_all(&calls, &lost);
	}
	assert_int_equal(accounted() - before, wanted);
}

/* The same registers are kept as where every call is recorded. */
static void test_gate_keeps_registers(void **state)
{
	uint64_t calls, lost;
	pthread_t other;
	void *wrong;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, check_registers, NULL), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	read_all(&calls, &lost);
	assert_int_equal(lost, 0);
	assert_in_range(calls, 59, 61);
}

static void *call_often(void *n)
{
	for (int i = 0; i < (int)(intptr_t)n; i++)
		if (made(i) != i + 1)
			return "a wrong result";
	return NULL;
}

/* A thread that finds its ring full for so many calls of a function records none of it any more,
 * and loses no more records. Other functions, and other threads, go on. */
static void test_passes_what_is_called_too_often(void **state)
{
	uint64_t calls, lost;
	pthread_t other;
	void *wrong;

	(void)state;
	assert_null(call_often((void *)10007));
	read_all(&calls, &lost);
	assert_int_equal(calls, RING / sizeof(struct inproc_stamp) / 2);
	assert_int_equal(lost, 2 * BLOCK_MISSES_MOST - 1);
	assert_true(inproc_stamped_passes(&drain, 3));
	assert_false(inproc_stamped_passes(&drain, 2));
	assert_null(call_often((void *)11));
	assert_int_equal(gated(0), 0);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1);
	assert_int_equal(lost, 0);
	assert_int_equal(pthread_create(&other, NULL, call_often, (void *)11), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	read_all(&calls, &lost);
	assert_int_equal(calls, 11);
	assert_int_equal(lost, 0);
}

#define EACH_CALL(f)  cmocka_unit_test_setup_teardown(f, begin, end)
#define SOME_CALLS(f) cmocka_unit_test_setup_teardown(f, begin_gated, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH_CALL(test_counts),
		EACH_CALL(test_loss_is_counted),
		EACH_CALL(test_registers),
		EACH_CALL(test_threads_and_signals),
		EACH_CALL(test_forked),
		EACH_CALL(test_one_after_the_other),
		EACH_CALL(test_table_is_full),
		EACH_CALL(test_sealed),
		cmocka_unit_test_setup_teardown(test_passes_what_is_called_too_often,
						begin_giving_up, end),
		cmocka_unit_test_setup_teardown(test_registers, begin_giving_up, end),
		SOME_CALLS(test_gate_counts),
		SOME_CALLS(test_gate_of_recursion),
		SOME_CALLS(test_gate_of_left_calls),
		SOME_CALLS(test_gate_of_threads_forks_signals),
		SOME_CALLS(test_gate_keeps_registers),
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
