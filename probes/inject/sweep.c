// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/injection.h"
#include "probes/inject/patched.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/inproc.h"
#include "probes/process/target.h"
#include "symbol/maps.h"

#define ROWS_MOST (1u << 20)	/* rows of an arena that are read, at most */
#define SWEEP_NS  2000000000ull /* longest time for an arena while the threads are stopped */

static bool is_alive(const struct patched_mark *m)
{
	const pid_t pid = (pid_t)m->recorder;

	return m->recorder && m->recorder <= INT32_MAX && pid != getpid() &&
	       target_start_ticks(pid) == m->recorder_start && target_alive(pid);
}

/* Returns the target of the jump at this address, or 0 if there is none. jump: its bytes. */
static uint64_t read_jump(const struct tracees *t, uint64_t at, uint8_t *jump, size_t n)
{
	return tracees_read(t, at, jump, n) ? 0 : stub_jump_goal(at, jump, n);
}

/* Returns whether the row's jump leads into this arena now. jump: its bytes. */
static bool is_patch_of(const struct tracees *t, const struct stub_arena *a,
			const struct arena_patch *row, uint8_t *jump)
{
	uint8_t island[PATCH_JUMP_BYTES];
	uint64_t goal;

	if (row->n > PATCH_JUMP_BYTES || row->n < PATCH_SHORT_BYTES)
		return false;
	goal = read_jump(t, row->at, jump, row->n);
	if (goal && row->n == PATCH_SHORT_BYTES)
		goal = read_jump(t, goal, island, sizeof(island));
	return goal >= a->at && goal < a->at + a->bytes;
}

/* The mapped file that was opened last. */
struct swept_file {
	const struct mapping *mapping;
	int fd;
};

static void open_file(struct swept_file *f, pid_t pid, const struct mapping *m)
{
	if (f->mapping == m)
		return;
	if (f->fd >= 0)
		close(f->fd);
	f->mapping = m;
	f->fd = mapping_open(m, pid);
}

static bool is_of_file(struct swept_file *f, pid_t pid, const struct mappings *maps,
		       const struct arena_patch *row)
{
	const struct mapping *m = mappings_find(maps, row->at);
	uint8_t bytes[PATCH_JUMP_BYTES];

	if (!m)
		return false;
	open_file(f, pid, m);
	return f->fd >= 0 &&
	       pread(f->fd, bytes, row->n, (off_t)(row->at - m->start + m->file_offset)) ==
		       row->n &&
	       !memcmp(bytes, row->original, row->n);
}

static void find_patches(struct patched *p, const struct tracees *t, const struct mappings *maps,
			 const struct stub_arena *a, const struct arena_header *h)
{
	const uint64_t since_ns = clock_now_ns();
	struct swept_file file = { .fd = -1 };

	for (uint32_t i = 0; i < h->n_patches && i < ROWS_MOST && h->table_at < a->bytes &&
			     clock_now_ns() - since_ns < SWEEP_NS;
	     i++) {
		struct patch found = { .is_in = true };
		struct arena_patch row;

		if (tracees_read(t, a->at + h->table_at + i * sizeof(row), &row, sizeof(row)))
			break;
		if (!is_patch_of(t, a, &row, found.jump) || !is_of_file(&file, t->pid, maps, &row))
			continue;
		found.at = row.at;
		found.n = found.n_jump = row.n;
		found.is_island = row.is_island;
		memcpy(found.original, row.original, row.n);
		*vec_add(&p->patches) = found;
	}
	if (file.fd >= 0)
		close(file.fd);
}

static void sweep_patches(struct tracees *t, const struct mappings *maps,
			  const struct stub_arena *a, const struct arena_header *h, uint64_t *n)
{
	struct patched p = { .pid = t->pid };
	uint64_t changed;

	find_patches(&p, t, maps, a, h);
	patched_sort(&p);
	changed = patched_restore_stopped(&p, t);
	*n += p.patches.n - changed;
	if (!changed)
		patched_clear_mark(t, a->at);
	vec_release(&p.patches);
}

static int sweep_arena(struct tracees *t, const struct mappings *maps, const struct stub_arena *a,
		       uint64_t *n, struct err *err)
{
	struct arena_header h;
	struct blob_facts facts;

	if (tracees_read(t, a->at, &h, sizeof(h)) || h.mark.magic != MARK_MAGIC)
		return 0;
	if (is_alive(&h.mark))
		return err_set(
			err, -EBUSY,
			"process %d is recorded by ispot already, process %d; end that recording first",
			t->pid, (int)h.mark.recorder);
	if (!tracees_read(t, a->at + ARENA_HEADER, &facts, sizeof(facts)))
		*vec_add(&t->blocks) = (struct tracee_blocks){
			facts.blocks, facts.blocks + (INPROC_SLOTS + 1) * facts.block_bytes
		};
	if (h.mark.recorder)
		sweep_patches(t, maps, a, &h, n);
	return 0;
}

struct sweeping {
	struct tracees *t;
	struct mappings maps;
	uint64_t *n;
	struct err *err;
	int ret;
};

/* An arena is an executable mapping without a file. */
static bool sweep_mapping(void *ctx, const struct mapping_line *line)
{
	struct sweeping *s = ctx;
	const struct stub_arena a = { .at = line->start, .bytes = line->end - line->start };

	if (!line->inode && !strcmp(line->permissions, "r-xp"))
		s->ret = sweep_arena(s->t, &s->maps, &a, s->n, s->err);
	return !s->ret;
}

int sweep(struct tracees *t, uint64_t *n, struct err *err)
{
	struct sweeping s = { .t = t, .n = n, .err = err };

	*n = 0;
	if (mappings_read(&s.maps, t->pid, NULL))
		s.maps.n = 0;
	mappings_each(t->pid, sweep_mapping, &s);
	mappings_release(&s.maps);
	return s.ret;
}
