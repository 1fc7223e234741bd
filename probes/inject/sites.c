// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/sites.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "probes/code/decode.h"
#include "probes/code/flow.h"
#include "probes/code/input.h"
#include "probes/code/raw_x86.h"
#include "probes/place/function.h"
#include "symbol/dso/dso.h"

#define PAGE	 4096
#define NO_PLACE UINT64_MAX
#define RET	 0xc3
#define NEAR	 130 /* bytes: how far a branch of 8 bits goes, and its own two */

/* They return to where they were not called from, twice, or on another stack. */
static const char *const left_alone[] = {
	"setjmp",
	"_setjmp",
	"__setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"longjmp",
	"_longjmp",
	"__longjmp",
	"siglongjmp",
	"__libc_siglongjmp",
	"vfork",
	"__vfork",
	"__libc_vfork",
	"clone",
	"__clone",
	"__clone3",
	"__clone_internal",
	"makecontext",
	"__makecontext",
	"setcontext",
	"__start_context",
	"swapcontext",
	"getcontext",
	"__restore_rt",
	"__sigreturn",
	"_dl_runtime_resolve",
	"_start",
	"__libc_start_call_main",
	"_dl_tlsdesc_return",
};

struct inject_file {
	struct dso *dso;
	bool unwinds; /* exceptions may arrive in its functions */
	struct {
		VEC(uint64_t)
	} targets; /* of all that may be a branch with a distance of 32 bits, sorted */
};

struct finding {
	struct inject_sites *sites;
	struct inject_file *file;
	struct dso *dso;
	bool arrives; /* something that no branch shows may arrive in it */
	const struct dso_function *f;
	struct code code;
	struct {
		VEC(uint64_t)
	} near;		      /* targets of branches of what lies next to it */
	const uint8_t *bytes; /* of the function, from its address */
	size_t readable;
};

static void refuse(struct finding *x, const char *why, uint64_t at)
{
	if (*x->sites->why)
		return;
	if (at == NO_PLACE)
		snprintf(x->sites->why, sizeof(x->sites->why), "%s", why);
	else
		snprintf(x->sites->why, sizeof(x->sites->why), "%s at +0x%llx", why,
			 (unsigned long long)(at - x->f->address));
}

static const uint8_t *bytes_at(const struct finding *x, uint64_t at)
{
	return x->bytes + (at - x->f->address);
}

/* A place relative to the instruction is another one elsewhere. It may see one where none is. */
static bool may_be_relative(const uint8_t *p, uint8_t length)
{
	uint8_t padded[24] = { 0 };
	struct raw raw;
	unsigned modrm;

	memcpy(padded, p, length < 15 ? length : 15);
	raw_parse(&raw, padded);
	if (raw.vector)
		return true;
	modrm = raw.prefixes + raw.map;
	return modrm < length && (padded[modrm] & 0xc7) == 0x05;
}

static bool can_move(const struct finding *x, const struct insn *i)
{
	const uint8_t *p = bytes_at(x, i->address);

	return i->flow == FLOW_NEXT && !i->is_call && i->address >= x->f->address &&
	       i->address + i->length - x->f->address <= x->readable &&
	       !may_be_relative(p, i->length) && *p != 0xcd && !(p[0] == 0x0f && p[1] == 0x05);
}

static bool is_on_one_page(uint64_t at)
{
	return at % PAGE + SITE_JUMP_BYTES <= PAGE;
}

/* ---- what arrives where ---- */

static bool is_target_of_file(const struct inject_file *file, uint64_t from, uint64_t to)
{
	size_t low = 0, high = file->targets.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->targets.data[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->targets.n && file->targets.data[low] < to;
}

static size_t first_from(const struct dso_function *all, size_t n, uint64_t at)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all[middle].address < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_branches_of(struct finding *x, const struct dso_function *f)
{
	struct code_input in = { .machine = CODE_X86_64, .address = f->address };
	struct code code = { 0 };
	size_t readable;

	in.code = dso_code(x->dso, f->address, &readable);
	in.size_bytes = f->size < readable ? f->size : readable;
	if (!in.code || !in.size_bytes)
		return;
	code_read(&code, &in);
	vec_for_each (&code.branches, const struct branch, b)
		*vec_add(&x->near) = b->target;
	code_release(&code);
}

/* Of bytes between functions: what looks like a branch may be none. */
static void add_branches_between(struct finding *x, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at++) {
		const uint8_t *p = dso_bytes(x->dso, at, 2);

		if (p && ((*p & 0xf0) == 0x70 || *p == 0xeb || (*p & 0xfc) == 0xe0))
			*vec_add(&x->near) = at + 2 + (uint64_t)(int64_t)(int8_t)p[1];
	}
}

/* Functions that lie next to it may have branches of 8 bits into it. */
static void find_near(struct finding *x)
{
	uint64_t start = x->f->address, end = start + x->f->size;
	uint64_t from = start - NEAR, to = end + NEAR, done = from;
	const struct dso_function *all;
	size_t n = dso_functions(x->dso, &all), i = first_from(all, n, from);

	while (i && all[i - 1].address + all[i - 1].size > from)
		i--;
	for (; i < n && all[i].address < to; i++) {
		uint64_t end_here = all[i].address + all[i].size;

		if (all[i].address > done)
			add_branches_between(x, done, all[i].address);
		if (all[i].address != start && end_here > done)
			add_branches_of(x, &all[i]);
		done = end_here > done ? end_here : done;
	}
	add_branches_between(x, done, to);
}

static bool is_near_target(const struct finding *x, uint64_t from, uint64_t to)
{
	vec_for_each (&x->near, const uint64_t, target)
		if (*target >= from && *target < to)
			return true;
	return false;
}

static bool has_symbol(const struct finding *x, uint64_t from, uint64_t to)
{
	const struct dso_function *all;
	size_t n = dso_functions(x->dso, &all), i = first_from(all, n, from);

	return i < n && all[i].address < to;
}

/* Whether anything but the instruction before it leads to a place in there. */
static bool is_reached(const struct finding *x, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at++)
		if (code_is_target(&x->code, at))
			return true;
	return from < to && (is_target_of_file(x->file, from, to) || is_near_target(x, from, to) ||
			     has_symbol(x, from, to));
}

/* Behind an instruction that moves the stack pointer neither a switch nor an exception arrives. */
static bool may_arrive_behind(const struct finding *x, const struct insn *i)
{
	return x->arrives && i->sp == SP_KEEP;
}

static struct inject_site *add(struct finding *x, uint64_t at, uint64_t end)
{
	struct inject_site *s = vec_add(x->sites);

	s->address = at;
	s->n = (uint8_t)(end - at);
	memcpy(s->original, bytes_at(x, at), s->n);
	return s;
}

/* push, lea, mov between registers, nop, endbr64: these change no flags. */
static bool is_left(const struct finding *x, const struct insn *i)
{
	const uint8_t *p = bytes_at(x, i->address);
	uint8_t rex = (*p & 0xf0) == 0x40;

	p += rex;
	if ((*p & 0xf8) == 0x50)
		return true;
	if (*p == 0x8d || ((*p == 0x89 || *p == 0x8b) && p[1] >= 0xc0))
		return i->sp == SP_KEEP && !(i->writes & 1u << 4);
	return !rex && (*p == 0x90 || !memcmp(p, "\x0f\x1f", 2) || !memcmp(p, "\x66\x0f\x1f", 3) ||
			!memcmp(p, "\xf3\x0f\x1e\xfa", 4));
}

/* From instruction i on; false: not there. */
static bool find_entry_at(struct finding *x, size_t i, int32_t sp)
{
	uint64_t start = x->code.insns[i].address, end = start;

	for (; i < x->code.n_main && end - start < SITE_JUMP_BYTES; i++) {
		const struct insn *insn = &x->code.insns[i];

		if (insn->address != end || !can_move(x, insn))
			return false;
		end += insn->length;
	}
	if (end - start < SITE_JUMP_BYTES || end - start > SITE_BYTES_MOST ||
	    is_reached(x, start + 1, end) || code_is_target(&x->code, start) ||
	    !is_on_one_page(start))
		return false;
	add(x, start, end)->sp = sp;
	return true;
}

static void find_entry(struct finding *x)
{
	size_t i = code_index(&x->code, x->f->address);
	const struct insn *first = i < x->code.n_main ? &x->code.insns[i] : NULL;

	if (!first || first->length > x->readable)
		return refuse(x, "its code is not understood", NO_PLACE);
	if (is_left(x, first) && i + 1 < x->code.n_main &&
	    x->code.insns[i + 1].address == first->address + first->length &&
	    !is_reached(x, first->address + first->length, first->address + first->length + 1) &&
	    find_entry_at(x, i + 1, first->sp == SP_ADD ? -first->sp_delta : 0))
		return;
	if (!find_entry_at(x, i, 0))
		refuse(x, "there is no room for a jump at its entry", NO_PLACE);
}

/* One instruction that does nothing and is as long, or longer. */
static bool is_one_nop(const uint8_t *p, uint64_t n)
{
	uint64_t prefixes = 0, length;

	while (prefixes < 8 && prefixes < n && (p[prefixes] == 0x66 || p[prefixes] == 0x2e))
		prefixes++;
	if (prefixes + 3 > n || p[prefixes] != 0x0f || p[prefixes + 1] != 0x1f)
		return false;
	length = prefixes + 3;
	if ((p[prefixes + 2] & 7) == 4)
		length++;
	if (p[prefixes + 2] >> 6 == 1)
		length++;
	if (p[prefixes + 2] >> 6 == 2)
		length += 4;
	return p[prefixes + 2] >> 6 != 3 && length >= n;
}

/* Bytes behind the function that only fill up: nothing of another one, and nothing that runs. */
static bool is_padding(const struct finding *x, uint64_t from, uint64_t to)
{
	uint64_t end = x->f->address + x->f->size;
	const uint8_t *p = bytes_at(x, from);

	if (from < end || to - x->f->address > x->readable || dso_function_at(x->dso, from) ||
	    dso_function_at(x->dso, to - 1))
		return false;
	if (*p == 0x90 || *p == 0xcc) {
		for (uint64_t at = from; at < to; at++)
			if (*bytes_at(x, at) != *p)
				return false;
		return true;
	}
	return is_one_nop(p, to - from);
}

/* Of another function: what jumps into a part of its own is not left. */
static bool is_start(const struct finding *x, uint64_t at)
{
	const struct dso_function *f = dso_function_at(x->dso, at);

	return f && f->address == at && !strstr(f->symbol, ".cold") && !f->size_guessed;
}

static void find_exit(struct finding *x, uint64_t at)
{
	size_t i = code_index(&x->code, at), first = i;
	const struct insn *insns = x->code.insns, *last = i == SIZE_MAX ? NULL : &insns[i];
	uint64_t end = last ? last->address + last->length : 0;
	struct inject_site *s;

	if (!last || last->address < x->f->address || end - x->f->address > x->readable)
		return refuse(x, "an exit of it lies elsewhere", NO_PLACE);
	if (last->flow != FLOW_RET && last->flow != FLOW_JUMP)
		return refuse(x, "it is left by an indirect jump", at);
	if (last->flow == FLOW_RET && *bytes_at(x, at) != RET &&
	    !(*bytes_at(x, at) == 0xf3 && bytes_at(x, at)[1] == RET))
		return refuse(x, "it returns in an unusual way", at);
	if (last->flow == FLOW_RET && end - at < SITE_JUMP_BYTES &&
	    is_padding(x, end, at + SITE_JUMP_BYTES))
		end = at + SITE_JUMP_BYTES;
	while (end - insns[first].address < SITE_JUMP_BYTES) {
		if (code_is_target(&x->code, insns[first].address) || !first ||
		    may_arrive_behind(x, &insns[first - 1]) ||
		    insns[first - 1].address + insns[first - 1].length != insns[first].address ||
		    insns[first - 1].flow != FLOW_NEXT || !can_move(x, &insns[first - 1]))
			return refuse(x, "there is no room for a jump before its exit", at);
		first--;
	}
	if (end - insns[first].address > SITE_BYTES_MOST)
		return refuse(x, "there is no room for a jump before its exit", at);
	if (!is_on_one_page(insns[first].address))
		return refuse(x, "an exit of it lies on two pages", at);
	if (is_reached(x, insns[first].address + 1, end))
		return refuse(x, "there is no room for a jump before its exit", at);
	if (last->flow == FLOW_JUMP && !is_start(x, last->target))
		return refuse(x, "it may go on elsewhere, by the jump", at);
	s = add(x, insns[first].address, end);
	s->is_exit = true;
	s->before = (uint8_t)(at - insns[first].address);
	s->returns = last->flow == FLOW_RET;
	s->goal = last->target;
}

static int by_address(const void *a, const void *b)
{
	const struct inject_site *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void look_for_overlaps(struct finding *x)
{
	vec_sort(x->sites, by_address);
	for (size_t i = 1; i < x->sites->n; i++)
		if (x->sites->data[i - 1].address + x->sites->data[i - 1].n >
		    x->sites->data[i].address)
			refuse(x, "it is too short", NO_PLACE);
}

static void find_all(struct finding *x, const struct placement *p)
{
	const struct code_input in = { .machine = CODE_X86_64,
				       .code = x->bytes,
				       .size_bytes = x->f->size,
				       .address = x->f->address };

	code_read(&x->code, &in);
	for (size_t i = 0; i < x->code.n; i++)
		x->arrives |= x->code.insns[i].flow == FLOW_JUMP_REG ||
			      x->code.insns[i].flow == FLOW_JUMP_MEM;
	find_near(x);
	if (x->code.incomplete || x->code.too_large)
		refuse(x, "its code is not understood", NO_PLACE);
	else
		find_entry(x);
	for (uint32_t i = 0; i < p->n_ret_sites && !*x->sites->why; i++)
		find_exit(x, x->f->address + (uint64_t)p->ret_sites[i]);
	code_release(&x->code);
	vec_release(&x->near);
	look_for_overlaps(x);
}

static bool is_left_alone(const char *symbol)
{
	for (size_t i = 0; i < sizeof(left_alone) / sizeof(*left_alone); i++)
		if (!strcmp(symbol, left_alone[i]))
			return true;
	return false;
}

/* ---- the file ---- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What looks like a call, a jump or a conditional jump at any byte, and leads into code. */
static void find_targets(struct inject_file *file, uint64_t start, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 6 <= n; i++) {
		size_t length = p[i] == 0xe8 || p[i] == 0xe9		    ? 5
				: p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80 ? 6
									    : 0;
		int32_t distance;
		uint64_t target;

		if (!length)
			continue;
		memcpy(&distance, p + i + length - 4, sizeof(distance));
		target = start + i + length + (uint64_t)(int64_t)distance;
		if (target - start < n)
			*vec_add(&file->targets) = target;
	}
}

static bool has_symbol_of(struct dso *dso, const char *name)
{
	const char *const *imports;
	const uint32_t *unused;
	size_t n = dso_imports(dso, &imports);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(imports[i], name, strlen(name)))
			return true;
	return dso_find(dso, name, &unused) > 0;
}

/* All of it, whatever lies before the first function: parts of others, for example. */
static const uint8_t *section_of(struct dso *dso, uint64_t *start, size_t *readable)
{
	const uint8_t *p = dso_code(dso, *start, readable);
	size_t n;

	for (uint64_t step = PAGE; p && step; step /= 16)
		while (*start >= step && dso_code(dso, *start - step, &n) &&
		       n == *readable + step) {
			*start -= step;
			*readable = n;
		}
	return p ? dso_code(dso, *start, readable) : NULL;
}

struct inject_file *inject_file_new(struct dso *dso)
{
	struct inject_file *file = xcalloc(1, sizeof(*file));
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);
	uint64_t done = 0;

	file->dso = dso;
	file->unwinds = has_symbol_of(dso, "__gxx_personality_v0") ||
			has_symbol_of(dso, "__gcc_personality_v0") ||
			has_symbol_of(dso, "rust_eh_personality");
	/* each section of code that has functions */
	for (size_t i = 0; i < n; i++) {
		uint64_t start = all[i].address;
		size_t readable = 0;
		const uint8_t *p = start >= done ? section_of(dso, &start, &readable) : NULL;

		if (!p)
			continue;
		find_targets(file, start, p, readable);
		done = start + readable;
	}
	vec_sort(&file->targets, by_value);
	return file;
}

void inject_file_free(struct inject_file *file)
{
	if (file)
		vec_release(&file->targets);
	free(file);
}

void inject_sites_find(struct inject_sites *s, struct inject_file *file,
		       const struct dso_function *f)
{
	struct dso *dso = file->dso;
	struct finding x = {
		.sites = s, .file = file, .dso = dso, .f = f, .arrives = file->unwinds
	};
	struct placement p;

	*s = (struct inject_sites){ 0 };
	x.bytes = dso_code(dso, f->address, &x.readable);
	placement_of_function(dso, f, 0, 0, &p);
	if (dso_machine(dso) != DSO_X86_64 || !x.bytes || f->size > x.readable)
		refuse(&x, "its code is not in the file", NO_PLACE);
	else if (f->ifunc)
		refuse(&x, "it is chosen when the program starts", NO_PLACE);
	else if (is_left_alone(f->symbol))
		refuse(&x, "it changes where code returns to", NO_PLACE);
	else if (!p.ret_sites_complete)
		refuse(&x, *p.ret_sites_reason ? p.ret_sites_reason : "its exits are not known",
		       NO_PLACE);
	else
		find_all(&x, &p);
	if (*s->why)
		vec_release(s);
}

void inject_sites_release(struct inject_sites *s)
{
	vec_release(s);
}
