// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/patched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "probes/inject/blob.h"
#include "probes/inject/stub.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/inproc.h"
#include "probes/process/target.h"
#include "symbol/dso/dso.h"
#include "symbol/maps.h"

#define SITE_CODE_MOST (STUB_BYTES_MOST + SITE_BYTES_MOST + 16u)
#define STACK_MOST     (1u << 20)

/* ---- where the functions are ---- */

/* An object of the process that has functions to patch. */
struct object {
	struct dso *dso;
	uint64_t bias, start, end; /* of its code */
	size_t bytes;		   /* of stubs */
	struct stub_code code;
};

struct objects {
	VEC(struct object)
};

static void find_object(struct objects *all, const struct mappings *maps, struct dso *dso)
{
	vec_for_each (all, const struct object, o)
		if (o->dso == dso)
			return;
	vec_for_each (maps, const struct mapping, m) {
		uint64_t bias = m->inode == dso_inode(dso) && m->device == dso_device(dso)
					? dso_load_bias(dso, m->start, m->file_offset)
					: UINT64_MAX;

		if (bias != UINT64_MAX) {
			*vec_add(all) = (struct object){
				.dso = dso, .bias = bias, .start = m->start, .end = m->end
			};
			return;
		}
	}
}

static struct object *object_of(struct objects *all, const struct dso *dso)
{
	vec_for_each (all, struct object, o)
		if (o->dso == dso)
			return o;
	return NULL;
}

/* Somebody else may have changed it: a debugger's breakpoint, another recorder's probe. */
static bool is_as_in_file(const struct tracees *t, const struct object *o,
			  const struct inject_site *s)
{
	uint8_t now[SITE_BYTES_MOST];

	return s->address + o->bias >= o->start && s->address + o->bias + s->n <= o->end &&
	       !tracees_read(t, s->address + o->bias, now, s->n) && !memcmp(now, s->original, s->n);
}

static const char *look_at(const struct tracees *t, struct objects *all,
			   const struct patched_function *f)
{
	struct object *o = object_of(all, f->dso);

	if (!o)
		return "its file is not mapped";
	vec_for_each (&f->sites, const struct inject_site, s)
		if (!is_as_in_file(t, o, s))
			return "its code in memory is not that of its file, as a debugger or another "
			       "tracer has changed it";
	o->bytes += f->sites.n * SITE_CODE_MOST;
	return NULL;
}

static void find_objects(const struct tracees *t, struct objects *all,
			 struct patched_functions *functions, bool *wanted)
{
	struct mappings maps = { 0 };

	if (mappings_read(&maps, t->pid, NULL))
		maps.n = 0;
	for (size_t i = 0; i < functions->n; i++) {
		struct patched_function *f = &functions->data[i];
		const char *why;

		find_object(all, &maps, f->dso);
		why = look_at(t, all, f);
		wanted[i] = !why;
		if (why)
			f->left = why;
	}
	mappings_release(&maps);
}

/* ---- stubs ---- */

static size_t table_bytes(const struct patched_functions *functions, const bool *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++)
		n += wanted[i] ? functions->data[i].sites.n : 0;
	return n * sizeof(struct arena_patch);
}

/* Objects without stubs have no arena. */
static void wish(struct patched *p, struct objects *all, size_t table)
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
	const struct blob_facts f = { .region = in->region,
				      .blocks = in->blocks,
				      .ring_bytes = in->ring_bytes };

	*c = (struct stub_code){
		.bytes = xcalloc(1, a->bytes), .address = a->at, .n = ARENA_HEADER, .room = a->bytes
	};
	facts->claim = a->at + c->n + blob.claim;
	facts->full = a->at + c->n + blob.full;
	facts->ring_bytes = (uint32_t)in->ring_bytes;
	stub_put(c, blob.code, blob.bytes);
	memcpy(c->bytes + ARENA_HEADER, &f, sizeof(f));
	c->n = (c->n + 15) & ~15ull;
}

static void put_site(struct stub_code *c, const struct stub_facts *facts,
		     const struct inject_site *s, uint32_t id, uint64_t bias)
{
	if (!s->is_exit) {
		stub_entry(c, facts, id, s->sp);
		stub_put(c, s->original, s->n);
		stub_jump(c, s->address + s->n + bias);
		return;
	}
	stub_put(c, s->original, s->before);
	stub_exit(c, facts, id, 0);
	if (s->returns)
		stub_put(c, (const uint8_t[]){ 0xc3 }, 1);
	else
		stub_jump(c, s->goal + bias);
}

static void add_patch(struct patched *p, const struct inject_site *s, uint64_t bias, uint64_t stub,
		      uint32_t function)
{
	struct patch *patch = vec_add(&p->patches);
	struct stub_code jump = { .bytes = patch->jump,
				  .address = s->address + bias,
				  .room = sizeof(patch->jump) };

	patch->at = jump.address;
	patch->n = s->n;
	patch->function = function;
	memcpy(patch->original, s->original, s->n);
	stub_jump(&jump, stub);
}

static void make_stubs(struct patched *p, struct object *o, const struct stub_facts *facts,
		       const struct patched_functions *functions, const bool *wanted)
{
	for (size_t i = 0; i < functions->n; i++) {
		const struct patched_function *f = &functions->data[i];

		if (!wanted[i] || f->dso != o->dso)
			continue;
		vec_for_each (&f->sites, const struct inject_site, s) {
			add_patch(p, s, o->bias, o->code.address + o->code.n, (uint32_t)i);
			put_site(&o->code, facts, s, (uint32_t)i, o->bias);
		}
	}
}

/* So that a later recorder can take out what this one has put in. */
static void put_table(struct patched *p, struct stub_code *c, size_t first)
{
	struct arena_header h = { .magic = ARENA_MAGIC,
				  .n_bytes = (uint32_t)c->room,
				  .recorder = (uint64_t)getpid() };

	c->n = (c->n + 15) & ~15ull;
	h.table_at = c->n;
	for (size_t i = first; i < p->patches.n; i++) {
		const struct patch *patch = &p->patches.data[i];
		struct arena_patch row = { .at = patch->at, .n = patch->n };

		memcpy(row.original, patch->original, patch->n);
		stub_put(c, &row, sizeof(row));
		h.n_patches++;
	}
	memcpy(c->bytes, &h, sizeof(h));
}

/* The start of the first arena has the jump to the code that runs now. */
static int write_arena(const struct tracees *t, const struct stub_code *c)
{
	const size_t jump = sizeof(((struct arena_header *)NULL)->jump);

	return tracees_write(t, c->address + jump, c->bytes + jump, c->n - jump);
}

static int write_arenas(struct patched *p, const struct tracees *t, struct objects *all,
			const struct patched_functions *functions, const bool *wanted)
{
	size_t next = 0;
	int ret = 0;

	vec_for_each (all, struct object, o) {
		struct stub_facts facts;
		size_t first = p->patches.n;

		if (!o->bytes || ret)
			continue;
		begin_arena(&o->code, &p->injection, &p->injection.arenas.data[next++], &facts);
		make_stubs(p, o, &facts, functions, wanted);
		put_table(p, &o->code, first);
		ret = write_arena(t, &o->code);
		free(o->code.bytes);
	}
	return ret;
}

/* ---- threads in the way ---- */

static int by_address(const void *a, const void *b)
{
	const struct patch *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Whose bytes, but for the first, lie there; NULL: nobody's. Patches are sorted. */
static const struct patch *patch_at(const struct patched *p, uint64_t at)
{
	size_t low = 0, high = p->patches.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->patches.data[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	return at < p->patches.data[low - 1].at + p->patches.data[low - 1].n
		       ? &p->patches.data[low - 1]
		       : NULL;
}

static uint64_t end_of_stack(pid_t pid, uint64_t sp)
{
	char path[64], line[4500];
	uint64_t start, end, found = sp;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && found == sp && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && sp >= start &&
		    sp < end)
			found = end;
	if (f)
		fclose(f);
	return found - sp < STACK_MOST ? found : sp + STACK_MOST;
}

/* An address on a stack is where somebody goes back to: from a call never into moved bytes, from a
 * signal handler perhaps. */
static const struct patch *patch_on_stack(const struct patched *p, const struct tracees *t,
					  uint64_t sp)
{
	uint64_t words[512], end = end_of_stack(t->pid, sp);
	const struct patch *found = NULL;

	for (uint64_t at = sp & ~7ull; !found && at < end; at += sizeof(words)) {
		size_t n = end - at < sizeof(words) ? (size_t)(end - at) & ~7ul : sizeof(words);

		if (tracees_read(t, at, words, n))
			break;
		for (size_t i = 0; !found && i < n / 8; i++)
			found = patch_at(p, words[i]);
	}
	return found;
}

static const struct patch *patch_in_way(const struct patched *p, const struct tracees *t,
					const struct tracee *e)
{
	const struct patch *found;
	uint64_t ip, sp;

	if (e->gone || tracee_where(e, &ip, &sp))
		return NULL;
	found = patch_at(p, ip);
	return found ? found : patch_on_stack(p, t, sp);
}

static void leave(struct patched *p, struct patched_functions *functions, uint32_t function)
{
	functions->data[function].left = "a thread stands where a jump would be";
	for (size_t i = 0; i < p->patches.n; i++)
		if (p->patches.data[i].function == function)
			p->patches.data[i].n = 0;
}

/* No thread is let go on for a moment to get out of the way: it might start another one. */
static void clear_way(struct patched *p, const struct tracees *t,
		      struct patched_functions *functions)
{
	const struct patch *patch;

	vec_sort(&p->patches, by_address);
	while ((patch = patch_at(p, p->injection.resume)))
		leave(p, functions, patch->function);
	vec_for_each (&t->threads, const struct tracee, e)
		while ((patch = patch_in_way(p, t, e)))
			leave(p, functions, patch->function);
}

/* ---- patching ---- */

static int set_bases(const struct patched *p, const struct tracees *t, struct err *err)
{
	int ret = 0;

	vec_for_each (&t->threads, const struct tracee, e)
		if (!e->gone && !ret)
			ret = tracee_set_bases(e, p->injection.no_block, p->injection.no_tls);
	return ret ? err_set(err, ret, "process %d has ended; record it while it runs", t->pid) : 0;
}

static int put_patches(struct patched *p, const struct tracees *t,
		       struct patched_functions *functions, struct err *err)
{
	vec_for_each (&p->patches, struct patch, patch) {
		int ret = patch->n ? tracees_write(t, patch->at, patch->jump, SITE_JUMP_BYTES) : 0;

		if (ret)
			return err_set(
				err, ret,
				"the code of process %d cannot be written: %s; record it with --engine kernel",
				t->pid, strerror(-ret));
		patch->is_in = patch->n;
		functions->data[patch->function].is_in |= patch->is_in;
	}
	return 0;
}

static int refuse_gs(const struct tracees *t, struct err *err)
{
	vec_for_each (&t->threads, const struct tracee, e)
		if (!e->gone && !tracee_has_free_gs(t, e))
			return err_set(err, -ENOTSUP,
				       "process %d uses the register %%gs, which the stubs need; "
				       "record it with --engine kernel",
				       t->pid);
	return 0;
}

static int patch(struct patched *p, struct tracees *t, struct objects *all,
		 struct patched_functions *functions, const bool *wanted,
		 int (*region)(void *ctx, int fd, struct err *err), void *ctx, struct err *err)
{
	struct stat st;
	int ret;

	wish(p, all, table_bytes(functions, wanted));
	if (!p->injection.arenas.n)
		return err_set(err, -ENOTSUP,
			       "no function of process %d can be patched: %s; name others with -F",
			       t->pid,
			       functions->n && functions->data[0].left ? functions->data[0].left
								       : "none is chosen");
	ret = injection_make(&p->injection, t, err);
	if (ret)
		return ret;
	if (!fstat(p->injection.region_fd, &st))
		p->region_inode = st.st_ino;
	ret = region(ctx, p->injection.region_fd, err);
	if (!ret && write_arenas(p, t, all, functions, wanted))
		ret = err_set(err, -EIO,
			      "process %d cannot be written to; record it with --engine kernel",
			      t->pid);
	if (!ret)
		ret = set_bases(p, t, err);
	if (ret)
		return ret;
	clear_way(p, t, functions);
	ret = put_patches(p, t, functions, err);
	if (ret)
		patched_put_back(p, t);
	return ret;
}

int patched_begin(struct patched *p, struct tracees *t, struct patched_functions *functions,
		  uint64_t ring_bytes, int (*region)(void *ctx, int fd, struct err *err), void *ctx,
		  struct err *err)
{
	bool *wanted = xcalloc(functions->n + 1, sizeof(*wanted));
	struct objects all = { 0 };
	uint64_t since_ns = clock_now_ns();
	int ret;

	*p = (struct patched){ .pid = t->pid,
			       .injection = { .ring_bytes = ring_bytes, .region_fd = -1 } };
	ret = refuse_gs(t, err);
	if (!ret) {
		find_objects(t, &all, functions, wanted);
		ret = patch(p, t, &all, functions, wanted, region, ctx, err);
	}
	tracees_let_go(t);
	p->stopped_ns = clock_now_ns() - since_ns;
	vec_release(&all);
	free(wanted);
	return ret;
}

void patched_release(struct patched *p)
{
	injection_release(&p->injection);
	vec_release(&p->patches);
}

/* ---- taking out ---- */

void patched_put_back(const struct patched *p, const struct tracees *t)
{
	vec_for_each (&p->patches, const struct patch, patch) {
		uint8_t now[SITE_JUMP_BYTES];

		if (patch->is_in && !tracees_read(t, patch->at, now, sizeof(now)) &&
		    !memcmp(now, patch->jump, sizeof(now)))
			tracees_write(t, patch->at, patch->original, SITE_JUMP_BYTES);
	}
}

/* Of the kind "start-end perms offset device inode path". */
static bool maps_inode(pid_t pid, uint64_t inode)
{
	char path[64], line[4500];
	unsigned long long here;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "/memfd:ispot") &&
			sscanf(line, "%*s %*s %*s %*s %llu", &here) == 1 && here == inode;
	if (f)
		fclose(f);
	return found;
}

bool patched_shares(const struct patched *p, pid_t pid)
{
	return p->region_inode && maps_inode(pid, p->region_inode);
}

bool patched_restore(const struct patched *p, pid_t pid)
{
	struct tracees t;

	if (!patched_shares(p, pid))
		return true;
	if (tracees_stop(&t, pid, NULL))
		return !target_alive(pid);
	patched_put_back(p, &t);
	tracees_let_go(&t);
	return true;
}

/* ---- what a killed recorder has left ---- */

static bool is_ispot(uint64_t pid)
{
	char comm[32];

	return pid && pid <= INT32_MAX &&
	       !target_comm((pid_t)pid, (pid_t)pid, comm, sizeof(comm)) && !strcmp(comm, "ispot");
}

/* Only what is a jump into that arena now, and was in a file what the arena says it was. */
static bool is_patch_of(const struct tracees *t, const struct stub_arena *a,
			const struct arena_patch *row)
{
	uint8_t now[SITE_JUMP_BYTES];
	int32_t distance;
	uint64_t goal;

	if (row->n < SITE_JUMP_BYTES || row->n > sizeof(row->original) ||
	    tracees_read(t, row->at, now, sizeof(now)) || *now != 0xe9)
		return false;
	memcpy(&distance, now + 1, sizeof(distance));
	goal = row->at + SITE_JUMP_BYTES + (uint64_t)(int64_t)distance;
	return goal >= a->at && goal < a->at + a->bytes;
}

static bool is_of_file(pid_t pid, const struct mappings *maps, const struct arena_patch *row)
{
	const struct mapping *m = mappings_find(maps, row->at);
	uint8_t bytes[sizeof(row->original)];
	char path[4200];
	bool same;
	int fd;

	if (!m || mapping_path(m, pid, path, sizeof(path), NULL))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	same = fd >= 0 &&
	       pread(fd, bytes, row->n, (off_t)(row->at - m->start + m->file_offset)) == row->n &&
	       !memcmp(bytes, row->original, row->n);
	if (fd >= 0)
		close(fd);
	return same;
}

static int sweep_arena(struct tracees *t, const struct mappings *maps, const struct stub_arena *a,
		       uint64_t *n, struct err *err)
{
	struct arena_header h;
	struct blob_facts facts;

	if (tracees_read(t, a->at, &h, sizeof(h)) || h.magic != ARENA_MAGIC)
		return 0;
	if (is_ispot(h.recorder) && h.recorder != (uint64_t)getpid())
		return err_set(
			err, -EBUSY,
			"process %d is recorded by ispot already, process %d; end that recording first",
			t->pid, (int)h.recorder);
	if (!tracees_read(t, a->at + ARENA_HEADER, &facts, sizeof(facts)))
		*vec_add(&t->blocks) =
			(struct tracee_blocks){ facts.blocks,
						facts.blocks + (INPROC_SLOTS + 1) * BLOCK_BYTES };
	for (uint32_t i = 0;
	     i < h.n_patches && h.table_at < a->bytes && i < a->bytes / sizeof(struct arena_patch);
	     i++) {
		struct arena_patch row;

		if (!tracees_read(t, a->at + h.table_at + i * sizeof(row), &row, sizeof(row)) &&
		    is_patch_of(t, a, &row) && is_of_file(t->pid, maps, &row) &&
		    !tracees_write(t, row.at, row.original, SITE_JUMP_BYTES))
			++*n;
	}
	return 0;
}

/* An arena is code of no file. */
int patched_sweep(struct tracees *t, uint64_t *n, struct err *err)
{
	struct mappings maps = { 0 };
	char path[64], line[4500];
	int ret = 0;
	FILE *f;

	*n = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	f = fopen(path, "re");
	if (mappings_read(&maps, t->pid, NULL))
		maps.n = 0;
	while (f && !ret && fgets(line, sizeof(line), f)) {
		unsigned long long inode;
		struct stub_arena a = { 0 };
		uint64_t end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %*s %*s %llu", &a.at, &end,
			   &inode) != 3 ||
		    inode)
			continue;
		a.bytes = end - a.at;
		ret = sweep_arena(t, &maps, &a, n, err);
	}
	if (f)
		fclose(f);
	mappings_release(&maps);
	return ret;
}
