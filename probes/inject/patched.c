// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/patched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/threadrow.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/inproc.h"
#include "probes/process/target.h"
#include "probes/select/arguments.h"
#include "probes/select/blocking.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"
#include "symbol/maps.h"

#define SITE_CODE_MOST (2u * STUB_BYTES_MOST + PATCH_CODE_MAX)
#define STACK_MOST     (1u << 20)

/* ---- code, a page at a time ---- */

#define PAGE 4096ull
/* A copy of the pages of code that were asked for. The threads are stopped, so the copy stays
 * valid. */
struct pages {
	const struct tracees *t;
	struct map index; /* by the page's number */
	struct {
		VEC(uint8_t)
	} bytes;
};

/* Returns n bytes of the code, which must lie on one page, or NULL. They are valid until the next
 * call. */
static uint8_t *pages_at(struct pages *all, uint64_t at, size_t n)
{
	const uint64_t page = at & ~(PAGE - 1);
	uint32_t i = map_get(&all->index, page / PAGE);

	if (at - page + n > PAGE)
		return NULL;
	if (i == MAP_NONE) {
		i = (uint32_t)(all->bytes.n / PAGE);
		vec_reserve(&all->bytes, all->bytes.n + PAGE);
		if (tracees_read(all->t, page, all->bytes.data + all->bytes.n, PAGE))
			return NULL;
		all->bytes.n += PAGE;
		map_put(&all->index, page / PAGE, i);
	}
	return all->bytes.data + i * PAGE + (at - page);
}

static bool has_bytes(struct pages *all, uint64_t at, const uint8_t *bytes, size_t n)
{
	const uint64_t rest = PAGE - (at & (PAGE - 1));
	const size_t first = n < rest ? n : rest;
	const uint8_t *now = pages_at(all, at, first);

	if (!now || memcmp(now, bytes, first) != 0)
		return false;
	return first == n || has_bytes(all, at + first, bytes + first, n - first);
}

/* ---- functions ---- */

bool patched_keep_arguments(struct arguments *a, const struct patch_site *sites, size_t n)
{
	bool returns = true;

	for (size_t i = 0; i < n; i++)
		returns &= sites[i].exit == PATCH_NO_EXIT || sites[i].exit == PATCH_RET;
	return arguments_keep_intact(a, sites->intact & INPROC_ARGUMENTS, returns);
}

void patched_functions_count(const struct patched_functions *functions, struct inproc_drain *d)
{
	inproc_drain_count_functions(d, (uint32_t)functions->n);
	for (size_t i = 0; i < functions->n; i++)
		d->arguments[i] = functions->data[i].arguments;
}

void patched_functions_release(struct patched_functions *functions)
{
	vec_for_each (functions, struct patched_function, f) {
		vec_release(&f->sites);
		free(f->arguments);
	}
	vec_release(functions);
}

/* ---- the functions' objects ---- */

/* An object of the process that has functions to patch. */
struct object {
	struct dso *dso;
	uint64_t bias, start, end; /* of its code */
	size_t bytes;		   /* bytes of its stubs */
	struct stub_code code;
};

struct objects {
	VEC(struct object)
};

/* The code may be in several mappings, one after the other, which have the same load bias. */
static void find_object(struct objects *all, const struct mappings *maps, struct dso *dso)
{
	struct object found = { .dso = dso };

	vec_for_each (all, const struct object, o)
		if (o->dso == dso)
			return;
	vec_for_each (maps, const struct mapping, m) {
		uint64_t bias = m->inode == dso_inode(dso) && m->device == dso_device(dso)
					? dso_load_bias(dso, m->start, m->file_offset)
					: UINT64_MAX;

		if (bias == UINT64_MAX || (found.end && bias != found.bias))
			continue;
		found.bias = bias;
		found.start = found.end ? found.start : m->start;
		found.end = m->end;
	}
	if (found.end)
		*vec_add(all) = found;
}

static struct object *object_of(struct objects *all, const struct dso *dso)
{
	vec_for_each (all, struct object, o)
		if (o->dso == dso)
			return o;
	return NULL;
}

/* Another tool may have changed the code: a debugger's breakpoint, another recorder's probe. */
static bool is_as_in_file(struct pages *code, const struct object *o, uint64_t address,
			  const uint8_t *original, size_t n)
{
	const uint64_t at = address + o->bias;

	return at >= o->start && at + n <= o->end && has_bytes(code, at, original, n);
}

static bool is_site_as_in_file(struct pages *code, const struct object *o,
			       const struct patch_site *s)
{
	return is_as_in_file(code, o, s->address, s->original, s->n_bytes) &&
	       (!s->island ||
		is_as_in_file(code, o, s->island, s->island_original, PATCH_JUMP_BYTES));
}

static const char *check_function(struct pages *code, const struct object *o,
				  const struct patched_function *f)
{
	if (!o)
		return "its file is not mapped";
	vec_for_each (&f->sites, const struct patch_site, s)
		if (!is_site_as_in_file(code, o, s))
			return "its code in memory is not that of its file, as a debugger or another "
			       "tracer has changed it";
	return NULL;
}

/* code: pages of the process, whose threads are stopped. NULL: the threads run, and no code is
 * compared yet. */
static void find_objects(struct objects *all, pid_t pid, struct pages *code,
			 struct patched_functions *functions, bool *wanted)
{
	struct mappings maps = { 0 };

	if (mappings_read(&maps, pid, NULL))
		maps.n = 0;
	for (size_t i = 0; i < functions->n; i++) {
		struct patched_function *f = &functions->data[i];
		const char *why = NULL;
		struct object *o;

		find_object(all, &maps, f->dso);
		o = object_of(all, f->dso);
		if (code)
			why = check_function(code, o, f);
		wanted[i] = o && !why && !f->is_out;
		if (wanted[i])
			o->bytes += f->sites.n * SITE_CODE_MOST;
		else if (code)
			f->left = why;
	}
	mappings_release(&maps);
}

static void release_objects(struct objects *all)
{
	vec_for_each (all, struct object, o)
		free(o->code.bytes);
	vec_release(all);
}

/* ---- stubs ---- */

static size_t table_bytes(const struct patched_functions *functions, const bool *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++)
		n += wanted[i] ? functions->data[i].sites.n : 0;
	return 2 * n * sizeof(struct arena_patch); /* for a site and its island */
}

/* An object without stubs gets no arena. */
static void add_arenas(struct patched *p, struct objects *all, size_t table)
{
	const struct blob blob = blob_get();

	vec_for_each (all, struct object, o)
		if (o->bytes)
			*vec_add(&p->injection.arenas) =
				(struct stub_arena){ .near_start = o->start,
						     .near_end = o->end,
						     .bytes = o->bytes + blob.bytes + 16 + table };
}

static void begin_arena(struct stub_code *c, const struct injection *in, const struct stub_arena *a,
			struct stub_facts *facts)
{
	const struct blob blob = blob_get();

	*c = (struct stub_code){
		.bytes = xcalloc(1, a->bytes), .address = a->at, .n = ARENA_HEADER, .room = a->bytes
	};
	facts->claim = a->at + c->n + blob.claim;
	facts->full = a->at + c->n + blob.full;
	facts->miss = in->gives_up ? a->at + c->n + blob.miss : 0;
	facts->begin = a->at + c->n + blob.begin;
	facts->end = a->at + c->n + blob.end;
	facts->values = a->at + c->n + blob.values;
	facts->enter = a->at + c->n + blob.enter;
	facts->leave = a->at + c->n + blob.leave;
	facts->ring_bytes = (uint32_t)in->ring_bytes;
	stub_emit(c, blob.code, blob.bytes);
	c->n = (c->n + 15) & ~15ull;
}

/* Writes the facts that the stubs use and that are known only once the process is stopped. */
static void write_facts(struct stub_code *c, const struct injection *in)
{
	const struct blob_facts f = { .region = in->region,
				      .blocks = in->blocks,
				      .ring_bytes = in->ring_bytes,
				      .block_bytes = in->block_bytes,
				      .rows = in->rows,
				      .rows_bytes = in->rows_bytes,
				      .period = in->period,
				      .table = in->table,
				      .tid_below = in->tid_below,
				      .misses_most = in->gives_up ? BLOCK_MISSES_MOST : 0,
				      .budget = in->budget,
				      .small_from = in->region + INPROC_PAGE +
						    in->large_rings * sizeof(struct inproc_slot),
				      .small_bytes = inproc_small_bytes(in->ring_bytes) };

	memcpy(c->bytes + ARENA_HEADER, &f, sizeof(f));
}

enum { NO_VALUES, ALWAYS, SOMETIMES, N_WHEN };

/* Sizes of stubs. That of an entry depends on whether the stub saves the flags and the red zone,
 * and on when it records arguments; that of an exit on whether it records what is returned. */
struct stub_sizes {
	size_t entry[2][2][N_WHEN], exit[2];
};

static size_t emitted_bytes(void (*emit)(struct stub_code *c, struct stub_site *s),
			    struct stub_site *s)
{
	uint8_t bytes[STUB_BYTES_MOST];
	struct stub_code c = { .bytes = bytes, .room = sizeof(bytes) };

	emit(&c, s);
	return c.n;
}

static struct stub_sizes sizes_of(const struct stub_facts *facts, bool is_sampled)
{
	struct stub_sizes sizes;

	for (unsigned k = 0; k < 4 * N_WHEN; k++) {
		const unsigned when = k / 4;
		struct stub_site s = { .facts = facts,
				       .entry = { .saves_flags = k & 1,
						  .saves_red_zone = k & 2,
						  .values = when != NO_VALUES,
						  .sometimes = when == SOMETIMES },
				       .is_entry = true,
				       .is_exit = true,
				       .is_sampled = is_sampled,
				       .returns = when != NO_VALUES };

		sizes.entry[k & 1][k / 2 & 1][when] = emitted_bytes(stub_emit_site_entry, &s);
		sizes.exit[s.returns] = emitted_bytes(stub_emit_site_exit, &s);
	}
	return sizes;
}

/* In a tiny function one site may be both the entry and an exit. */
static int emit_site(struct stub_code *c, const struct stub_facts *facts,
		     const struct stub_sizes *sizes, const struct patch_site *s,
		     const struct patched_function *f, uint32_t id, uint64_t bias, bool is_sampled)
{
	const struct arguments *a = f->arguments;
	const char *symbol = f->function->symbol;
	const uint32_t values = a ? a->registers | (a->caller ? 1u << INPROC_CALLER : 0) : 0;
	const unsigned when = !values ? NO_VALUES : a->occasional ? SOMETIMES : ALWAYS;
	struct stub_site stub = { .facts = facts,
				  .entry = { .id = id,
					     .sp = s->sp_correction,
					     .saves_flags = s->flags_live,
					     .saves_red_zone = s->red_zone_live,
					     .waits = blocking_waits_or_unlocks(symbol),
					     .values = values,
					     .sometimes = when == SOMETIMES },
				  .is_entry = s->is_entry,
				  .is_exit = s->exit != PATCH_NO_EXIT,
				  .is_sampled = is_sampled,
				  .returns = a && a->returns };
	struct patch_code code;
	int ret = patch_relocate(s, s->address + bias, c->address + c->n,
				 s->is_entry ? sizes->entry[s->flags_live][s->red_zone_live][when]
					     : 0,
				 stub.is_exit ? sizes->exit[stub.returns] : 0, &code);

	if (ret)
		return ret;
	stub_emit_site_entry(c, &stub);
	stub_emit(c, code.bytes, code.exit_at);
	stub_emit_site_exit(c, &stub);
	stub_emit(c, code.bytes + code.exit_at, code.n - code.exit_at);
	stub_emit_site_rest(c, &stub);
	return 0;
}

static void add_island(struct patched *p, const struct patch_site *s, uint64_t bias, uint64_t stub,
		       uint32_t function)
{
	struct patch *patch = vec_add(&p->patches);

	patch->at = s->island + bias;
	patch->n = patch->n_jump = PATCH_JUMP_BYTES;
	patch->function = function;
	patch->is_island = true;
	memcpy(patch->original, s->island_original, PATCH_JUMP_BYTES);
	patch_jump(s->machine, patch->at, stub, patch->jump);
}

static void add_patch(struct patched *p, const struct patch_site *s, uint64_t bias, uint64_t stub,
		      uint32_t function)
{
	struct patch *patch = vec_add(&p->patches);

	patch->at = s->address + bias;
	patch->n = s->n_bytes;
	patch->n_jump = (uint8_t)patch_jump_bytes(s);
	patch->function = function;
	memcpy(patch->original, s->original, patch->n_jump);
	if (s->island)
		patch_short_jump(patch->at, s->island + bias, patch->jump);
	else
		patch_jump(s->machine, patch->at, stub, patch->jump);
	if (s->island)
		add_island(p, s, bias, stub, function);
}

/* Makes stubs for all sites of the function, or on an error for none of them. */
static int make_stubs_of(struct patched *p, struct object *o, const struct stub_facts *facts,
			 const struct stub_sizes *sizes, const struct patched_function *f,
			 uint32_t id)
{
	const size_t n_patches = p->patches.n, n_bytes = o->code.n;

	vec_for_each (&f->sites, const struct patch_site, s) {
		const uint64_t stub = o->code.address + o->code.n;
		int ret = emit_site(&o->code, facts, sizes, s, f, id, o->bias,
				    p->injection.period > 1);

		if (ret) {
			p->patches.n = n_patches;
			o->code.n = n_bytes;
			return ret;
		}
		add_patch(p, s, o->bias, stub, id);
	}
	return 0;
}

static void make_stubs(struct patched *p, struct object *o, const struct stub_facts *facts,
		       struct patched_functions *functions, const bool *wanted)
{
	const struct stub_sizes sizes = sizes_of(facts, p->injection.period > 1);

	for (size_t i = 0; i < functions->n; i++) {
		struct patched_function *f = &functions->data[i];

		if (wanted[i] && f->dso == o->dso &&
		    make_stubs_of(p, o, facts, &sizes, f, (uint32_t)i))
			f->left = "what its first or last instructions name is too far from where "
				  "there is room";
	}
}

/* Writes the table by which a later recorder can remove the patches of this one. */
static void emit_table(struct patched *p, struct stub_code *c, size_t first)
{
	struct arena_header h = { .mark = { .magic = MARK_MAGIC,
					    .recorder = (uint64_t)getpid(),
					    .recorder_start = target_start_ticks(getpid()) },
				  .n_bytes = (uint32_t)c->room };

	c->n = (c->n + 15) & ~15ull;
	h.table_at = c->n;
	for (size_t i = first; i < p->patches.n; i++) {
		const struct patch *patch = &p->patches.data[i];
		struct arena_patch row = { .at = patch->at,
					   .n = patch->n_jump,
					   .is_island = patch->is_island };

		memcpy(row.original, patch->original, patch->n_jump);
		stub_emit(c, &row, sizeof(row));
		h.n_patches++;
	}
	memcpy(c->bytes, &h, sizeof(h));
}

/* The first arena begins with the jump to the code that runs now, so this leaves the start of an
 * arena alone. */
static int write_arena(const struct tracees *t, const struct stub_code *c)
{
	const size_t jump = sizeof(((struct patched_mark *)NULL)->jump);

	return tracees_write(t, c->address + jump, c->bytes + jump, c->n - jump);
}

/* Makes all code of the arenas except for what write_facts() adds. */
static void make_arenas(struct patched *p, struct objects *all, struct patched_functions *functions,
			const bool *wanted)
{
	size_t next = 0;

	vec_for_each (all, struct object, o) {
		struct stub_facts facts;
		size_t first = p->patches.n;

		if (!o->bytes)
			continue;
		begin_arena(&o->code, &p->injection, &p->injection.arenas.data[next++], &facts);
		make_stubs(p, o, &facts, functions, wanted);
		emit_table(p, &o->code, first);
	}
}

static int write_arenas(struct patched *p, const struct tracees *t, struct objects *all)
{
	int ret = 0;

	vec_for_each (all, struct object, o) {
		if (!o->code.bytes || ret)
			continue;
		write_facts(&o->code, &p->injection);
		ret = write_arena(t, &o->code);
	}
	return ret;
}

/* ---- before the threads are stopped ---- */

struct patched_program patched_program_of(pid_t pid)
{
	struct patched_program program = { 0 };
	struct statx st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	/* the process is stopped: a file system that does not answer must not be asked */
	if (!statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &st))
		program = (struct patched_program){ st.stx_ino,
						    makedev(st.stx_dev_major, st.stx_dev_minor) };
	return program;
}

static struct patched initial_patched(pid_t pid, const struct patched_functions *functions,
				      const struct patched_how *how)
{
	const bool gives_up = how->gives_up && how->period <= 1;
	const struct blob_budget none = { 0 };

	return (struct patched){ .pid = pid,
				 .region = PATCHED_NONE,
				 .injection = { .ring_bytes = how->ring_bytes,
						.period = how->period,
						.gives_up = gives_up,
						.large_rings = inproc_large_rings(
							how->ring_memory_most, how->ring_bytes),
						.budget = gives_up ? how->budget : none,
						.n_functions = (uint32_t)functions->n,
						.region_fd = -1 } };
}

static int prepare_arenas(struct patched *p, struct objects *all,
			  struct patched_functions *functions, const bool *wanted, struct err *err)
{
	int ret;

	add_arenas(p, all, table_bytes(functions, wanted));
	ret = injection_place(&p->injection, p->pid, err);
	if (!ret)
		make_arenas(p, all, functions, wanted);
	return ret;
}

struct patched_prepared {
	struct objects objects;
	struct patched p; /* with arena addresses and the patches of all mapped objects */
};

struct patched_prepared *patched_prepare(pid_t pid, struct patched_functions *functions,
					 const struct patched_how *how)
{
	struct patched_prepared *d = xcalloc(1, sizeof(*d));
	bool *wanted = xcalloc(functions->n + 1, sizeof(*wanted));

	d->p = initial_patched(pid, functions, how);
	find_objects(&d->objects, pid, NULL, functions, wanted);
	if (prepare_arenas(&d->p, &d->objects, functions, wanted, NULL)) {
		patched_prepared_free(d);
		d = NULL;
	}
	free(wanted);
	return d;
}

void patched_prepared_free(struct patched_prepared *d)
{
	if (!d)
		return;
	release_objects(&d->objects);
	patched_release(&d->p);
	free(d);
}

/* Returns whether the process still has the mappings for which the arenas were prepared. */
static bool is_still_valid(const struct patched_prepared *d, const struct objects *now, pid_t pid)
{
	if (!d || d->p.pid != pid || d->objects.n != now->n)
		return false;
	for (size_t i = 0; i < now->n; i++) {
		const struct object *x = &d->objects.data[i], *y = &now->data[i];

		if (x->dso != y->dso || x->bias != y->bias || x->start != y->start ||
		    x->end != y->end)
			return false;
	}
	return injection_has_room(&d->p.injection, pid);
}

/* A function whose code in memory differs from its file has stubs then, but no jumps. */
static void use_prepared(struct patched *p, struct objects *all, struct patched_prepared *d,
			 const bool *wanted)
{
	p->injection.arenas.data = d->p.injection.arenas.data;
	p->injection.arenas.n = d->p.injection.arenas.n;
	p->injection.arenas.room = d->p.injection.arenas.room;
	memset(&d->p.injection.arenas, 0, sizeof(d->p.injection.arenas));
	p->patches.data = d->p.patches.data;
	p->patches.n = d->p.patches.n;
	p->patches.room = d->p.patches.room;
	memset(&d->p.patches, 0, sizeof(d->p.patches));
	for (size_t i = 0; i < all->n; i++) {
		all->data[i].code = d->objects.data[i].code;
		d->objects.data[i].code.bytes = NULL;
	}
	vec_for_each (&p->patches, struct patch, patch)
		if (!wanted[patch->function])
			patch->n = 0;
}

/* ---- threads in the way ---- */

static int by_address(const void *a, const void *b)
{
	const struct patch *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void patched_sort(struct patched *p)
{
	vec_sort(&p->patches, by_address);
}

/* Returns the number of patches below the address. The patches are sorted. */
static size_t patches_before(const struct patched *p, uint64_t at)
{
	return vec_search(i, 0, p->patches.n, p->patches.data[i].at < at);
}

/* Returns the patch that covers this address after its first byte, or NULL. */
static const struct patch *patch_at(const struct patched *p, uint64_t at)
{
	const size_t n = patches_before(p, at);
	const struct patch *before = n ? &p->patches.data[n - 1] : NULL;

	return before && at < before->at + before->n ? before : NULL;
}

/* Returns the island that begins at this address and has its jump, or NULL. */
static const struct patch *island_at(const struct patched *p, uint64_t at)
{
	const size_t n = patches_before(p, at);
	const struct patch *here = n < p->patches.n ? &p->patches.data[n] : NULL;

	return here && here->at == at && here->is_island && here->is_in ? here : NULL;
}

typedef const struct patch *(*patch_finder)(const struct patched *p, uint64_t at);

struct stack {
	uint64_t sp, end;
};

static bool find_stack_end(void *ctx, const struct mapping_line *line)
{
	struct stack *stack = ctx;

	if (stack->sp >= line->start && stack->sp < line->end)
		stack->end = line->end;
	return stack->end == stack->sp;
}

static uint64_t end_of_stack(pid_t pid, uint64_t sp)
{
	struct stack stack = { sp, sp };

	mappings_each(pid, find_stack_end, &stack);
	return stack.end - sp < STACK_MOST ? stack.end : sp + STACK_MOST;
}

/* A word on a stack may be an address to which the thread returns. A call never returns into
 * displaced bytes, but a signal handler may. */
static const struct patch *patch_on_stack(const struct patched *p, const struct tracees *t,
					  uint64_t sp, patch_finder find)
{
	uint64_t words[512], end = end_of_stack(t->pid, sp);
	const struct patch *found = NULL;

	for (uint64_t at = sp & ~7ull; !found && at < end; at += sizeof(words)) {
		size_t n = end - at < sizeof(words) ? (size_t)(end - at) & ~7ul : sizeof(words);

		if (tracees_read(t, at, words, n))
			break;
		for (size_t i = 0; !found && i < n / 8; i++)
			found = find(p, words[i]);
	}
	return found;
}

static const struct patch *patch_in_way(const struct patched *p, const struct tracees *t,
					const struct tracee *e, patch_finder find)
{
	const struct patch *found;
	uint64_t ip, sp;

	if (e->gone || tracee_position(e, &ip, &sp))
		return NULL;
	found = find(p, ip);
	return found ? found : patch_on_stack(p, t, sp, find);
}

static void skip_function(struct patched *p, struct patched_functions *functions, uint32_t function)
{
	functions->data[function].left = "a thread stands where a jump would be";
	for (size_t i = 0; i < p->patches.n; i++)
		if (p->patches.data[i].function == function)
			p->patches.data[i].n = 0;
}

/* A thread in the way is not run for a moment until it has left: it might start another thread. */
static void skip_occupied(struct patched *p, const struct tracees *t,
			  struct patched_functions *functions)
{
	const struct patch *patch;

	patched_sort(p);
	while ((patch = patch_at(p, p->injection.resume)))
		skip_function(p, functions, patch->function);
	vec_for_each (&t->threads, const struct tracee, e)
		while ((patch = patch_in_way(p, t, e, patch_at)))
			skip_function(p, functions, patch->function);
}

/* ---- patching ---- */

static int write_block(const struct injection *in, const struct tracees *t, uint64_t at,
		       uint64_t key, uint64_t i)
{
	const uint64_t slots = in->region + INPROC_PAGE;
	const uint64_t rings = slots + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES;
	uint64_t block[BLOCK_BYTES / 8] = { 0 };

	block[BLOCK_KEY / 8] = key;
	block[BLOCK_BASE / 8] = rings + i * in->ring_bytes;
	block[BLOCK_SLOT / 8] = slots + i * sizeof(struct inproc_slot);
	block[BLOCK_ROWS / 8] = in->rows + i * in->rows_bytes;
	block[BLOCK_RANDOM / 8] = block[BLOCK_ROWS / 8];
	return tracees_write(t, at, block, sizeof(block));
}

static int write_slot(const struct tracees *t, uint64_t at, pid_t tid)
{
	const uint32_t state = INPROC_LIVE, its = (uint32_t)tid, pid = (uint32_t)t->pid;
	int ret = tracees_write(t, at + offsetof(struct inproc_slot, tid), &its, sizeof(its));

	if (!ret)
		ret = tracees_write(t, at + offsetof(struct inproc_slot, pid), &pid, sizeof(pid));
	return ret ? ret
		   : tracees_write(t, at + offsetof(struct inproc_slot, state), &state,
				   sizeof(state));
}

/*
 * Existing threads get their slots here. So their first records need no system calls, which would
 * end a program that locks itself up (seccomp) in its first moments. Returns the address of the
 * thread's block, or of the block that threads without one share.
 */
static uint64_t assign_slot(const struct patched *p, const struct tracees *t,
			    const struct tracee *e, uint32_t *next)
{
	const struct injection *in = &p->injection;
	const uint64_t slots = in->region + INPROC_PAGE, key = tracee_key(t, e);
	const uint64_t slot = slots + *next * sizeof(struct inproc_slot);
	const uint64_t block = in->blocks + *next * in->block_bytes;

	if (!key || *next == INPROC_SLOTS || write_block(in, t, block, key, *next) ||
	    (in->table_bytes && threadrow_write(in, t, e, key, block)) ||
	    write_slot(t, slot, e->tid))
		return in->no_block;
	++*next;
	return block;
}

static int set_bases(const struct patched *p, const struct tracees *t, struct err *err)
{
	uint32_t next = 0;
	int ret = 0;

	vec_for_each (&t->threads, const struct tracee, e)
		if (!e->gone && !ret)
			ret = tracee_set_block(e, assign_slot(p, t, e, &next), p->injection.no_tls);
	return ret ? err_set(err, ret, "process %d has ended; record it while it runs", t->pid) : 0;
}

/* A short jump leads to an island, whose jump is written before it and removed after it. */
static bool is_short(const struct patch *patch)
{
	return patch->n_jump == PATCH_SHORT_BYTES;
}

/* No jump crosses the end of a page. */
static bool is_of_page(const struct patched *p, size_t i, uint64_t page)
{
	return i < p->patches.n && (p->patches.data[i].at & ~(PAGE - 1)) == page;
}

/* Writes the jumps of the page on which patch `first` lies, from that patch on. The bytes in
 * between are written again unchanged. */
static int write_page_jumps(struct patched *p, struct pages *code, size_t first, bool shorts)
{
	const uint64_t page = p->patches.data[first].at & ~(PAGE - 1);
	uint8_t *bytes = pages_at(code, page, PAGE);
	uint64_t start = PAGE, end = 0;

	for (size_t i = first; bytes && is_of_page(p, i, page); i++) {
		struct patch *patch = &p->patches.data[i];
		const uint64_t at = patch->at - page;

		if (!patch->n || is_short(patch) != shorts)
			continue;
		memcpy(bytes + at, patch->jump, patch->n_jump);
		start = at < start ? at : start;
		end = at + patch->n_jump > end ? at + patch->n_jump : end;
		patch->is_in = true; /* a write that fails may have written some jumps */
	}
	if (!bytes)
		return -EFAULT;
	return start < end ? tracees_write(code->t, page + start, bytes + start, end - start) : 0;
}

static int write_jumps(struct patched *p, struct pages *code, bool shorts)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < p->patches.n;) {
		const uint64_t page = p->patches.data[i].at & ~(PAGE - 1);

		ret = write_page_jumps(p, code, i, shorts);
		while (is_of_page(p, i, page))
			i++;
	}
	return ret;
}

static int write_patches(struct patched *p, struct pages *code, struct patched_functions *functions,
			 struct err *err)
{
	int ret = write_jumps(p, code, false);

	if (!ret)
		ret = write_jumps(p, code, true);
	for (size_t i = 0; !ret && i < p->patches.n; i++)
		if (p->patches.data[i].is_in)
			functions->data[p->patches.data[i].function].is_in = true;
	return ret ? err_set(err, ret,
			     "the code of process %d cannot be written: %s; record it with --engine kernel",
			     p->pid, strerror(-ret))
		   : 0;
}

static int refuse_gs(const struct tracees *t, struct err *err)
{
	vec_for_each (&t->threads, const struct tracee, e)
		if (!e->gone && !tracee_has_free_block(t, e))
			return err_set(err, -ENOTSUP,
				       "process %d uses the register %%gs, which the stubs need; "
				       "record it with --engine kernel",
				       t->pid);
	return 0;
}

/* Returns -ENOENT if none of the functions' files is mapped, else -ENOTSUP. */
static int refuse_all(const struct tracees *t, struct objects *all,
		      const struct patched_functions *functions, struct err *err)
{
	const char *left = "none is chosen";
	bool is_mapped = false;

	vec_for_each (functions, const struct patched_function, f) {
		if (!f->sites.n || is_mapped)
			continue;
		is_mapped = object_of(all, f->dso) != NULL;
		left = f->left ? f->left : left;
	}
	return err_set(err, is_mapped ? -ENOTSUP : -ENOENT,
		       "no function of process %d can be patched: %s; name others with -F", t->pid,
		       left);
}

static bool has_code(const struct objects *all)
{
	vec_for_each (all, const struct object, o)
		if (o->bytes)
			return true;
	return false;
}

static int patch_process(struct patched *p, struct tracees *t, struct pages *code,
			 struct objects *all, struct patched_functions *functions,
			 const bool *wanted, struct patched_prepared *d,
			 int (*region)(void *ctx, int fd, struct err *err), void *ctx,
			 struct err *err)
{
	struct stat st;
	int ret = 0;

	if (!has_code(all))
		return refuse_all(t, all, functions, err);
	p->was_prepared = is_still_valid(d, all, t->pid);
	if (p->was_prepared)
		use_prepared(p, all, d, wanted);
	else
		ret = prepare_arenas(p, all, functions, wanted, err);
	if (!ret)
		ret = injection_make(&p->injection, t, err);
	if (ret)
		return ret;
	if (!fstat(p->injection.region_fd, &st))
		p->region_inode = st.st_ino;
	p->injection.tid_below = p->injection.table_bytes ? threadrow_tid_below(t) : 0;
	ret = region(ctx, p->injection.region_fd, err);
	if (!ret && write_arenas(p, t, all))
		ret = err_set(err, -EIO,
			      "process %d cannot be written to; record it with --engine kernel",
			      t->pid);
	if (!ret)
		ret = set_bases(p, t, err);
	if (ret)
		return ret;
	skip_occupied(p, t, functions);
	ret = write_patches(p, code, functions, err);
	if (ret)
		patched_restore_stopped(p, t);
	return ret;
}

int patched_begin(struct patched *p, struct tracees *t, struct patched_functions *functions,
		  const struct patched_how *how, struct patched_prepared *d,
		  int (*region)(void *ctx, int fd, struct err *err), void *ctx, struct err *err)
{
	bool *wanted = xcalloc(functions->n + 1, sizeof(*wanted));
	struct pages code = { .t = t };
	struct objects all = { 0 };
	uint64_t since_ns = clock_now_ns();
	int ret;

	*p = initial_patched(t->pid, functions, how);
	ret = refuse_gs(t, err);
	if (!ret) {
		find_objects(&all, t->pid, &code, functions, wanted);
		ret = patch_process(p, t, &code, &all, functions, wanted, d, region, ctx, err);
	}
	if (!ret)
		tracees_detach(t);
	p->stopped_ns = clock_now_ns() - since_ns;
	release_objects(&all);
	vec_release(&code.bytes);
	map_release(&code.index);
	free(wanted);
	return ret;
}

void patched_release(struct patched *p)
{
	injection_release(&p->injection);
	vec_release(&p->patches);
}

/* ---- removing patches ---- */

/*
 * Another tool's breakpoint may be on a jump's first byte. Then only the bytes after it are
 * restored, as the tool writes the file's byte there when it removes the breakpoint. The tool may
 * have done so already. Returns false if the bytes are neither the jump's nor the file's.
 */
static bool restore_patch(const struct patch *patch, const struct tracees *t)
{
	const size_t n = patch->n_jump;
	uint8_t now[PATCH_JUMP_BYTES];
	size_t others; /* bytes of another tool's breakpoint */

	if (tracees_read(t, patch->at, now, n))
		return true; /* the code is not mapped any more */
	if (!memcmp(now, patch->original, n))
		return true;
	others = stub_breakpoint_bytes(now);
	if (others >= n)
		return false;
	if ((!others && *now != *patch->jump && *now != *patch->original) ||
	    memcmp(now + 1, patch->jump + 1, n - 1) != 0)
		return others && !memcmp(now + 1, patch->original + 1, n - 1);
	return !tracees_write(t, patch->at + others, patch->original + others, n - others);
}

/* Returns whether a thread is between the two jumps, or a signal handler may return there. The
 * islands keep their jumps then, which no other thread reaches. */
static bool are_islands_in_use(const struct patched *p, const struct tracees *t)
{
	vec_for_each (&t->threads, const struct tracee, e)
		if (patch_in_way(p, t, e, island_at))
			return true;
	return false;
}

static bool has_islands(const struct patched *p)
{
	vec_for_each (&p->patches, const struct patch, patch)
		if (patch->is_island && patch->is_in)
			return true;
	return false;
}

uint64_t patched_restore_stopped(const struct patched *p, const struct tracees *t)
{
	const bool keep_islands = has_islands(p) && are_islands_in_use(p, t);
	uint64_t changed = 0;

	vec_for_each (&p->patches, const struct patch, patch)
		if (patch->is_in && is_short(patch))
			changed += !restore_patch(patch, t);
	vec_for_each (&p->patches, const struct patch, patch)
		if (patch->is_in && !is_short(patch) && !(patch->is_island && keep_islands))
			changed += !restore_patch(patch, t);
	return changed;
}

void patched_clear_mark(const struct tracees *t, uint64_t arena)
{
	static const uint64_t nobody;

	tracees_write(t, arena + offsetof(struct patched_mark, recorder), &nobody, sizeof(nobody));
}

static void clear_marks(const struct patched *p, const struct tracees *t)
{
	vec_for_each (&p->injection.arenas, const struct stub_arena, a)
		if (a->at)
			patched_clear_mark(t, a->at);
}

/* ---- another tool's breakpoints ---- */

/* x86-64: as long as a byte. On aarch64 a breakpoint replaces a jump as a whole, and is left. */
#define BREAKPOINT 0xcc

struct code_page {
	int memory;
	uint64_t page; /* the page of the bytes; 1: none */
	uint8_t bytes[PAGE];
};

static uint8_t byte_at(struct code_page *l, uint64_t at)
{
	const uint64_t page = at & ~(PAGE - 1);

	if (l->page != page && pread(l->memory, l->bytes, PAGE, (off_t)page) != PAGE)
		memset(l->bytes, 0, PAGE);
	l->page = page;
	return l->bytes[at - page];
}

/* No thread runs the bytes after a breakpoint, so they are changed while the threads run. */
static bool restore_tail(const struct patch *patch, int memory)
{
	const size_t rest = patch->n_jump - 1u;
	uint8_t now[PATCH_JUMP_BYTES];

	return pread(memory, now, patch->n_jump, (off_t)patch->at) == patch->n_jump &&
	       stub_breakpoint_bytes(now) == 1 && !memcmp(now + 1, patch->jump + 1, rest) &&
	       pwrite(memory, patch->original + 1, rest, (off_t)(patch->at + 1)) == (ssize_t)rest;
}

uint32_t patched_yield_to_breakpoints(const struct patched *p)
{
	struct code_page l = { .page = 1 };
	uint32_t function = PATCHED_NONE;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", p->pid);
	l.memory = open(path, O_RDWR | O_CLOEXEC);
	if (l.memory < 0)
		return PATCHED_NONE;
	vec_for_each (&p->patches, const struct patch, patch)
		if (patch->is_in && *patch->jump != BREAKPOINT &&
		    byte_at(&l, patch->at) == BREAKPOINT && restore_tail(patch, l.memory))
			function = patch->function;
	close(l.memory);
	return function;
}

struct region_search {
	ino_t inode;
	bool is_mapped;
};

static bool find_region(void *ctx, const struct mapping_line *line)
{
	struct region_search *search = ctx;

	search->is_mapped = line->inode == search->inode && strstr(line->name, "/memfd:ispot");
	return !search->is_mapped;
}

static bool find_any_region(void *ctx, const struct mapping_line *line)
{
	uint64_t *inode = ctx;

	if (!strncmp(line->name, "/memfd:ispot", 12))
		*inode = line->inode;
	return !*inode;
}

uint64_t patched_region_in(pid_t pid)
{
	uint64_t inode = 0;

	mappings_each(pid, find_any_region, &inode);
	return inode;
}

bool patched_shares(const struct patched *p, pid_t pid)
{
	struct region_search search = { .inode = p->region_inode };

	if (p->region_inode)
		mappings_each(pid, find_region, &search);
	return search.is_mapped;
}

bool patched_restore(const struct patched *p, pid_t pid)
{
	struct tracees t;
	uint64_t changed;

	if (!patched_shares(p, pid))
		return true;
	if (tracees_stop(&t, pid, NULL))
		return !target_alive(pid);
	changed = patched_restore_stopped(p, &t);
	if (!changed)
		clear_marks(p, &t);
	tracees_detach(&t);
	if (changed)
		log_notice("%" PRIu64 " places in the code of process %d have been changed by "
			   "another tool since they were patched, and are left as they are; end "
			   "that tool, and restart the process",
			   changed, pid);
	return true;
}
