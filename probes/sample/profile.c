/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample/profile.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "probes/process/spaces.h"
#include "probes/sample/sample.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

void profile_init(struct profile *p, struct spaces *spaces)
{
	memset(p, 0, sizeof(*p));
	p->spaces = spaces;
}

static void add_unnamed(struct profile *p, const struct dso *dso)
{
	vec_for_each (&p->unnamed, struct profile_object, o)
		if (o->dso == dso) {
			o->time_ns += p->period_ns;
			return;
		}
	*vec_add(&p->unnamed) = (struct profile_object){ dso, p->period_ns };
}

const struct profile_object *profile_most_unnamed(const struct profile *p)
{
	const struct profile_object *most = NULL;

	vec_for_each (&p->unnamed, const struct profile_object, o)
		if (!most || o->time_ns > most->time_ns)
			most = o;
	return most;
}

static struct profile_function *function_at(struct profile *p, pid_t pid, uint64_t ip,
					    bool innermost)
{
	const struct dso_function *f = NULL;
	struct profile_function *entry;
	struct place place = { 0 };
	uint32_t i;

	if (spaces_find(p->spaces, pid, ip, &place))
		f = dso_function_at(place.dso, place.address);
	if (!f && place.dso && innermost)
		add_unnamed(p, place.dso);
	if (!f)
		return NULL;
	i = map_get(&p->by_function, (uintptr_t)f);
	if (i != MAP_NONE)
		return &p->functions.data[i];
	map_put(&p->by_function, (uintptr_t)f, p->functions.n);
	entry = vec_add(&p->functions);
	entry->dso = place.dso;
	entry->function = f;
	entry->path = xstrdup(place.path);
	return entry;
}

void profile_add(struct profile *p, const struct sample *s)
{
	p->samples++;
	p->total_samples++;
	p->total_ns += p->period_ns;
	for (uint32_t i = 0; i < s->n_frames; i++) {
		/* A return address belongs to the call before it. */
		struct profile_function *f =
			function_at(p, s->tgid, s->frames[i] - (i > 0), i == 0);

		if (!f)
			continue;
		if (i == 0)
			f->self++;
		if (f->seen_in == p->total_samples)
			continue;
		f->inclusive++;
		f->all++;
		f->seen_in = p->total_samples;
	}
}

static const struct profile_function *find(const struct profile *p, const struct dso_function *f)
{
	uint32_t i = map_get(&p->by_function, (uintptr_t)f);

	return i == MAP_NONE ? NULL : &p->functions.data[i];
}

static bool is_part(uint64_t samples, uint64_t of, double share)
{
	return samples >= PROFILE_HOT_SAMPLES && (double)samples >= share * (double)of;
}

bool profile_is_hot(const struct profile *p, const struct profile_function *f, double share)
{
	return is_part(f->inclusive, p->samples, share) || is_part(f->all, p->total_samples, share);
}

bool profile_is_hot_overall(const struct profile *p, const struct dso_function *function,
			    double share)
{
	const struct profile_function *f = find(p, function);

	return f && is_part(f->all, p->total_samples, share);
}

static double part(uint64_t samples, uint64_t of)
{
	return of >= PROFILE_SHARE_SAMPLES ? (double)samples / (double)of : 0;
}

double profile_share(const struct profile *p, const struct dso_function *function)
{
	const struct profile_function *f = find(p, function);

	if (!f || p->total_samples < PROFILE_SHARE_SAMPLES)
		return NAN;
	return fmax(part(f->all, p->total_samples), part(f->inclusive, p->samples));
}

void profile_begin_window(struct profile *p)
{
	p->samples = 0;
	vec_for_each (&p->functions, struct profile_function, f)
		f->self = f->inclusive = 0;
}

void profile_release(struct profile *p)
{
	vec_for_each (&p->functions, struct profile_function, f)
		free(f->path);
	vec_release(&p->functions);
	vec_release(&p->unnamed);
	map_release(&p->by_function);
}
