/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fleet/block.h"

#include <errno.h>
#include <string.h>

#include "base/cpus.h"
#include "base/text.h"
#include "trace/varint.h"

/* A time of 292 years: sums of two of them do not overflow. */
#define TIME_MAX (UINT64_MAX >> 1)

/*
 * The most pairs that are looked at, some seconds' worth. FLEET_BLOCK_SAMPLES runs, each in a track
 * of its own, with one presence more on each CPU, are half of it at most.
 */
#define WORK_MAX (1ull << 32)

void fleet_block_begin(struct fleet_block *b, uint64_t sequence, uint64_t start_ns)
{
	strtab_release(&b->apps);
	b->sequence = sequence;
	b->start_ns = start_ns;
	b->tracks.n = b->runs.n = b->samples.n = 0;
}

uint32_t fleet_block_app(struct fleet_block *b, const char *name)
{
	return strtab_add(&b->apps, name);
}

void fleet_block_track_of(struct fleet_block *b, uint32_t cpu, uint32_t indicator)
{
	struct fleet_track *track = vec_add(&b->tracks);

	track->cpu = cpu;
	track->indicator = indicator;
	track->first_run = (uint32_t)b->runs.n;
}

void fleet_block_track(struct fleet_block *b, uint32_t cpu)
{
	fleet_block_track_of(b, cpu, 0);
}

static struct fleet_run *add_run(struct fleet_block *b, uint32_t app, uint64_t start_ns)
{
	struct fleet_run *run = vec_add(&b->runs);

	run->app = app;
	run->first = (uint32_t)b->samples.n;
	run->indicator = vec_last(&b->tracks)->indicator;
	run->start_ns = run->end_ns = start_ns;
	vec_last(&b->tracks)->n_runs++;
	return run;
}

/* Whether the track's last run goes on. */
static bool goes_on(const struct fleet_block *b, uint32_t app, uint64_t start_ns)
{
	return vec_last(&b->tracks)->n_runs && vec_last(&b->runs)->app == app &&
	       vec_last(&b->runs)->end_ns == start_ns;
}

void fleet_block_run(struct fleet_block *b, uint32_t app, uint64_t start_ns)
{
	if (!goes_on(b, app, start_ns) || !vec_last(&b->runs)->n)
		add_run(b, app, start_ns);
}

void fleet_block_sample(struct fleet_block *b, uint64_t length_ns, uint32_t value)
{
	struct fleet_run *run = vec_last(&b->runs);
	struct fleet_sample *sample = vec_add(&b->samples);

	run->n++;
	run->end_ns += length_ns;
	sample->end_ns = run->end_ns;
	sample->value = value;
}

void fleet_block_presence(struct fleet_block *b, uint32_t app, uint64_t start_ns, uint64_t end_ns)
{
	if (!goes_on(b, app, start_ns) || vec_last(&b->runs)->n)
		add_run(b, app, start_ns);
	vec_last(&b->runs)->end_ns = end_ns;
}

/* 0: a track of presences. Else above 0: the indicator of its samples, the first one least. */
static uint8_t rank_of(const struct fleet_block *b, const struct fleet_track *track)
{
	return fleet_track_has_samples(b, track) ? (uint8_t)(track->indicator + 1) : 0;
}

size_t fleet_block_tellers(const struct fleet_block *b, uint32_t *tellers)
{
	uint8_t least[CPUS_MAX];
	size_t n = 0;

	memset(least, UINT8_MAX, sizeof(least));
	vec_for_each (&b->tracks, const struct fleet_track, track)
		if (track->n_runs && rank_of(b, track) < least[track->cpu])
			least[track->cpu] = rank_of(b, track);
	for (size_t i = 0; i < b->tracks.n; i++) {
		const struct fleet_track *track = &b->tracks.data[i];

		if (!track->n_runs || rank_of(b, track) != least[track->cpu])
			continue;
		if (tellers)
			tellers[n] = (uint32_t)i;
		n++;
	}
	return n;
}

uint64_t fleet_block_count(const struct fleet_block *b, uint32_t indicator)
{
	uint64_t n = 0;

	vec_for_each (&b->runs, const struct fleet_run, run)
		n += run->indicator == indicator ? run->n : 0;
	return n;
}

void fleet_block_release(struct fleet_block *b)
{
	strtab_release(&b->apps);
	vec_release(&b->tracks);
	vec_release(&b->runs);
	vec_release(&b->samples);
}

/* ---- as bytes ---- */

static void pack_number(struct text *out, uint64_t number)
{
	uint8_t bytes[VARINT_MAX];

	text_addn(out, (char *)bytes, (size_t)(varint_put(bytes, number) - bytes));
}

static void pack_run(const struct fleet_block *b, const struct fleet_run *run, uint64_t since_ns,
		     struct text *out)
{
	uint64_t start_ns = run->start_ns;

	pack_number(out, run->app);
	pack_number(out, run->start_ns - since_ns);
	pack_number(out, run->n);
	if (!run->n)
		pack_number(out, run->end_ns - run->start_ns);
	for (uint32_t i = run->first; i < run->first + run->n; i++) {
		const struct fleet_sample *s = &b->samples.data[i];
		uint8_t bytes[2 * VARINT_MAX];
		uint8_t *end = varint_put(varint_put(bytes, s->end_ns - start_ns), s->value);

		text_addn(out, (char *)bytes, (size_t)(end - bytes));
		start_ns = s->end_ns;
	}
}

void fleet_block_pack(const struct fleet_block *b, uint32_t indicators, struct text *out)
{
	pack_number(out, b->apps.n);
	for (uint32_t i = 0; i < b->apps.n; i++) {
		pack_number(out, strlen(b->apps.strings[i]));
		text_add(out, b->apps.strings[i]);
	}
	pack_number(out, b->tracks.n);
	vec_for_each (&b->tracks, const struct fleet_track, track) {
		uint64_t since_ns = b->start_ns;

		pack_number(out, track->cpu);
		if (indicators > 1)
			pack_number(out, track->indicator);
		pack_number(out, track->n_runs);
		for (uint32_t i = 0; i < track->n_runs; i++) {
			const struct fleet_run *run = &b->runs.data[track->first_run + i];

			pack_run(b, run, since_ns, out);
			since_ns = run->end_ns;
		}
	}
}

struct cursor {
	const uint8_t *p, *end; /* p NULL: what was read is no body */
};

/* 0 after the first failure, or where the number is over max. */
static uint64_t unpack_number(struct cursor *c, uint64_t max)
{
	uint64_t number = 0;

	c->p = c->p ? varint_get(c->p, c->end, &number) : NULL;
	if (number > max)
		c->p = NULL;
	return c->p ? number : 0;
}

static size_t rest(const struct cursor *c)
{
	return c->p ? (size_t)(c->end - c->p) : 0;
}

static void unpack_apps(struct fleet_block *b, struct cursor *c)
{
	uint64_t n = unpack_number(c, FLEET_BLOCK_APPS);

	for (uint64_t i = 0; i < n && c->p; i++) {
		size_t bytes = unpack_number(c, rest(c));
		char name[256], printable[256];

		if (!c->p || bytes >= sizeof(name) || memchr(c->p, '\0', bytes)) {
			c->p = NULL;
			return;
		}
		memcpy(name, c->p, bytes);
		name[bytes] = '\0';
		c->p += bytes;
		if (strtab_add(&b->apps, text_printable(printable, sizeof(printable), name)) != i)
			c->p = NULL;
	}
}

static uint64_t unpack_samples(struct fleet_block *b, struct cursor *c, uint64_t time_ns,
			       uint64_t n)
{
	struct fleet_sample *s;
	uint64_t value;

	vec_reserve(&b->samples, b->samples.n + n);
	s = b->samples.data + b->samples.n;
	b->samples.n += n;
	for (; n && c->p; n--, s++) {
		time_ns += unpack_number(c, UINT32_MAX);
		value = unpack_number(c, UINT32_MAX);
		*s = (struct fleet_sample){ time_ns, (uint32_t)value };
	}
	return time_ns;
}

/* Returns when it ends. */
static uint64_t unpack_run(struct fleet_block *b, struct cursor *c, uint64_t since_ns)
{
	uint32_t app = (uint32_t)unpack_number(c, b->apps.n ? b->apps.n - 1 : 0);
	uint64_t start_ns = since_ns + unpack_number(c, TIME_MAX),
		 n = unpack_number(c, rest(c) / 2);
	struct fleet_run *run;

	if (!c->p || !b->apps.n || start_ns > TIME_MAX) {
		c->p = NULL;
		return 0;
	}
	run = add_run(b, app, start_ns);
	run->n = (uint32_t)n;
	run->end_ns =
		n ? unpack_samples(b, c, start_ns, n) : start_ns + unpack_number(c, UINT32_MAX);
	return run->end_ns;
}

/* Each run with samples is compared with each track that tells, each track with each of its runs.
 */
static bool is_soon_done(const struct fleet_block *b)
{
	uint64_t runs = 0, tracks = 0, before;

	vec_for_each (&b->tracks, const struct fleet_track, track) {
		before = runs;
		for (uint32_t i = 0; i < track->n_runs; i++)
			runs += b->runs.data[track->first_run + i].n > 0;
		tracks += runs > before;
	}
	return runs * fleet_block_tellers(b, NULL) + tracks * b->runs.n <= WORK_MAX;
}

int fleet_block_unpack(struct fleet_block *b, uint32_t indicators, const void *body, size_t n)
{
	struct cursor c = { body, (const uint8_t *)body + n };
	uint64_t tracks, runs, time_ns, cpu;

	if (b->start_ns > TIME_MAX)
		return -EBADMSG;
	unpack_apps(b, &c);
	tracks = unpack_number(&c, rest(&c));
	for (uint64_t i = 0; i < tracks && c.p; i++) {
		cpu = unpack_number(&c, CPUS_MAX - 1);
		fleet_block_track_of(b, (uint32_t)cpu,
				     indicators > 1 ? (uint32_t)unpack_number(&c, indicators - 1)
						    : 0);
		runs = unpack_number(&c, rest(&c));
		time_ns = b->start_ns;
		for (uint64_t j = 0; j < runs && c.p; j++)
			time_ns = unpack_run(b, &c, time_ns);
		if (!runs)
			b->tracks.n--;
		if (b->tracks.n > FLEET_BLOCK_TRACKS)
			c.p = NULL;
	}
	return c.p == c.end && is_soon_done(b) ? 0 : -EBADMSG;
}
