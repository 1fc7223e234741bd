/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stubs in this process: a function made of them records each call, whatever threads, signals and
 * forks do, and changes nothing that its caller sees. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/stamped.h"
#include "trace/write/writer.h"

#define RING	    4096u /* bytes: 256 records */
#define CODE	    8192u
#define ARCH_GS	    0x1001 /* ARCH_SET_GS */
#define ARCH_GET_GS 0x1004
#define REGION	    (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)
#define FUNCTIONS   4
#define PERIOD	    5
#define SP_BEFORE   40 /* what the made function says its entry's stack pointer is above its own */

#ifdef __x86_64__

static struct inproc_drain drain;
static struct trace_writer *writer;
static char path[] = "/tmp/ispot-unit.XXXXXX";
static char *region, *blocks;
static int (*kept)(long a, long b); /* the same: 2 a, and one if a is below b */
static int (*gated)(
	int n);		   /* calls itself n times; one call in PERIOD is recorded, as function 2 */
static void (*left)(bool); /* function 1: if true, raises a SIGTRAP that leaves it */
static int (*made)(int);   /* returns its argument and one, and records that as function 3 */
static int (*frequent)(int); /* the same as function 0, which may be given up */
static _Atomic long in_handlers;

static void set_gs(void)
{
	assert_int_equal(
		syscall(SYS_arch_prctl, ARCH_GS,
			blocks + INPROC_SLOTS * blob_block_bytes(PERIOD, FUNCTIONS, false)),
		0);
}

#define EMIT(c, ...) \
	stub_emit(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

/* Its entry lies behind instructions whose flags and red zone are still to be read. */
static void make_kept(struct stub_code *c, const struct stub_facts *facts)
{
	const struct stub_entry entry = {
		.id = 3, .sp = SP_BEFORE, .saves_flags = true, .saves_red_zone = true
	};

	kept = (int (*)(long, long))(uintptr_t)(c->address + c->n);
	EMIT(c, 0x48, 0x89, 0x7c, 0x24, 0xf8); /* mov %rdi, -8(%rsp) */
	EMIT(c, 0x48, 0x39, 0xf7);	       /* cmp %rsi, %rdi */
	stub_emit_entry(c, facts, &entry);
	EMIT(c, 0x0f, 0x9c, 0xc0, 0x0f, 0xb6, 0xc0); /* setl %al; movzbl %al, %eax */
	EMIT(c, 0x48, 0x8b, 0x54, 0x24, 0xf8);	     /* mov -8(%rsp), %rdx */
	EMIT(c, 0x48, 0x8d, 0x04, 0x50);	     /* lea (%rax, %rdx, 2), %rax */
	stub_emit_exit(c, facts, 3, SP_BEFORE);
	EMIT(c, 0xc3);
}

/* Its entry lies behind a push; flags say there whether it calls itself. */
static void make_gated(struct stub_code *c, const struct stub_facts *facts)
{
	const struct stub_entry entry = { .id = 2, .sp = 8, .saves_flags = true };
	struct stub_gate in, out;
	uint64_t start = c->address + c->n;

	gated = (int (*)(int))(uintptr_t)start;
	EMIT(c, 0x53);	     /* push %rbx */
	EMIT(c, 0x85, 0xff); /* test %edi, %edi */
	stub_emit_entry_gate(c, &entry, &in);
	EMIT(c, 0x89, 0xfb);	   /* mov %edi, %ebx */
	EMIT(c, 0x89, 0xf8);	   /* mov %edi, %eax */
	EMIT(c, 0x74, 0x0a);	   /* je 1f */
	EMIT(c, 0x8d, 0x7f, 0xff); /* lea -1(%rdi), %edi */
	EMIT(c, 0xe8);		   /* call */
	start -= c->address + c->n + 4;
	stub_emit(c, &start, 4);
	EMIT(c, 0x01, 0xd8); /* add %ebx, %eax */
	EMIT(c, 0x5b);	     /* 1: pop %rbx */
	stub_emit_exit_gate(c, 2, &out);
	EMIT(c, 0xc3);
	stub_emit_entry_rest(c, facts, &entry, &in);
	stub_emit_exit_rest(c, facts, 2, &out);
}

static void make_left(struct stub_code *c, const struct stub_facts *facts)
{
	const struct stub_entry entry = { .id = 1 };
	struct stub_gate in, out;

	left = (void (*)(bool))(uintptr_t)(c->address + c->n);
	stub_emit_entry_gate(c, &entry, &in);
	EMIT(c, 0x40, 0x84, 0xff); /* test %dil, %dil */
	EMIT(c, 0x74, 0x01, 0xcc); /* je 1f; int3 */
	stub_emit_exit_gate(c, 1, &out);
	EMIT(c, 0xc3);
	stub_emit_entry_rest(c, facts, &entry, &in);
	stub_emit_exit_rest(c, facts, 1, &out);
}

static int (*make_adding(struct stub_code *c, const struct stub_facts *facts, uint32_t id))(int)
{
	const uint64_t start = c->address + c->n;

	stub_emit_entry(c, facts, &(struct stub_entry){ .id = id, .sp = SP_BEFORE });
	EMIT(c, 0x8d, 0x47, 0x01); /* lea 1(%rdi), %eax */
	stub_emit_exit(c, facts, id, SP_BEFORE);
	EMIT(c, 0xc3);
	return (int (*)(int))(uintptr_t)start;
}

static void make_function(void)
{
	const struct blob blob = blob_get();
	uint8_t *page = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stub_code c = { .bytes = page, .address = (uintptr_t)page, .room = CODE };
	struct stub_facts facts = { .claim = c.address + blob.claim,
				    .full = c.address + blob.full,
				    .begin = c.address + blob.begin,
				    .end = c.address + blob.end,
				    .ring_bytes = RING };
	struct blob_facts f = { .region = (uintptr_t)region,
				.blocks = (uintptr_t)blocks,
				.ring_bytes = RING,
				.block_bytes = blob_block_bytes(PERIOD, FUNCTIONS, false),
				.rows = (uintptr_t)region + REGION + INPROC_SLOTS * RING,
				.rows_bytes = inproc_rows_bytes(FUNCTIONS),
				.period = PERIOD };

	assert_ptr_not_equal(page, MAP_FAILED);
	stub_emit(&c, blob.code, blob.bytes);
	memcpy(page, &f, sizeof(f));
	made = make_adding(&c, &facts, 3);
	facts.miss = c.address + blob.miss;
	frequent = make_adding(&c, &facts, 0);
	facts.miss = 0;
	make_kept(&c, &facts);
	make_gated(&c, &facts);
	make_left(&c, &facts);
	assert_true(c.n < c.room);
}

static int begin(void **state)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	const size_t bytes = (INPROC_SLOTS + 1) * blob_block_bytes(PERIOD, FUNCTIONS, false);
	int fd = memfd_create("region", 0), file = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && file >= 0);
	close(file);
	assert_int_equal(
		ftruncate(fd, REGION + INPROC_SLOTS * (RING + inproc_rows_bytes(FUNCTIONS))), 0);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, RING, writer);
	assert_int_equal(inproc_drain_add_stamped(&drain, fd, getpid(), RING, FUNCTIONS, true), 0);
	region = drain.regions.data[0].memory->start;
	close(fd);
	blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(blocks, MAP_FAILED);
	assert_int_equal(madvise(blocks, bytes, MADV_WIPEONFORK), 0);
	make_function();
	set_gs();
	return 0;
}

static int end(void **state)
{
	(void)state;
	inproc_drain_release(&drain);
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

static void test_flags_and_red_zone(void **state)
{
	uint64_t calls, lost;

	(void)state;
	for (long a = -50; a < 51; a++)
		assert_int_equal(kept(a, 7), 2 * a + (a < 7));
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

static void *call_often(void *n)
{
	for (int i = 0; i < (int)(intptr_t)n; i++)
		if (frequent(i) != i + 1)
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
	assert_false(inproc_stamped_passes(&drain, 0));
	assert_null(call_often((void *)10007));
	read_all(&calls, &lost);
	assert_int_equal(calls, RING / sizeof(struct inproc_stamp) / 2);
	assert_int_equal(lost, 2 * BLOCK_MISSES_MOST - 1);
	assert_true(inproc_stamped_passes(&drain, 0));
	assert_false(inproc_stamped_passes(&drain, 3));
	assert_null(call_often((void *)11));
	assert_int_equal(made(1), 2);
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

/* rbx, rbp and r12 to r15 are not touched by the code at all. */
struct registers {
	uint64_t rcx, rdx, rsi, r8, r9, r10, r11;
	double xmm0;
};

static void call_with(int (*function)(int), struct registers *r)
{
	register uint64_t r8 __asm__("r8") = r->r8, r9 __asm__("r9") = r->r9,
			     r10 __asm__("r10") = r->r10, r11 __asm__("r11") = r->r11;
	int n = 7;

	/* the compiler may have its variables in the red zone, which a call writes over */
	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
			 "call *%[function]\n"
			 "lea 128(%%rsp), %%rsp"
			 : "+c"(r->rcx), "+d"(r->rdx), "+S"(r->rsi), "+r"(r8), "+r"(r9), "+r"(r10),
			   "+r"(r11), "+x"(r->xmm0)
			 : [function] "m"(function), "D"(n)
			 : "rax", "memory", "cc");
	r->r8 = r8, r->r9 = r9, r->r10 = r10, r->r11 = r11;
}

static void *check_registers(void *function)
{
	/* the first call takes a slot, some find the ring full */
	for (int i = 0; i < 300; i++) {
		struct registers r = { 11, 22, 33, 44, 55, 66, 77, 8.5 };

		call_with(*(int (**)(int))function, &r);
		if (r.rcx != 11 || r.rdx != 22 || r.rsi != 33 || r.r8 != 44 || r.r9 != 55 ||
		    r.r10 != 66 || r.r11 != 77 || r.xmm0 != 8.5)
			return "a register was changed";
	}
	return NULL;
}

static void test_registers(void **state)
{
	uint64_t calls, lost;
	pthread_t other;
	void *wrong;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, check_registers, &made), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	read_all(&calls, &lost);
	assert_int_equal(2 * calls + lost, 600);
}

static void test_registers_where_calls_pass(void **state)
{
	uint64_t calls, lost;
	pthread_t other;
	void *wrong;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, check_registers, &frequent), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
	read_all(&calls, &lost);
	assert_true(calls && 2 * calls + lost < 600);
}

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
	read_all(&calls, &lost);
	lost = drain.lost_records - lost_before;
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
	uint64_t calls, lost, before = accounted(), recorded = row_of(0)->recorded;

	(void)state;
	for (int i = 0; i < 102; i++)
		assert_int_equal(gated(0), 0);
	read_all(&calls, &lost);
	assert_in_range(calls, 20, 21); /* one of each 5 */
	assert_int_equal(row_of(0)->recorded - recorded, calls);
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

static void test_gate_keeps_registers(void **state)
{
	int (*before)(int) = made;
	uint64_t calls, lost;

	made = gated;
	for (int i = 0; i < 50; i++) {
		struct registers r = { 11, 22, 33, 44, 55, 66, 77, 8.5 };

		call_with(made, &r);
		assert_true(r.rcx == 11 && r.rdx == 22 && r.rsi == 33 && r.r8 == 44);
		assert_true(r.r9 == 55 && r.r10 == 66 && r.r11 == 77 && r.xmm0 == 8.5);
	}
	made = before;
	read_all(&calls, &lost);
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

/* ---- a signal between any two instructions ---- */

#define TRAP_FLAG 0x100 /* of the flags: a trap after each instruction */
#define STRIDE	  24	/* instructions between two signals of a call, whose records fit the ring */

static struct {
	volatile bool on;
	volatile uint64_t n;	 /* instructions so far */
	uint64_t first;		 /* index of the first instruction at which the handler calls */
	int with;		 /* what it calls with */
	uint64_t made;		 /* calls of the handler */
	volatile uint64_t *next; /* TURN_NEXT of function 2 in this thread */
} steps;

/* Makes all calls due that come while the code is stepped, the handler's too. */
static void on_step(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)number, (void)info;
	if (steps.on && steps.n++ % STRIDE == steps.first)
		for (int i = 0; i < 2; i++) {
			*steps.next = 1;
			gated(steps.with);
			steps.made += 1 + (uint64_t)steps.with;
		}
	*steps.next = 1;
	if (steps.on)
		*flags |= TRAP_FLAG;
	else
		*flags &= ~(greg_t)TRAP_FLAG;
}

static void call_in_steps(int n)
{
	steps.n = 0;
	steps.on = true;
	raise(SIGTRAP);
	gated(n);
	steps.on = false;
	raise(SIGTRAP); /* the stub may have restored the flag */
}

/* A call that is recorded has its entry and its exit in the ring, wherever a signal comes whose
 * handler calls the function. */
static void test_gate_at_each_instruction(void **state)
{
	const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	uint64_t block, calls, lost, made_before, before;

	(void)state;
	assert_int_equal(syscall(SYS_arch_prctl, ARCH_GET_GS, &block), 0);
	steps.next = (uint64_t *)(uintptr_t)(block + BLOCK_BYTES + 2 * TURN_BYTES + TURN_NEXT);
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < 2 * STRIDE; i++) {
		steps.first = (uint64_t)i / 2;
		steps.with = i % 2;
		before = accounted();
		made_before = steps.made;
		call_in_steps(1);
		read_all(&calls, &lost);
		assert_int_equal(lost, 0);
		assert_true(calls > steps.n / STRIDE);
		assert_int_equal(accounted() - before, 2 * (2 + steps.made - made_before));
	}
	signal(SIGTRAP, SIG_DFL);
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

/* A program that has locked itself up: what takes system calls is not done, and counted. */
static void test_sealed(void **state)
{
	struct inproc_header *h = (struct inproc_header *)region;
	uint64_t calls, lost, before = h->without_ring;
	pthread_t other;
	void *wrong;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_flags_and_red_zone),
		cmocka_unit_test(test_loss_is_counted),
		cmocka_unit_test(test_passes_what_is_called_too_often),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_registers_where_calls_pass),
		cmocka_unit_test(test_threads_and_signals),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_gate_counts),
		cmocka_unit_test(test_gate_of_recursion),
		cmocka_unit_test(test_gate_keeps_registers),
		cmocka_unit_test(test_gate_of_left_calls),
		cmocka_unit_test(test_gate_at_each_instruction),
		cmocka_unit_test(test_gate_of_threads_forks_signals),
		cmocka_unit_test(test_sealed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}

#else

/* aarch64 has test_stub_arm64.c. */
static void test_none(void **state)
{
	(void)state;
	assert_int_equal(blob_get().begin, 0); /* its routines are others */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_none) };

	return unit_run(tests);
}

#endif
