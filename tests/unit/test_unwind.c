/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwinds this program itself, out of copies: registers, stack bytes, the files on disk. */
#include "elf_fixture.h"

#include <asm/perf_regs.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

#include "base/err.h"
#include "base/mem.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/cfi.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/dso/unwind.h"
#include "symbol/maps.h"

#define FRAMES 64

struct snapshot {
	uint64_t registers[40];
	uint8_t stack[64 * 1024];
	size_t stack_bytes;
	uint64_t sp, ip;
	bool taken;
};

static struct snapshot shot;
static size_t stack_room = sizeof(shot.stack);
static volatile int sink;

/* As perf packs them: by register number, those of the mask only. */
static void pack(const uint64_t *by_number)
{
	size_t n = 0;

	for (unsigned i = 0; i < 40; i++) {
		if (unwind_register_mask >> i & 1)
			shot.registers[n++] = by_number[i];
	}
}

#if defined(__x86_64__)
static void take_registers(const ucontext_t *context)
{
	static const struct {
		int perf, greg;
	} rows[] = { { PERF_REG_X86_AX, REG_RAX },  { PERF_REG_X86_BX, REG_RBX },
		     { PERF_REG_X86_CX, REG_RCX },  { PERF_REG_X86_DX, REG_RDX },
		     { PERF_REG_X86_SI, REG_RSI },  { PERF_REG_X86_DI, REG_RDI },
		     { PERF_REG_X86_BP, REG_RBP },  { PERF_REG_X86_SP, REG_RSP },
		     { PERF_REG_X86_IP, REG_RIP },  { PERF_REG_X86_R8, REG_R8 },
		     { PERF_REG_X86_R9, REG_R9 },   { PERF_REG_X86_R10, REG_R10 },
		     { PERF_REG_X86_R11, REG_R11 }, { PERF_REG_X86_R12, REG_R12 },
		     { PERF_REG_X86_R13, REG_R13 }, { PERF_REG_X86_R14, REG_R14 },
		     { PERF_REG_X86_R15, REG_R15 } };
	uint64_t by_number[40] = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		by_number[rows[i].perf] = (uint64_t)context->uc_mcontext.gregs[rows[i].greg];
	shot.sp = by_number[PERF_REG_X86_SP];
	shot.ip = by_number[PERF_REG_X86_IP];
	pack(by_number);
}
#else
static void take_registers(const ucontext_t *context)
{
	uint64_t by_number[40] = { 0 };

	memcpy(by_number, context->uc_mcontext.regs, 31 * sizeof(uint64_t));
	by_number[PERF_REG_ARM64_SP] = shot.sp = context->uc_mcontext.sp;
	by_number[PERF_REG_ARM64_PC] = shot.ip = context->uc_mcontext.pc;
	pack(by_number);
}
#endif

/* By the kernel, as a recording: sanitizers' red zones lie on the stack too, and words that nobody
 * has written, which valgrind would follow. */
static void take_stack(void)
{
	pthread_attr_t attr;
	size_t bytes, room;
	void *low;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &bytes);
	pthread_attr_destroy(&attr);
	room = (size_t)((uint64_t)(uintptr_t)low + bytes - shot.sp);
	shot.stack_bytes = room < stack_room ? room : stack_room;
	shot.taken =
		process_vm_readv(getpid(), &(struct iovec){ shot.stack, shot.stack_bytes }, 1,
				 &(struct iovec){ (void *)(uintptr_t)shot.sp, shot.stack_bytes }, 1,
				 0) == (ssize_t)shot.stack_bytes;
}

/* Everything is copied in the handler, while the interrupted frames are still there. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (shot.taken)
		return;
	take_registers(context);
	take_stack();
}

static NOINLINE int innermost(int a)
{
	char room[300]; /* no frame pointer to follow, and a frame of some size */

	memset(room, a, sizeof(room));
	raise(SIGUSR1);
	sink += room[a];
	return a + 1;
}

static NOINLINE int inner(int a)
{
	return innermost(a + 1) * 2;
}

/* Through a library: qsort() calls back. */
static NOINLINE int compare(const void *a, const void *b)
{
	return inner(*(const int *)a - *(const int *)b) - sink;
}

static NOINLINE int outer(int a)
{
	int values[2] = { a, a + 1 };

	qsort(values, 2, sizeof(int), compare);
	return values[0] + sink;
}

struct world {
	struct dso_cache *cache;
	struct mappings maps;
	struct dso *dsos[256];
	struct unwinder *unwinder;
	uint64_t ips[FRAMES];
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	w->cache = dso_cache_new();
	assert_int_equal(mappings_read(&w->maps, getpid(), NULL), 0);
	for (size_t i = 0; i < w->maps.n && i < 256; i++) {
		if (dso_get(w->cache, w->maps.data[i].path, &w->dsos[i], NULL))
			w->dsos[i] = NULL;
	}
	w->unwinder = unwinder_new();
	stack_room = sizeof(shot.stack);
	shot.taken = false;
	sigaction(SIGUSR1, &action, NULL);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	unwinder_free(w->unwinder);
	mappings_release(&w->maps);
	dso_cache_free(w->cache);
	free(w);
	return 0;
}

static struct world *timed;

static size_t unwind(struct world *w, size_t n)
{
	struct unwind_input in = { .registers = shot.registers,
				   .register_mask = unwind_register_mask,
				   .stack = shot.stack,
				   .stack_bytes = shot.stack_bytes,
				   .maps = &w->maps,
				   .dsos = w->dsos };

	return unwind_stack(w->unwinder, &in, w->ips, NULL, n);
}

static const char *name_of(struct world *w, size_t i)
{
	uint64_t ip =
		w->ips[i] - (i > 0); /* a return address may be the next function's first byte */
	const struct mapping *m = mappings_find(&w->maps, ip);
	struct dso *dso = m ? w->dsos[m - w->maps.data] : NULL;
	const struct dso_function *f =
		dso ? dso_function_at(dso,
				      dso_offset_to_address(dso, ip - m->start + m->file_offset))
		    : NULL;

	return f ? f->name : "?";
}

/* The names in this order, with anything in between (libc's own, sanitizers'). */
static void assert_chain(struct world *w, size_t n, const char *const *names)
{
	size_t at = 0;

	for (; *names; names++, at++) {
		while (at < n && strcmp(name_of(w, at), *names) != 0)
			at++;
		if (at == n)
			fail_msg("%s is not where it should be among %zu frames", *names, n);
	}
}

static void through_libraries(void **state)
{
	struct world *w = *state;
	size_t n;

	sink = outer(3);
	assert_true(shot.taken);
	n = unwind(w, FRAMES);
	assert_true(w->ips[0] == shot.ip);
	assert_true(n < FRAMES);
	assert_chain(w, n,
		     (const char *const[]){ "innermost", "inner", "compare", "outer",
					    "through_libraries", "test_unwind_main", NULL });
	/* the same again, now out of libunwind's cache */
	assert_int_equal(unwind(w, FRAMES), n);
	unwinder_forget(w->unwinder);
	assert_int_equal(unwind(w, FRAMES), n);
}

static void *thread_main(void *argument)
{
	sink = outer(*(int *)argument);
	return NULL;
}

static void in_a_thread(void **state)
{
	struct world *w = *state;
	pthread_t thread;
	int value = 5;

	assert_int_equal(pthread_create(&thread, NULL, thread_main, &value), 0);
	pthread_join(thread, NULL);
	assert_chain(w, unwind(w, FRAMES),
		     (const char *const[]){ "innermost", "inner", "compare", "outer", "thread_main",
					    NULL });
}

static NOINLINE int recurse(int depth)
{
	return depth ? recurse(depth - 1) + sink : inner(sink & 1);
}

static void limits(void **state)
{
	struct world *w = *state;

	sink = recurse(100);
	assert_int_equal(unwind(w, FRAMES), FRAMES);
	assert_int_equal(unwind(w, 3), 3);
	assert_int_equal(unwind(w, 1), 1);
	assert_int_equal(unwind(w, 0), 0);
}

/* A short copy ends the chain where the copy ends, and what there is of it is right. */
static void stack_cut_off(void **state)
{
	struct world *w = *state;
	uint64_t whole[FRAMES];
	size_t all, n, before = 0;

	sink = outer(3);
	all = unwind(w, FRAMES);
	memcpy(whole, w->ips, sizeof(whole));
	for (size_t bytes = 0; bytes <= 2048; bytes += 64) {
		shot.stack_bytes = bytes;
		unwinder_forget(w->unwinder);
		n = unwind(w, FRAMES);
		assert_in_range(n, before, all);
		assert_memory_equal(whole, w->ips, n * sizeof(*whole));
		before = n;
	}
	assert_true(before > 1);
}

#if defined(__x86_64__)
/* Without a table, as what is written in assembly; the trap is its first instruction. */
void bare(void);
asm(".text\n.type bare, @function\nbare:\n\tint3\n\tret\n.size bare, . - bare\n");

static NOINLINE int calls_bare(int a)
{
	char room[100];

	memset(room, a, sizeof(room));
	bare();
	sink += room[a];
	return a + 1;
}

/* What the stack has on top is the return address, whatever is in the frame pointer. */
static void at_the_entry(void **state)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct world *w = *state;
	struct unwind_input in = { .registers = shot.registers,
				   .register_mask = unwind_register_mask,
				   .stack = shot.stack,
				   .maps = &w->maps,
				   .dsos = w->dsos,
				   .at_entry = true };
	uint64_t places[FRAMES];
	size_t n;

	sigaction(SIGTRAP, &action, NULL);
	sink = calls_bare(3);
	assert_true(shot.taken);
	in.stack_bytes = shot.stack_bytes;
	n = unwind_stack(w->unwinder, &in, w->ips, places, FRAMES);
	assert_true(n > 3);
	assert_string_equal(name_of(w, 0), "bare");
	assert_string_equal(name_of(w, 1), "calls_bare");
	assert_string_equal(name_of(w, 2), "at_the_entry");
	assert_true(places[1] == shot.sp);
	assert_true(w->ips[0] == shot.ip);
	assert_int_equal(unwind_stack(w->unwinder, &in, w->ips, NULL, 1), 1);
}
#endif

static void nothing_to_go_by(void **state)
{
	struct world *w = *state;
	struct unwind_input in = { .registers = shot.registers, .maps = &w->maps, .dsos = w->dsos };
	size_t n;

	assert_int_equal(unwind_stack(w->unwinder, &in, w->ips, NULL, FRAMES), 0);
	sink = outer(3);
	memset(w->dsos, 0, sizeof(w->dsos)); /* no file can be read */
	n = unwind(w, FRAMES);
	assert_true(n >= 1);
	assert_true(w->ips[0] == shot.ip);
	memset(shot.registers, 0xff, sizeof(shot.registers)); /* nonsense */
	n = unwind(w, FRAMES);
	assert_true(n >= 1);
}

/* The kernel's own code is in no file; clocks are read there. */
static void on_timer(int number, siginfo_t *info, void *context)
{
	struct world *w = timed;

	(void)number, (void)info;
	if (shot.taken)
		return;
	take_registers(context);
	if (shot.ip >= w->maps.vdso_start && shot.ip < w->maps.vdso_end)
		take_stack();
}

static NOINLINE int ask_clock(void)
{
	struct timespec end, now;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 5;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (!*(volatile bool *)&shot.taken && now.tv_sec < end.tv_sec);
	return shot.taken;
}

static void out_of_the_vdso(void **state)
{
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } }, none = { 0 };
	struct world *w = timed = *state;

	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
	sink = ask_clock();
	setitimer(ITIMER_PROF, &none, NULL);
	if (!shot.taken)
		skip(); /* no clock is read there */
	assert_chain(
		w, unwind(w, FRAMES),
		(const char *const[]){ "ask_clock", "out_of_the_vdso", "test_unwind_main", NULL });
}

/* A few stacks take their work in a function with such a table, the others none. */
static void assert_given_up(const char *directives)
{
	char *made = xasprintf("printf '.globl f\\n.type f,%%%%function\\nf:\\n.cfi_startproc\\n"
			       "%s\\n"
			       "nop\\nnop\\nnop\\nnop\\nnop\\nnop\\nnop\\nnop\\n"
			       ".cfi_endproc\\n.size f,8\\n' >waste.s && "
			       "gcc -shared -nostdlib -o waste.so waste.s",
			       directives);
	struct dso *dso, *dsos[1];
	struct dso_cache *cache = dso_cache_new();
	const uint64_t base = 0x700000000000, sp = 0x7ffc00000000;
	const struct dso_function *all;
	struct unwinder *u = unwinder_new();
	uint64_t registers[40], ips[FRAMES];
	const uint8_t stack[64] = { 0 };
	struct mappings maps = { 0 };
	struct err err = { 0 };
	unsigned n = 0;

	fixture_run(made);
	free(made);
	assert_int_equal(dso_get(cache, fixture_path("waste.so"), &dso, &err), 0);
	assert_int_equal(dso_functions(dso, &all), 1);
	dsos[0] = dso;
	*vec_add(&maps) = (struct mapping){ .start = base,
					    .end = base + 0x1000,
					    .file_offset = all[0].file_offset & ~0xfffull,
					    .path = "waste" };
	for (unsigned i = 0; i < 40; i++)
		if (unwind_register_mask >> i & 1)
			registers[n++] = i == unwind_register_ip
						 ? base + (all[0].file_offset & 0xfff) + 4
						 : sp;
	for (unsigned i = 0; i < 100; i++) {
		struct unwind_input in = { .registers = registers,
					   .register_mask = unwind_register_mask,
					   .stack = stack,
					   .stack_bytes = sizeof(stack),
					   .maps = &maps,
					   .dsos = dsos };

		assert_int_equal(unwind_stack(u, &in, ips, NULL, FRAMES), 1);
		assert_int_equal(unwinder_given_up(u), i >= 3);
	}
	unwinder_free(u);
	vec_release(&maps);
	dso_cache_free(cache);
}

/* An expression that jumps back for ever. */
static void tables_that_waste_time(void **state)
{
	assert_given_up(".cfi_escape 0x0f,4,0x96,0x2f,0xfc,0xff");
}

/* libunwind itself believes what numbers registers have that are saved in others. */
static void tables_that_name_no_registers(void **state)
{
	assert_given_up(".cfi_escape 0x09,3,0xff,0xff,0xff,0x03");
	assert_given_up(".cfi_escape 0x09,3,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x01");
}

/* ---- call frame instructions ---- */

static bool read_given(void *ctx, uint64_t address, uint64_t *word)
{
	if (address >= 4096)
		return false;
	memcpy(word, (const uint8_t *)ctx + address, sizeof(*word));
	return true;
}

static bool is_sound(const char *bytes, size_t n)
{
	static uint8_t page[4096 + 8];
	const struct cfi_memory memory = { .read = read_given, .ctx = page };
	const struct cfi_range range = { .start = 13, .end = 13 + n };

	memset(page, 0xff, sizeof(page));
	memcpy(page + range.start, bytes, n);
	return cfi_is_sound(&range, 17, &memory);
}

#define SOUND(bytes) is_sound(bytes, sizeof(bytes) - 1)

static void instructions(void **state)
{
	/* as compilers write them: rsp + 8, return address at -8; push; a realigned stack */
	assert_true(SOUND("\x0c\x07\x08\x90\x01\x00\x00"));
	assert_true(SOUND("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x80\x0c\x07\x08"));
	assert_true(SOUND("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00\x0a\x0b\x2e\x10"));
	assert_true(SOUND("\x09\x03\x10"));
	assert_false(SOUND("\x09\x03\x11"));
	assert_false(SOUND("\x09\x03\x91\x00\x09\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"));
	assert_false(SOUND("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00")); /* 11 bytes */
	assert_false(SOUND("\x0e"));
	assert_false(SOUND("\x0f\x64\x00"));
	assert_false(SOUND("\x04\x00\x00\x00"));
	assert_false(SOUND("\x3f")); /* unknown */
}

static void instructions_that_are_not_there(void **state)
{
	const struct cfi_memory memory = { .read = read_given, .ctx = NULL };

	assert_false(cfi_is_sound(&(struct cfi_range){ 4096, 4097 }, 17, &memory));
	assert_true(cfi_is_sound(&(struct cfi_range){ 4096, 4096 }, 17, &memory));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#if defined(__x86_64__)
/* A Go program has no tables, but frame pointers, which give the places of return addresses, too.
 */
static void by_frame_pointers_of_go(void **state)
{
	struct world *w = *state;
	struct mapping mapping = { .start = 0x10000000, .end = 0x10100000 };
	struct dso *go;
	struct dso *const *dsos = &go;
	struct mappings maps = { .data = &mapping, .n = 1 };
	const struct dso_function *all;
	const uint32_t *at;
	uint64_t code, places[FRAMES], registers[40] = { 0 };
	/* from 0x2000 on: at 0x2008, 0x2020 and 0x2040 the frames' records, the last without code
	 */
	uint64_t stack[10] = { [1] = 0x2020, [4] = 0x2040, [9] = 1 };
	struct unwind_input in = { .registers = shot.registers,
				   .register_mask = unwind_register_mask,
				   .stack = (const uint8_t *)stack,
				   .stack_bytes = sizeof(stack),
				   .maps = &maps,
				   .dsos = dsos };

	fixture_write("go.c", "__asm__(\".section .go.buildinfo,\\\"a\\\"; .byte 0; .text\");\n"
			      "int code(int a) { return a + 1; }\n");
	fixture_run("gcc -shared -fPIC -fno-asynchronous-unwind-tables -o go.so go.c");
	assert_int_equal(dso_get(w->cache, fixture_path("go.so"), &go, NULL), 0);
	assert_int_equal(dso_find(go, "code", &at), 1);
	dso_functions(go, &all);
	code = mapping.start + all[at[0]].file_offset;
	stack[2] = code + 1;
	stack[5] = code + 3;
	registers[PERF_REG_X86_IP] = code + 2;
	registers[PERF_REG_X86_SP] = 0x2000;
	registers[PERF_REG_X86_BP] = 0x2008;
	pack(registers);
	assert_int_equal(unwind_stack(w->unwinder, &in, w->ips, places, FRAMES), 3);
	assert_int_equal(w->ips[1], code + 1);
	assert_int_equal(places[1], 0x2010);
	assert_int_equal(w->ips[2], code + 3);
	assert_int_equal(places[2], 0x2028);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		TEST(by_frame_pointers_of_go),
		TEST(at_the_entry),
#endif
		TEST(through_libraries),
		TEST(in_a_thread),
		TEST(limits),
		TEST(stack_cut_off),
		TEST(nothing_to_go_by),
		TEST(tables_that_waste_time),
		TEST(tables_that_name_no_registers),
		cmocka_unit_test(instructions),
		cmocka_unit_test(instructions_that_are_not_there),
		TEST(out_of_the_vdso),
	};

	return unit_run(tests);
}
