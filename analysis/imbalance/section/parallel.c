/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/section/parallel.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/imbalance/section/parallel_role.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define BODY_MIN_NS 100000 /* shorter regions may be missing without a notice */

/* A thread's call of a barrier, a body or the chosen function. */
struct stay {
	uint32_t thread, tid;
	uint64_t since_ns; /* when the thread began its section; 0: not known */
	uint64_t entry_ns, exit_ns;
	uint32_t since_site;
	struct offcpu off; /* between since_ns and entry_ns */
	uint64_t late_ns;  /* run queue time in the barrier before since_ns */
};

struct parallel_meeting {
	uint64_t opened_ns; /* when the first thread left */
	uint32_t site, id;
	struct {
		VEC(struct stay)
	} stays;
};

struct parallel_bodies {
	VEC(struct stay)
	/* The region that ended last, until no more of its bodies can end. If the runtime's return
	 * has no probe, the region seems to end before it waits for the other threads. */
	uint64_t entry_ns, duration_ns; /* entry_ns 0: no region */
	uint32_t site, id;
};

struct parallel_thread {
	uint64_t since_ns; /* when it left a barrier or was created; 0: not known */
	uint32_t since_site;
	struct offcpu since_off, entry_off;
	uint64_t late_ns; /* late_ns of its next stay */
};

void parallel_release(struct parallel *p)
{
	free(p->roles);
	callsites_release(&p->sites);
	imbalance_release(&p->imbalance);
	vec_for_each (&p->meetings, struct parallel_meeting, m)
		vec_release(&m->stays);
	vec_release(&p->meetings);
	map_release(&p->meeting_of);
	vec_release(&p->threads);
	forkjoin_release(&p->forkjoin);
	vec_for_each (&p->processes, struct parallel_bodies, b)
		vec_release(b);
	vec_release(&p->processes);
	map_release(&p->process_of);
}

static struct parallel_thread *state_of(struct parallel *p, uint32_t index)
{
	while (p->threads.n <= index)
		*vec_add(&p->threads) = (struct parallel_thread){ .since_site = MAP_NONE };
	return &p->threads.data[index];
}

static struct offcpu off_between(const struct offcpu *from, const struct offcpu *to)
{
	return (struct offcpu){ .preempted_ns = to->preempted_ns - from->preempted_ns,
				.blocked_ns = to->blocked_ns - from->blocked_ns,
				.idle_ns = to->idle_ns - from->idle_ns };
}

/* ---- an instance is complete ---- */

/* Returns the name of a site, "worker (app.c:42)", or without a site that of the function or what
 * threads wait for there. Freed by the caller. */
static char *place_name(const struct parallel *p, uint32_t site, uint32_t id)
{
	const struct meta_function *f = meta_function(p->meta, id);
	struct text name = { 0 };

	if (site != MAP_NONE)
		callsites_name(&p->sites, site, &name);
	else
		text_add(&name, f && f->name ? f->name : "the threads' end");
	return name.s ? name.s : xstrdup("");
}

/* begin: of the instance. A thread that leaves the barrier late because other threads have the CPUs
 * waits for a CPU meanwhile. */
static struct section_part part_of(const struct stay *s, uint64_t begin, bool to_exit, bool off)
{
	uint64_t to = to_exit ? s->exit_ns : s->entry_ns, late = s->since_ns - begin;
	double cpu_wait = (double)s->off.preempted_ns;

	return (struct section_part){
		.thread = s->thread,
		.time = (double)(to - begin),
		.cpu_wait = off ? cpu_wait + (double)(s->late_ns < late ? s->late_ns : late) : NAN,
		.asleep = off ? (double)(s->off.blocked_ns + s->off.idle_ns) : NAN,
		.own = (double)(to - s->since_ns) - (off ? cpu_wait : 0),
		.tid = s->tid,
		.from_ns = s->since_ns,
		.to_ns = to,
	};
}

/* Adds an instance. The time of each stay is from the begin of the first one to its entry_ns, or to
 * its exit_ns if to_exit. */
static void add_instance(struct parallel *p, enum section_kind kind, const struct stay *stays,
			 size_t n, bool to_exit, uint32_t site, uint32_t id)
{
	struct section_part *parts = xmalloc((n + 1) * sizeof(*parts));
	uint64_t begin = UINT64_MAX;
	uint32_t since = n ? stays[0].since_site : MAP_NONE;
	bool off = p->calls->threads.have_switch;
	size_t n_parts = 0;
	char *name = place_name(p, site, id), *since_name;

	for (const struct stay *s = stays; s < stays + n; s++) {
		if (s->since_ns && s->since_ns < begin)
			begin = s->since_ns;
		if (s->since_site != since)
			since = MAP_NONE;
	}
	since_name = since == MAP_NONE || since == site ? xstrdup("") : place_name(p, since, id);
	for (const struct stay *s = stays; s < stays + n; s++)
		if (s->since_ns)
			parts[n_parts++] = part_of(s, begin, to_exit, off);
	imbalance_add(&p->imbalance, kind, name, since_name, parts, n_parts);
	free(since_name);
	free(name);
	free(parts);
}

static void close_meeting(struct parallel *p, struct parallel_meeting *m)
{
	bool named = p->roles[m->id] == ROLE_NAMED;

	add_instance(p, named ? SECTION_NAMED : SECTION_BARRIER, m->stays.data, m->stays.n, named,
		     named ? MAP_NONE : m->site, m->id);
	m->stays.n = 0;
}

/* ---- calls ---- */

static struct parallel_meeting *meeting_of(struct parallel *p, const struct thread *t,
					   const struct call *c)
{
	uint64_t object = p->roles[c->id] == ROLE_BARRIER && c->arg_mask & 1u << ARG_FIRST
				  ? c->args[ARG_FIRST]
				  : 0;
	uint64_t key = hash_u64(hash_u64(object) ^ ((uint64_t)t->tgid << 32 | c->id));
	uint32_t at = map_add(&p->meeting_of, key, (uint32_t)p->meetings.n);

	if (at == p->meetings.n)
		vec_add(&p->meetings);
	return &p->meetings.data[at];
}

static void join_meeting(struct parallel *p, const struct thread *t, const struct call *c,
			 const struct stay *stay)
{
	struct parallel_meeting *m = meeting_of(p, t, c);

	if (m->stays.n && c->entry_ns > m->opened_ns)
		close_meeting(p, m);
	if (!m->stays.n) {
		m->opened_ns = c->exit_ns;
		m->site = callsites_of(&p->sites, c);
		m->id = c->id;
	}
	*vec_add(&m->stays) = *stay;
}

static void leave_barrier(struct parallel *p, const struct thread *t, const struct call *c)
{
	struct parallel_thread *state = state_of(p, t->index);
	struct stay stay = {
		.thread = t->index,
		.tid = t->tid,
		.since_ns = state->since_ns,
		.since_site = state->since_site,
		.entry_ns = c->entry_ns,
		.exit_ns = c->exit_ns,
		.off = off_between(&state->since_off, &state->entry_off),
		.late_ns = state->late_ns,
	};

	join_meeting(p, t, c, &stay);
	state = state_of(p, t->index);
	state->since_ns = c->exit_ns;
	state->since_site = callsites_of(&p->sites, c);
	state->since_off = t->off;
	state->late_ns = t->off.preempted_ns - state->entry_off.preempted_ns;
	forkjoin_met(&p->forkjoin, t);
}

static struct stay whole_call(const struct thread *t, const struct call *c)
{
	return (struct stay){
		.thread = t->index,
		.tid = t->tid,
		.since_ns = c->entry_ns,
		.since_site = MAP_NONE,
		.entry_ns = c->entry_ns,
		.exit_ns = c->exit_ns,
		.off = c->off,
	};
}

static struct parallel_bodies *bodies_of(struct parallel *p, uint32_t tgid)
{
	uint32_t at = map_add(&p->process_of, tgid, (uint32_t)p->processes.n);

	if (at == p->processes.n)
		vec_add(&p->processes);
	return &p->processes.data[at];
}

/* Adds a body. A thread may run several pieces of one region; it is done after the last one. */
static void add_body(struct parallel_bodies *b, const struct stay *stay)
{
	vec_for_each (b, struct stay, s)
		if (s->thread == stay->thread) {
			s->exit_ns = stay->exit_ns;
			return;
		}
	*vec_add(b) = *stay;
}

static void close_region(struct parallel *p, struct parallel_bodies *b)
{
	size_t n = 0;

	if (!b->entry_ns)
		return;
	vec_for_each (b, struct stay, s)
		if (s->entry_ns >= b->entry_ns) {
			s->since_ns = b->entry_ns;
			b->data[n++] = *s;
		}
	if (n)
		add_instance(p, SECTION_REGION, b->data, n, true, b->site, b->id);
	p->bodiless += !n && b->duration_ns > BODY_MIN_NS;
	b->entry_ns = 0;
	b->n = 0;
}

static void end_region(struct parallel *p, const struct thread *t, const struct call *c)
{
	struct parallel_bodies *b = bodies_of(p, t->tgid);

	close_region(p, b);
	b->entry_ns = c->entry_ns;
	b->duration_ns = c->duration_ns;
	b->site = callsites_of(&p->sites, c);
	b->id = c->id;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct parallel *p = self;
	struct stay stay;

	if (p->roles[c->id] == ROLE_JOIN)
		forkjoin_leave(&p->forkjoin, t, c->end == CALL_OPEN);
	if (p->roles[c->id] == ROLE_NONE || c->end != CALL_TIMED || c->recursive)
		return;
	switch (p->roles[c->id]) {
	case ROLE_BARRIER:
		leave_barrier(p, t, c);
		break;
	case ROLE_NAMED:
		stay = whole_call(t, c);
		join_meeting(p, t, c, &stay);
		break;
	case ROLE_BODY:
		stay = whole_call(t, c);
		add_body(bodies_of(p, t->tgid), &stay);
		break;
	case ROLE_REGION:
		end_region(p, t, c);
		break;
	default:
		break;
	}
}

/* Begins a section at the begin of a body, so that the time before the region is not part of a
 * section that ends at a barrier inside the region. */
static void begin_anew(struct parallel *p, const struct thread *t, const struct call *c)
{
	struct parallel_thread *state = state_of(p, t->index);

	forkjoin_met(&p->forkjoin, t);
	state->since_ns = c->entry_ns;
	state->since_site = MAP_NONE;
	state->since_off = t->off;
	state->late_ns = 0;
}

static void begin_region(struct parallel *p, const struct thread *t)
{
	close_region(p, bodies_of(p, t->tgid));
	forkjoin_region(&p->forkjoin, t);
}

static void on_enter(void *self, const struct thread *t, const struct call *c)
{
	struct parallel *p = self;

	if (p->roles[c->id] == ROLE_BARRIER)
		state_of(p, t->index)->entry_off = t->off;
	else if (p->roles[c->id] == ROLE_JOIN)
		forkjoin_enter(&p->forkjoin, t, c);
	else if (p->roles[c->id] == ROLE_REGION)
		begin_region(p, t);
	else if (p->roles[c->id] == ROLE_BODY)
		begin_anew(p, t, c);
}

/* ---- threads ---- */

static void on_birth(struct parallel *p, const struct thread *parent, const struct record *r)
{
	const struct thread *child = threads_alive(&p->calls->threads, (uint32_t)r->values[0]);

	if (!child || child->tgid != parent->tgid)
		return;
	state_of(p, child->index)->since_ns = r->time_ns;
	p->births++;
}

static void on_joined(void *self, const struct forkjoin_part *parts, size_t n, uint32_t site)
{
	struct stay *stays = xcalloc(n, sizeof(*stays));
	struct parallel *p = self;

	for (size_t i = 0; i < n; i++)
		stays[i] = (struct stay){
			.thread = parts[i].number,
			.tid = parts[i].tid,
			.since_ns = parts[i].born_ns,
			.since_site = MAP_NONE,
			.entry_ns = parts[i].end_ns,
			.exit_ns = parts[i].end_ns,
			.off = parts[i].off,
		};
	add_instance(p, SECTION_JOIN, stays, n, true, site, MAP_NONE);
	free(stays);
}

/* Drops the begins of sections if the probes of barriers were off, because threads may have left
 * barriers without a record. */
static void on_set(struct parallel *p, const struct record *r)
{
	bool barriers = false;

	vec_for_each (&p->meta->functions, struct meta_function, f)
		barriers |= f->symbol && f->set == r->values[0] && p->roles[f->id] == ROLE_BARRIER;
	if (barriers)
		vec_for_each (&p->threads, struct parallel_thread, t)
			t->since_ns = 0;
}

static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct parallel *p = self;

	if (r->kind == REC_CALL_COUNT && r->n_values > 1 && r->values[0] < p->meta->functions.n &&
	    p->roles[r->values[0]] == ROLE_BARRIER)
		p->sampled += r->values[1];
	if (r->kind == REC_SET_ON || r->kind == REC_SET_OFF)
		on_set(p, r);
	else if (t && r->kind == REC_FORK)
		on_birth(p, t, r);
	p->sees_joins |= r->kind == REC_WAIT;
	if (t && !p->named)
		forkjoin_record(&p->forkjoin, t, r);
}

/* Drops the begin of the thread's section, because the thread may have left a barrier meanwhile. */
static void on_unseen(void *self, const struct thread *t)
{
	state_of(self, t->index)->since_ns = 0;
}

static void on_end(void *self)
{
	struct parallel *p = self;

	vec_for_each (&p->meetings, struct parallel_meeting, m)
		close_meeting(p, m);
	vec_for_each (&p->processes, struct parallel_bodies, b)
		close_region(p, b);
	forkjoin_end(&p->forkjoin);
	for (size_t i = 0; i < p->calls->threads.all.n; i++) {
		const struct thread *t = p->calls->threads.all.data[i];

		imbalance_name(&p->imbalance, t->tid, t->comm);
	}
	p->lost_records = p->calls->lost_records;
	p->paused_ns = p->calls->threads.unwatched.ns;
	imbalance_sort(&p->imbalance);
}

int parallel_init(struct parallel *p, const struct meta *meta, const struct calls *calls,
		  const char *named, struct err *err)
{
	bool found = false;

	*p = (struct parallel){ .meta = meta, .calls = calls, .named = named != NULL };
	p->roles = xcalloc(meta->functions.n + 1, 1);
	callsites_init(&p->sites, meta);
	p->forkjoin = (struct forkjoin){
		.threads = &calls->threads, .sites = &p->sites, .joined = on_joined, .ctx = p
	};
	vec_for_each (&meta->functions, struct meta_function, f) {
		if (!f->symbol)
			continue;
		p->roles[f->id] = (uint8_t)parallel_role(f, named);
		found |= p->roles[f->id] == ROLE_NAMED;
		p->sees_joins |= p->roles[f->id] == ROLE_JOIN;
	}
	if (named && !found)
		return err_set(err, -ENOENT,
			       "no function or marker '%s' was recorded; record it: ispot record "
			       "%s-F '%s'",
			       named, meta_is_java(meta) ? "--java " : "", named);
	return 0;
}

struct call_visitor parallel_visitor(struct parallel *p)
{
	return (struct call_visitor){
		.self = p,
		.call = on_call,
		.enter = on_enter,
		.record = on_record,
		.unseen = on_unseen,
		.end = on_end,
	};
}
