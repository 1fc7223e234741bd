/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patches every function that the plan of a library allows, in a process of its own, and uses the
 * library: what it says must be what it said before. The code in the gaps spoils the flags and the
 * red zone wherever the plan says that they are dead, and counts. With libc all of the C library
 * that this process runs on is patched; with libzstd code that a compiler has optimised hard.
 */
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <zstd.h>

#include "base/err.h"
#include "probes/patch/plan.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

#if defined(__x86_64__) || defined(__aarch64__)

#define STUBS_BYTES (16u << 20)
#define REACH	    (96u << 20) /* of every machine's jumps, less what the library has */
#define GAP_MAX	    128

struct counts {
	uint64_t entries, exits;
};

struct library {
	struct dso_cache *cache;
	struct dso *dso;
	struct patch_plan *plan;
	uint64_t bias;
	uint8_t *stubs, *next;
	struct counts *counts;
	size_t functions;
};

/* ---- where it is loaded ---- */

struct search {
	const char *name;
	uint64_t bias;
	char path[512];
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (!strstr(info->dlpi_name, s->name))
		return 0;
	s->bias = info->dlpi_addr;
	snprintf(s->path, sizeof(s->path), "%s", info->dlpi_name);
	return 1;
}

/* Returns memory for stubs within reach of the library, below it or above. */
static uint8_t *map_stubs(uint64_t bias)
{
	for (int64_t distance = STUBS_BYTES; distance <= REACH; distance += STUBS_BYTES / 4) {
		for (int side = -1; side <= 1; side += 2) {
			void *at = (void *)((bias + (uint64_t)(side * distance)) & ~4095ull);
			void *got = mmap(at, STUBS_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

			if (got == at)
				return got;
			if (got != MAP_FAILED)
				munmap(got, STUBS_BYTES);
		}
	}
	return NULL;
}

static void open_library(struct library *l, const char *name)
{
	struct search s = { .name = name };
	struct err err = { 0 };

	if (!dl_iterate_phdr(find_loaded, &s))
		skip();
	l->cache = dso_cache_new();
	assert_int_equal(dso_get(l->cache, s.path, &l->dso, &err), 0);
	l->bias = s.bias;
	l->plan = patch_plan_new(l->dso);
	assert_null(patch_plan_refusal(l->plan));
	l->stubs = map_stubs(s.bias);
	assert_non_null(l->stubs);
	l->counts = (struct counts *)l->stubs;
	l->next = l->stubs + 4096;
}

static void close_library(struct library *l)
{
	patch_plan_free(l->plan);
	dso_cache_free(l->cache);
	munmap(l->stubs, STUBS_BYTES);
}

/* ---- what is put in gaps ---- */

#if defined(__x86_64__)
/* movq $-1, below(%rsp) */
static size_t put_store(uint8_t *to, int8_t below)
{
	const uint8_t code[] = { 0x48, 0xc7, 0x44, 0x24, (uint8_t)below, 0xff, 0xff, 0xff, 0xff };

	memcpy(to, code, sizeof(code));
	return sizeof(code);
}

/* incq counter(%rip): changes most flags; then sets the carry, which it does not. */
static size_t put_count(uint8_t *to, uint64_t at, const uint64_t *counter)
{
	uint8_t code[] = { 0x48, 0xff, 0x05, 0, 0, 0, 0, 0xf9 };
	int32_t distance = (int32_t)((uint64_t)counter - (at + 7));

	memcpy(code + 3, &distance, sizeof(distance));
	memcpy(to, code, sizeof(code));
	return sizeof(code);
}

static size_t put_gap(uint8_t *to, uint64_t at, const uint64_t *counter, bool flags, bool red_zone)
{
	size_t n = 0;

	for (int below = 8; !red_zone && below <= 40; below += 16)
		n += put_store(to + n, (int8_t)-below);
	if (!flags)
		n += put_count(to + n, at + n, counter);
	return n;
}
#else
/*
 * Counts, and leaves flags as hardly any code does. Registers are kept, and what is below the stack
 * pointer is changed, as a signal handler may do it at any time.
 */
static size_t put_gap(uint8_t *to, uint64_t at, const uint64_t *counter, bool flags, bool red_zone)
{
	const uint32_t code[] = {
		0xa9bf47f0, /* stp x16, x17, [sp, #-16]! */
		0x58000050, /* ldr x16, .+8 */
		0x14000003, /* b .+12 */
		(uint32_t)(uint64_t)counter,
		(uint32_t)((uint64_t)counter >> 32),
		0xf9400211, /* ldr x17, [x16] */
		0x91000631, /* add x17, x17, #1 */
		0xf9000211, /* str x17, [x16] */
		0xeb11023f, /* cmp x17, x17 */
		0xa8c147f0, /* ldp x16, x17, [sp], #16 */
	};

	(void)at, (void)flags, (void)red_zone;
	memcpy(to, code, sizeof(code));
	return sizeof(code);
}
#endif

/* ---- patching ---- */

/* Not memcpy(): that is among what is patched. */
static void write_bytes(uint64_t at, const uint8_t *bytes, size_t n)
{
	volatile uint8_t *to = (volatile uint8_t *)at;

	for (size_t i = 0; i < n; i++)
		to[i] = bytes[i];
}

struct jump {
	uint64_t at;
	size_t n;
	uint8_t bytes[PATCH_JUMP_BYTES];
};

static struct jump *jumps;
static size_t n_jumps;

static void add_jump(enum code_machine machine, uint64_t at, uint64_t to, bool is_short)
{
	struct jump *j = &jumps[n_jumps++];

	j->at = at;
	j->n = is_short			 ? PATCH_SHORT_BYTES
	       : machine == CODE_AARCH64 ? PATCH_JUMP_BYTES_ARM64
					 : PATCH_JUMP_BYTES;
	assert_int_equal(is_short ? patch_short_jump(at, to, j->bytes)
				  : patch_jump(machine, at, to, j->bytes),
			 0);
}

static void make_stub(struct library *l, const struct patch_site *s)
{
	uint8_t entry[GAP_MAX], exit[GAP_MAX];
	uint64_t site = l->bias + s->address, stub = (uint64_t)l->next;
	size_t n_entry = 0, n_exit = 0;
	struct patch_code code;

	assert_memory_equal((void *)site, s->original, s->n_bytes);
	if (s->is_entry)
		n_entry =
			put_gap(entry, stub, &l->counts->entries, s->flags_live, s->red_zone_live);
	if (s->exit != PATCH_NO_EXIT)
		n_exit = put_gap(exit, 0, &l->counts->exits, false, false);
	assert_int_equal(patch_relocate(s, site, stub, n_entry, n_exit, &code), 0);
	if (s->exit != PATCH_NO_EXIT)
		put_gap(exit, stub + n_entry + code.exit_at, &l->counts->exits, false, false);
	memcpy(l->next, entry, n_entry);
	memcpy(l->next + n_entry, code.bytes, code.exit_at);
	memcpy(l->next + n_entry + code.exit_at, exit, n_exit);
	memcpy(l->next + n_entry + code.exit_at + n_exit, code.bytes + code.exit_at,
	       code.n - code.exit_at);
	l->next += n_entry + code.n + n_exit;
	if (s->island) {
		assert_memory_equal((void *)(l->bias + s->island), s->island_original,
				    PATCH_JUMP_BYTES);
		add_jump(s->machine, l->bias + s->island, stub, false);
	}
	add_jump(s->machine, site, s->island ? l->bias + s->island : stub, s->island);
}

/* The two by which this file makes code writable are left alone meanwhile. */
static void patch(struct library *l)
{
	const struct dso_function *functions;
	size_t n = dso_functions(l->dso, &functions);
	uint64_t start, end;

	jumps = calloc(8 * n + 65536, sizeof(*jumps));
	n_jumps = 0;
	for (size_t i = 0; i < n; i++) {
		const struct patch_function *f = patch_plan_function(l->plan, &functions[i]);

		if (f->function != &functions[i] || f->refusal)
			continue;
		l->functions++;
		for (size_t k = 0; k < f->n_sites; k++)
			make_stub(l, &f->sites[k]);
	}
	for (size_t i = 0; dso_code_stretch(l->dso, i, &start, &end); i++) {
		uint64_t page = (l->bias + start) & ~4095ull;

		assert_int_equal(mprotect((void *)page, l->bias + end - page,
					  PROT_READ | PROT_WRITE | PROT_EXEC),
				 0);
	}
	for (size_t i = 0; i < n_jumps; i++)
		write_bytes(jumps[i].at, jumps[i].bytes, jumps[i].n);
	for (size_t i = 0; i < n_jumps; i++)
		__builtin___clear_cache((char *)jumps[i].at, (char *)jumps[i].at + jumps[i].n);
	__builtin___clear_cache((char *)l->stubs, (char *)l->next);
}

/* ---- using it ---- */

static uint64_t sum_of(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t sum = 14695981039346656037ull;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * 1099511628211ull;
	return sum;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static uint64_t use_text(void)
{
	static char text[65536];
	wchar_t wide[64];
	size_t at = 0;
	regex_t re;

	for (int i = 0; i < 500; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d %s %.*g %a %lld %#x\n", i,
				       "word", i % 17, i * 1.7e10, i / 3.0, i * 10000000000ll, i);
	swprintf(wide, 64, L"%d %ls %f", 5, L"wide", 2.5);
	if (!regcomp(&re, "([0-9]+) word (1\\.[0-9]*e)", REG_EXTENDED)) {
		regmatch_t match[3];

		if (!regexec(&re, text, 3, match, 0))
			at += (size_t)match[2].rm_so;
		regfree(&re);
	}
	at += (size_t)strtol(text + 100, NULL, 16) + (size_t)strtod("1.5e300", NULL);
	at += strlen(strstr(text, "77")) + strspn(text, "0123 ") + wcslen(wide);
	return at + sum_of(text, sizeof(text)) + sum_of(wide, sizeof(wchar_t) * wcslen(wide));
}

static uint64_t use_memory(void)
{
	void *blocks[256];
	int numbers[1000];
	uint64_t sum = 0;

	srand(7);
	for (int i = 0; i < 1000; i++)
		numbers[i] = rand() % 5000;
	qsort(numbers, 1000, sizeof(int), compare_ints);
	for (int i = 0; i < 256; i++) {
		blocks[i] = calloc(1, (size_t)(i * 37 + 1));
		memset(blocks[i], i, (size_t)(i * 37));
	}
	for (int i = 0; i < 256; i++) {
		blocks[i] = realloc(blocks[i], (size_t)(i * 53 + 1));
		sum += sum_of(blocks[i], (size_t)(i * 37));
		free(blocks[i]);
	}
	return sum + sum_of(numbers, sizeof(numbers));
}

static uint64_t use_system(void)
{
	struct tm tm = { .tm_year = 100, .tm_mon = 5, .tm_mday = 17 };
	char line[128], *end;
	uint64_t sum = 0;
	FILE *f = tmpfile();
	pid_t child;
	int status = 0;

	for (int i = 0; f && i < 300; i++)
		fprintf(f, "line %d of a file\n", i);
	if (f)
		rewind(f);
	while (f && fgets(line, sizeof(line), f))
		sum += sum_of(line, strlen(line));
	if (f)
		fclose(f);
	strftime(line, sizeof(line), "%A %d %B %Y", &tm);
	sum += sum_of(line, strlen(line));
	child = fork();
	if (!child)
		_exit(23);
	waitpid(child, &status, 0);
	errno = 0;
	sum += strtoul("99999999999999999999", &end, 10) + (uint64_t)errno;
	return sum + (uint64_t)status + (uint64_t)(getenv("NO_SUCH_THING") != NULL);
}

static uint64_t use_libc(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 20; i++)
		sum = sum * 31 + use_text() + use_memory() + use_system();
	return sum;
}

static uint64_t use_libzstd(void)
{
	static char from[200000], to[300000], back[200000];
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * i % 251 + (i >> 9) % 7);
	for (int level = -2; level <= 19; level++) {
		size_t n = ZSTD_compress(to, sizeof(to), from, sizeof(from), level);

		sum = sum * 31 + sum_of(to, n);
		if (ZSTD_decompress(back, sizeof(back), to, n) != sizeof(from) ||
		    memcmp(back, from, sizeof(from)) != 0)
			return 0;
	}
	return sum;
}

/* ---- the tests ---- */

static void compare(const char *name, uint64_t (*use)(void))
{
	struct library l = { 0 };
	uint64_t before = use();
	int status;
	pid_t child;

	open_library(&l, name);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		uint64_t after;

		patch(&l);
		after = use();
		if (after == before && l.functions > 100 && l.counts->entries > 100 &&
		    l.counts->exits > 100)
			_exit(0);
		printf("# %zu functions patched: %llx, was %llx; %llu entries, %llu exits\n",
		       l.functions, (unsigned long long)after, (unsigned long long)before,
		       (unsigned long long)l.counts->entries, (unsigned long long)l.counts->exits);
		fflush(NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close_library(&l);
}

static void libc_lives(void **state)
{
	(void)state;
	compare("/libc.so.6", use_libc);
}

static void libzstd_lives(void **state)
{
	(void)state;
	compare("/libzstd.so", use_libzstd);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__) || defined(__aarch64__)
		cmocka_unit_test(libzstd_lives),
		cmocka_unit_test(libc_lives),
#endif
	};

	return unit_run(tests);
}
