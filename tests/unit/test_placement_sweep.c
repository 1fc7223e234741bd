// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Every function of the libc that this test runs with: whatever placement says must agree with
 * the bytes in the file, looked at here without its decoder.
 */
#include "probes/code/decode_x86.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <linux/version.h>

#include "base/err.h"
#include "probes/code/decode.h"
#include "probes/place/function.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/symbols.h"

#define KERNEL KERNEL_VERSION(6, 18, 0)

static struct dso_cache *cache;

static struct dso *open_libc(void)
{
	struct err err = { 0 };
	struct dso *dso = NULL;
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)gnu_get_libc_version, &info));
	if (dso_get(cache, info.dli_fname, &dso, &err))
		fail_msg("%s", err.text);
	return dso;
}

static bool is_emulated(const uint8_t *p)
{
	static const uint8_t nops[][4] = { { 0x66, 0x90 }, { 0x0f, 0x1f }, { 0x66, 0x0f, 0x1f } };

	if (*p == 0xf2 || *p == 0xf3) /* bnd jmp, pause */
		p++;
	for (size_t i = 0; i < 3; i++)
		if (!memcmp(p, nops[i], i == 2 ? 3 : 2))
			return true;
	if (*p == 0x0f)
		return (p[1] & 0xf0) == 0x80;
	if (*p == 0x41)
		return (p[1] & 0xf8) == 0x50;
	return (*p & 0xf8) == 0x50 || (*p & 0xf0) == 0x70 || *p == 0xe8 || *p == 0xe9 ||
	       *p == 0xeb || *p == 0x90;
}

static bool is_exit(const uint8_t *p)
{
	if (*p == 0xf2 || *p == 0xf3)
		p++;
	if (*p == 0x41) /* a register above rdi */
		p++;
	return *p == 0xc3 || *p == 0xc2 || *p == 0xe9 || *p == 0xeb ||
	       (*p == 0xff && (p[1] >> 3 & 7) == 4);
}

/* Decoding from the function's start must come by: no probe in the middle of an instruction. */
static bool is_boundary(void *decoder, const uint8_t *code, uint64_t size, uint64_t offset)
{
	struct insn insn;
	uint64_t at = 0;

	while (at < offset && decode_x86(decoder, code + at, size - at, at, &insn))
		at += insn.length;
	return at == offset;
}

static void check_entry(void *decoder, const struct dso_function *f, const uint8_t *code,
			const struct placement *p)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	const uint8_t *at = code + p->entry_offset;

	if (p->entry_offset >= f->size || !is_boundary(decoder, code, f->size, p->entry_offset))
		fail_msg("%s+0x%x is no instruction of it", f->symbol, p->entry_offset);
	if (p->class == CLASS_NOP5 && memcmp(at, nop5, 5) != 0)
		fail_msg("%s+0x%x is no nop5", f->symbol, p->entry_offset);
	if ((p->class == CLASS_EMULATED) != (is_emulated(at) && memcmp(at, nop5, 5) != 0))
		fail_msg("%s+0x%x has class %d, byte %02x", f->symbol, p->entry_offset, p->class,
			 *at);
	if (p->class > p->naive_class)
		fail_msg("%s: moved to a dearer place", f->symbol);
	if (*at == 0xf0 || *at == 0xc4 || *at == 0xc5 || *at == 0x2e || *at == 0x3e)
		fail_msg("%s+0x%x starts with %02x", f->symbol, p->entry_offset, *at);
}

static void check_exits(struct dso *dso, const struct dso_function *f, const struct placement *p)
{
	for (uint32_t i = 0; i < p->n_ret_sites; i++) {
		size_t n;
		const uint8_t *at = dso_code(dso, f->address + (uint64_t)p->ret_sites[i], &n);

		if (!at || !n || !is_exit(at))
			fail_msg("%s%+d is no exit", f->symbol, (int)p->ret_sites[i]);
	}
	if (p->ret_sites_complete == (p->ret_sites_reason[0] != 0))
		fail_msg("%s: complete %d, \"%s\"", f->symbol, p->ret_sites_complete,
			 p->ret_sites_reason);
}

struct tally {
	size_t n, possible, cheap, naive, complete;
};

static void sweep(struct dso *dso, struct tally *t)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);
	void *decoder = decoder_x86_new(true);

	for (size_t i = 0; i < n; i++) {
		const struct dso_function *f = &functions[i];
		size_t readable;
		const uint8_t *code = dso_code(dso, f->address, &readable);
		struct placement p;

		if (!code || !f->size || f->size > readable)
			continue;
		placement_of_function(dso, f, 0, KERNEL, &p);
		t->n++;
		t->possible += p.possible;
		t->naive += p.naive_class <= CLASS_EMULATED;
		if (!p.possible)
			continue;
		t->cheap += p.class <= CLASS_EMULATED;
		t->complete += p.ret_sites_complete;
		check_entry(decoder, f, code, &p);
		check_exits(dso, f, &p);
	}
	decoder_x86_free(decoder);
}

static void libc_agrees_with_its_bytes(void **state)
{
	struct dso *libc = open_libc();
	struct tally t = { 0 };

	if (dso_machine(libc) != DSO_X86_64)
		skip();
	sweep(libc, &t);
	print_message(
		"%zu functions: %zu cheap at +0, %zu placed cheaply, %zu with all exits known\n",
		t.n, t.naive, t.cheap, t.complete);
	assert_true(t.n > 1000);
	assert_true(t.possible * 100 >= t.n * 99);
	assert_true(t.cheap * 100 >= t.n * 60 && t.cheap > t.naive);
	assert_true(t.complete * 100 >= t.n * 90);
}

static const struct dso_function *find(struct dso *dso, const char *symbol)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(functions[i].symbol, symbol))
			return &functions[i];
	fail_msg("no %s in %s", symbol, dso_path(dso));
	return NULL;
}

/* Unwind entries and symbols are made by different tools: they must agree where both exist. */
static void unwind_entries_agree_with_symbols(void **state)
{
	static const char *const names[] = { "printf", "malloc", "qsort", "fopen", "getenv" };
	struct dso *libc = open_libc();
	uint64_t start, size;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct dso_function *f = find(libc, names[i]);

		assert_true(dso_frame_range(libc, f->address, &start, &size));
		assert_int_equal(start, f->address);
		assert_int_equal(size, f->size);
		assert_true(dso_frame_range(libc, f->address + f->size - 1, &start, &size));
		assert_int_equal(start, f->address);
	}
	assert_false(dso_frame_range(libc, 0, &start, &size));
	assert_false(dso_frame_range(libc, UINT64_MAX, &start, &size));
}

static int set_up(void **state)
{
	cache = dso_cache_new();
	return 0;
}

static int tear_down(void **state)
{
	dso_cache_free(cache);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libc_agrees_with_its_bytes),
		cmocka_unit_test(unwind_entries_agree_with_symbols),
	};

	return cmocka_run_group_tests_name("placement_sweep", tests, set_up, tear_down);
}
