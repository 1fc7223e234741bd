// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/names.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/lock.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

#define LEFT_NAMED   20 /* methods named in the file for each reason why they were left alone */
#define NAME_STRINGS 3
#define NOTICES_MAX  10 /* of a region; an agent has fewer different ones */

/* Returns the file's id of a place, and writes the place if it is new. */
static uint32_t add_place(struct inproc_drain *d, const struct inproc_region *g, const char *symbol,
			  const char *file, uint32_t line)
{
	char *key = xasprintf("%s %s %u %s", symbol, file, line, g->header.vm);
	uint32_t known = d->frames.n, id = strtab_add(&d->frames, key);
	const struct meta_frame f = { .id = id,
				      .symbol = symbol,
				      .object = g->header.vm,
				      .file = file,
				      .calls = "",
				      .line = line };
	struct text words = { 0 };

	free(key);
	if (id != known)
		return id;
	meta_print_frame(&f, &words);
	inproc_write_line(d->writer, &words);
	return id;
}

/* Adds the place where a section takes its lock. Its symbol is that of the function, without what
 * distinguishes the function's blocks. */
static void add_section_place(struct inproc_drain *d, const struct inproc_region *g,
			      const struct inproc_name *n, const char *const strings[NAME_STRINGS])
{
	const char *behind = strrchr(strings[0], ')');
	char *symbol = behind ? xstrndup(strings[0], (size_t)(behind + 1 - strings[0]))
			      : xstrdup(strings[0]);

	add_place(d, g, symbol, strings[2], n->line);
	free(symbol);
}

static void write_function(struct inproc_drain *d, const struct inproc_region *g, uint32_t id,
			   const struct inproc_name *n, const char *const strings[NAME_STRINGS])
{
	struct text line = { 0 };
	struct meta_function f = { .id = id,
				   .object = g->object,
				   .name = strings[0],
				   .symbol = strings[0],
				   .class = CLASS_UNKNOWN,
				   .exit = EXIT_RET_SITES,
				   .file = strings[2],
				   .line = n->line,
				   .block = "function",
				   .in_process = true,
				   .holds_lock = n->kind != INPROC_FUNCTION,
				   .chosen = true };

	meta_print_function(&f, &line);
	inproc_write_line(d->writer, &line);
}

static void add_function(struct inproc_drain *d, struct inproc_region *g,
			 const struct inproc_name *n, const char *const strings[NAME_STRINGS])
{
	char *key = xasprintf("%s %s %u", strings[0], strings[1], g->object);
	uint32_t known = d->functions.n, id = strtab_add(&d->functions, key);

	free(key);
	if (id == known) {
		write_function(d, g, id, n, strings);
		if (n->kind != INPROC_FUNCTION)
			add_section_place(d, g, n, strings);
	}
	if (n->id >= INPROC_IDS_MAX)
		return;
	for (; g->ids.n <= n->id; d->names_bytes += sizeof(uint32_t))
		*vec_add(&g->ids) = MAP_NONE;
	g->ids.data[n->id] = id;
}

static void add_frame(struct inproc_drain *d, struct inproc_region *g, const struct inproc_name *n,
		      const char *const strings[NAME_STRINGS])
{
	/* the program numbers its frames one after the other */
	if (n->id != g->frames.n || n->id >= INPROC_IDS_MAX)
		return;
	*vec_add(&g->frames) = add_place(d, g, strings[0], strings[2], n->line);
}

static uint32_t write_stack(struct inproc_drain *d, const uint32_t *frames, uint32_t n)
{
	const struct meta_stack s = { .id = ++d->n_stacks, .n_frames = n, .frames = frames };
	struct text line = { 0 };

	meta_print_stack(&s, &line);
	inproc_write_line(d->writer, &line);
	return s.id;
}

/* If a thread waits for a lock in this stack, a second stack gets the next id: that of the wait. */
static void add_stack(struct inproc_drain *d, struct inproc_region *g, const struct inproc_name *n,
		      const char *ids)
{
	uint32_t frames[1 + INPROC_FRAMES_MAX], n_frames = 1;
	char *end;

	for (; n_frames <= INPROC_FRAMES_MAX && *ids; ids = end) {
		unsigned long id = strtoul(ids, &end, 10);

		if (end == ids || id >= g->frames.n)
			return;
		frames[n_frames++] = g->frames.data[id];
	}
	if (n->id != g->stacks.n + 1 || n->id >= INPROC_IDS_MAX)
		return;
	*vec_add(&g->stacks) = write_stack(d, frames + 1, n_frames - 1);
	if (!n->line)
		return;
	frames[0] = add_place(d, g, INPROC_TAKES_LOCK, "", 0);
	write_stack(d, frames, n_frames);
}

static void write_skipped(struct inproc_drain *d, const struct inproc_region *g,
			  const char *const strings[NAME_STRINGS])
{
	uint32_t reason = strtab_add(&d->left_reasons, strings[2]);
	struct text line = { 0 };
	struct meta_not_traced n = { .name = strings[0],
				     .object = g->header.vm,
				     .reason = strings[2],
				     .cpu_share = NAN,
				     .calls_per_s = NAN,
				     .cost_share = NAN };

	if (d->left.n <= reason)
		vec_add(&d->left)->first = xstrdup(strings[0]);
	if (d->left.data[reason].n++ >= LEFT_NAMED)
		return;
	meta_print_not_traced(&n, &line);
	inproc_write_line(d->writer, &line);
}

static void notify(struct inproc_drain *d, const char *words)
{
	struct meta_notice n = { .code = "java", .text = words };
	struct text line = { 0 };

	log_notice("%s", words);
	meta_print_notice(&n, &line);
	inproc_write_line(d->writer, &line);
}

/* The program may have written anything, so the message says that these are the program's words. */
static void notify_from_program(struct inproc_drain *d, struct inproc_region *g, const char *words)
{
	char *printable, *said;

	if (g->n_notices > NOTICES_MAX)
		return;
	if (g->n_notices++ == NOTICES_MAX)
		words = "(more, which is left out)";
	printable = text_printable_new(words);
	said = xasprintf("the Java machine of process %d says: %s", (int)g->pid, printable);
	notify(d, said);
	free(said);
	free(printable);
}

/* Finds the strings of a row. Returns false if one of them has no end. */
static bool find_strings(const char *row, const char *end, const char *strings[NAME_STRINGS])
{
	const char *p = row + sizeof(struct inproc_name);

	for (unsigned i = 0; i < NAME_STRINGS; i++) {
		size_t room = (size_t)(end - p), n = strnlen(p, room);

		if (n == room)
			return false;
		strings[i] = p;
		p += n + 1;
	}
	return true;
}

/* Programs choose how many names they have. The calls of a function without a name count as
 * lost. */
static bool has_room(struct inproc_drain *d, uint32_t bytes)
{
	bool had_room = d->names_bytes <= d->names_bytes_max;

	d->names_bytes += had_room ? bytes : 0;
	if (had_room && d->names_bytes > d->names_bytes_max)
		notify(d,
		       "the programs have named more functions than there is room for: the calls "
		       "of the others are lost");
	return d->names_bytes <= d->names_bytes_max;
}

static void add_row(struct inproc_drain *d, struct inproc_region *g, const struct inproc_name *n,
		    const char *const strings[NAME_STRINGS])
{
	switch (n->kind) {
	case INPROC_FUNCTION:
	case INPROC_BLOCK:
	case INPROC_SECTION:
		add_function(d, g, n, strings);
		break;
	case INPROC_FRAME:
		add_frame(d, g, n, strings);
		break;
	case INPROC_FRAMES:
		add_stack(d, g, n, strings[0]);
		break;
	case INPROC_LOCK:
		inproc_lock_add(d, g, n->id, strings[0]);
		break;
	case INPROC_LEFT:
		write_skipped(d, g, strings);
		break;
	case INPROC_NOTICE:
		notify_from_program(d, g, strings[0]);
		break;
	}
}

/* Writes once for each program what an empty call costs, as the program has measured it in compiled
 * code. */
static void write_cost(struct inproc_drain *d, struct inproc_region *g)
{
	const uint32_t pair_ns = atomic_load_explicit(&g->shared->pair_ns, memory_order_acquire);
	const struct inproc_cost cost = g->shared->cost;
	struct text line = { 0 };
	struct meta_calibration c = { .class = CLASS_UNKNOWN,
				      .exit = EXIT_RET_SITES,
				      .threads = 1,
				      .when = "before",
				      .inner_min_ns = cost.inner_min_ns,
				      .inner_p50_ns = cost.inner_p50_ns,
				      .inner_p99_ns = cost.inner_p99_ns,
				      .inner_mean_ns = cost.inner_mean_ns,
				      .full_p50_ns = pair_ns,
				      .calls = cost.calls };

	if (!pair_ns || g->is_cost_written || g->is_stamped)
		return;
	g->is_cost_written = true;
	if (!cost.calls)
		return;
	meta_print_calibration(&c, &line);
	inproc_write_line(d->writer, &line);
}

#define ROW_MAX (256u << 10) /* bytes; the longest row of a producer is a stack of 64 frames */

void inproc_read_names(struct inproc_drain *d, struct inproc_region *g)
{
	uint64_t end = atomic_load_explicit(&g->shared->names_end, memory_order_acquire);
	const char *strings[NAME_STRINGS];
	char *copy = xmalloc(ROW_MAX);
	struct inproc_name n;

	write_cost(d, g);
	/* the program may write there at any time, so a row is copied before it is checked */
	if (end > g->header.names_bytes)
		end = g->header.names_bytes;
	while (g->names_read + sizeof(n) <= end) {
		const char *row = g->names + g->names_read;

		memcpy(&n, row, sizeof(n));
		if (n.bytes < sizeof(n) || n.bytes > ROW_MAX || n.bytes > end - g->names_read)
			break;
		memcpy(copy, row, n.bytes);
		if (!find_strings(copy, copy + n.bytes, strings))
			break;
		if (has_room(d, n.bytes))
			add_row(d, g, &n, strings);
		g->names_read += n.bytes;
	}
	free(copy);
}
