/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/imbalance/edges.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/count/edged.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/memory.h"
#include "cmd/imbalance/made.h"
#include "probes/edges/edges.h"
#include "probes/edges/flow.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

/* Converts the program's files into what is analysed. */
struct conversion {
	const struct edges *edges;
	struct edges_flow *flow;
	struct counts *run;
	struct dso_cache *cache;
	struct imbalance imbalance;
	struct made made;
	char **sites; /* [place]: name of a section that ends there; NULL: not looked up yet */
	struct edged_part *parts;
	uint32_t *object_of; /* [name of edges]: of run */
	struct {
		VEC(struct counted_part)
	} taken; /* [dump of run] */
};

/* ---- sections ---- */

static uint32_t place_in_run(struct conversion *c, uint32_t object, uint64_t address)
{
	if (c->object_of[object] == MAP_NONE)
		c->object_of[object] =
			strtab_add(&c->run->names, strtab_get(&c->edges->names, object));
	return counts_place(c->run, c->object_of[object], address);
}

/* Returns the name of a place, "run (lu.c:21)". is_call: the place is after a call, which may be
 * the line's last instruction. */
static const char *place_name(struct conversion *c, uint32_t site, bool is_call)
{
	const struct counts_place *place;
	const struct edges_place *at;
	struct counts named = { 0 };
	uint32_t number;

	if (c->sites[site])
		return c->sites[site];
	at = &c->edges->places.data[site];
	number = counts_place(&named,
			      strtab_add(&named.names, strtab_get(&c->edges->names, at->object)),
			      at->address - is_call);
	counts_name(&named, number, c->cache);
	place = &named.places.data[number];
	c->sites[site] =
		!place->line ? xstrdup(strtab_get(&named.names, place->function))
			     : xasprintf("%s (%s:%u)", strtab_get(&named.names, place->function),
					 strtab_get(&named.names, place->file), place->line);
	counts_release(&named);
	return c->sites[site];
}

/* Returns the name of the place where a thread waits for others to end. */
static const char *join_name(struct conversion *c, uint32_t log)
{
	const struct made_thread *t = &c->made.threads[log];
	uint32_t site =
		t->brood == BROOD_NONE ? EDGES_NOWHERE : c->made.broods.all.data[t->brood].site;
	const char *name = site == EDGES_NOWHERE ? "" : place_name(c, site, true);

	return *name ? name : "the threads' end";
}

/* Returns the name of the place of a barrier's call, or of the begin of a region's body. */
static const char *site_name(struct conversion *c, const struct edges_part *p)
{
	static const char unknown[] = "";

	if (p->cut->end == EDGES_THREAD)
		return join_name(c, p->log);
	if (p->site == EDGES_NOWHERE)
		return unknown;
	return place_name(c, p->site, p->cut->end == EDGES_BARRIER);
}

/* Puts a thread whose end is waited for into one group with the threads that were made with it. */
static void join_others(const struct conversion *c, struct edged_part *p, uint32_t log)
{
	const struct made_thread *t = &c->made.threads[log];

	p->object = t->brood;
	p->order = t->order;
	if (t->brood == BROOD_NONE || !t->awaited)
		p->leave_ns = 0;
}

static void make_parts(struct conversion *c)
{
	static const enum section_kind kinds[] = {
		[EDGES_BARRIER] = SECTION_BARRIER,
		[EDGES_BODY] = SECTION_REGION,
		[EDGES_THREAD] = SECTION_JOIN,
	};
	const struct edges *e = c->edges;

	c->parts = xcalloc(e->parts.n + 1, sizeof(*c->parts));
	for (size_t i = 0; i < e->parts.n; i++) {
		const struct edges_part *p = &e->parts.data[i];
		const struct edges_log *log = &e->logs.data[p->log];

		c->parts[i] = (struct edged_part){
			.process = log->process,
			.key = { .thread = p->log },
			.tid = log->tid,
			.kind = kinds[p->cut->end],
			.object = p->cut->object,
			.name = site_name(c, p),
			.begin_ns = p->cut->begin_ns,
			.end_ns = p->cut->end_ns,
			.leave_ns = p->cut->leave_ns,
			.cpu_ns = (double)p->cut->cpu_ns,
			.cpu_wait_ns = p->cut->cpu_wait_ns == EDGES_UNKNOWN
					       ? (double)NAN
					       : (double)p->cut->cpu_wait_ns,
			.sleeps = p->cut->sleeps,
			.what = p,
		};
		if (p->cut->end == EDGES_THREAD)
			join_others(c, &c->parts[i], p->log);
	}
	vec_for_each (&e->logs, const struct edges_log, log)
		imbalance_name(&c->imbalance, log->tid, "");
	edged_find(c->parts, e->parts.n, &c->imbalance);
}

/* ---- counts ---- */

struct passages {
	struct map at; /* hash of from and to, or the next free key */
	struct {
		VEC(struct edges_passage)
	} all;
};

static void passages_add(struct passages *p, const struct edges_step *s, uint64_t count)
{
	for (uint64_t key = hash_u64((uint64_t)s->from << 32 | s->to);; key++) {
		uint32_t at = map_get(&p->at, key);

		if (at == MAP_NONE) {
			map_put(&p->at, key, (uint32_t)p->all.n);
			*vec_add(&p->all) = (struct edges_passage){ s->from, s->to, count };
			return;
		}
		if (p->all.data[at].from == s->from && p->all.data[at].to == s->to) {
			p->all.data[at].count += count;
			return;
		}
	}
}

/* Adds the parts of one thread in one group. */
static void add_parts(struct conversion *c, const struct edged_part *parts, size_t n)
{
	struct counted_part part = { .key = parts->key };
	struct counts_dump *dump = vec_add(&c->run->dumps);
	struct passages passages = { 0 };
	struct edges_turns turns = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct edges_part *p = parts[i].what;

		part.time += parts[i].own;
		for (uint32_t k = 0; k < p->cut->n; k++)
			passages_add(&passages,
				     &c->edges->logs.data[p->log].steps.data[p->counts[k].edge],
				     p->counts[k].count);
	}
	edges_flow_turns(c->flow, passages.all.data, passages.all.n, &turns);
	vec_for_each (&turns, const struct edges_turn, t)
		*vec_add(&dump->counts) = (struct counts_row){
			.kind = t->call ? COUNTS_CALL : COUNTS_JUMP,
			.from = place_in_run(c, t->object, t->from),
			.to = place_in_run(c, t->to_object, t->to),
			.count = t->count,
		};
	*vec_add(&c->taken) = part;
	vec_release(&turns);
	vec_release(&passages.all);
	map_release(&passages.at);
}

static void add_all_parts(struct conversion *c)
{
	const struct edged_part *parts = c->parts;
	size_t first = 0, n = 0;

	while (n < c->edges->parts.n && parts[n].key.section != MAP_NONE)
		n++;
	for (size_t i = 1; i <= n; i++)
		if (i == n || !part_key_same_thread(&parts[i].key, &parts[first].key)) {
			add_parts(c, parts + first, i - first);
			first = i;
		}
}

/* Adds all branches first, in the order of addresses, in which the analysis expects loops. */
static void make_branches(struct conversion *c)
{
	const struct edges_branch *branches;
	size_t n = edges_flow_branches(c->flow, &branches);

	for (size_t i = 0; i < n; i++) {
		uint32_t at = place_in_run(c, branches[i].object, branches[i].address);

		c->run->places.data[at].turns = true;
	}
}

static void convert(struct counted_edges *k, const struct edges *e)
{
	struct conversion c = { .edges = e, .run = k->run, .cache = dso_cache_new() };
	uint32_t names = 1;

	vec_for_each (&e->places, const struct edges_place, p)
		names = p->object >= names ? p->object + 1 : names;
	c.object_of = xmalloc(names * sizeof(*c.object_of));
	memset(c.object_of, 0xff, names * sizeof(*c.object_of));
	c.imbalance.keeps_each = k->counted->imbalance.keeps_each;
	c.sites = xcalloc(e->places.n + 1, sizeof(*c.sites));
	c.flow = edges_flow_new(e);
	made_find(&c.made, e);
	make_parts(&c);
	make_branches(&c);
	add_all_parts(&c);
	for (uint32_t i = 0; i < k->run->places.n; i++)
		counts_name(k->run, i, c.cache);
	counted_begin(k->counted, k->run);
	for (size_t i = 0; i < c.taken.n; i++)
		counted_add_part(k->counted, &c.taken.data[i], &k->run->dumps.data[i]);
	imbalance_sort(&c.imbalance);
	counted_finish(k->counted, &c.imbalance, k->lime);
	for (size_t i = 0; i < e->places.n; i++)
		free(c.sites[i]);
	free(c.sites);
	made_release(&c.made);
	free(c.object_of);
	free(c.parts);
	vec_release(&c.taken);
	edges_flow_free(c.flow);
	dso_cache_free(c.cache);
}

/* ---- a run ---- */

static void report(struct counted_edges *k, const struct edges *e)
{
	char number[TEXT_COUNTED];
	size_t n = 0;

	if (e->missed)
		k->notices[n++] = xasprintf("%s not counted: there were too many, or there was no "
					    "room for their files; set TMPDIR",
					    text_counted(number, e->missed, "thread"));
	if (e->full)
		k->notices[n++] = xasprintf("of %s only the begin was counted: there was no room "
					    "for more; set TMPDIR",
					    text_counted(number, e->full, "thread"));
}

static int check_counted(const struct edges *e, const char *program, int status, struct err *err)
{
	if (e->parts.n)
		return 0;
	if (e->logs.n)
		return err_set(err, -ENODATA,
			       "%s met at no barrier, no OpenMP region's and no thread's end "
			       "(status %d), so there is no parallel region; leave out --count",
			       program, status);
	return err_set(err, -ENODATA,
		       "%s counted no edge (status %d); compile it with gcc -g "
		       "-fsanitize-coverage=trace-pc … -lispot-edges (ispot-imbalance(1))",
		       program, status);
}

static uint64_t duration(const struct edges *e)
{
	uint64_t first = UINT64_MAX, last = 0;

	vec_for_each (&e->parts, const struct edges_part, p) {
		first = p->cut->begin_ns < first ? p->cut->begin_ns : first;
		last = p->cut->end_ns > last ? p->cut->end_ns : last;
	}
	return last > first ? last - first : 0;
}

static int run_and_read(struct counted_edges *k, char *const *argv, const char *dir,
			struct err *err)
{
	struct edges e = { 0 };
	int status = 0, rc;

	memory_unbound(); /* the command's is its own affair */
	rc = edges_run(argv, dir, &status, err);
	memory_bound(NULL);
	if (!rc)
		rc = edges_read(&e, dir, err);
	if (!rc)
		rc = check_counted(&e, argv[0], status, err);
	if (!rc) {
		k->duration_ns = duration(&e);
		report(k, &e);
		convert(k, &e);
	}
	edges_release(&e);
	return rc;
}

int imbalance_count_edges(struct counted_edges *k, char *const *argv, struct err *err)
{
	char *dir;
	int rc = temporary_directory(&dir, "ispot-imbalance", TEMPORARY_SMALL, err);

	if (!rc)
		rc = run_and_read(k, argv, dir, err);
	temporary_release(dir);
	return rc;
}
