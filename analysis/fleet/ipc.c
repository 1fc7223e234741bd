/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/ipc.h"

#include "analysis/fleet/live.h"
#include "analysis/fleet/simulate/simulate.h"

uint32_t fleet_ipc_value(uint64_t instructions, uint64_t cycles)
{
	double value = (double)instructions / (double)cycles * FLEET_IPC_SCALE;

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

uint32_t fleet_ipc_rate(uint64_t events, uint64_t instructions)
{
	double value =
		(double)events * 1000 / (double)(instructions ? instructions : 1) * FLEET_IPC_SCALE;

	return value < 1 ? 1 : value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static int by_cpu(const void *a, const void *b)
{
	const struct fleet_ipc_sample *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_cpu_too(const void *a, const void *b)
{
	const struct fleet_span *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Returns the index of the presence in which the sample begins, or of a later one if there is none.
 * *end_ns: when the sample's application left the CPU; 0: it was not there at the begin. */
static size_t find_stay(const struct fleet_live *l, size_t at, const struct fleet_ipc_sample *s,
			uint64_t *end_ns)
{
	const struct fleet_span *stays = l->presences.data;
	size_t n = l->presences.n, next;

	while (at < n && (stays[at].cpu < s->cpu ||
			  (stays[at].cpu == s->cpu && stays[at].end_ns <= s->start_ns)))
		at++;
	*end_ns = 0;
	if (at == n || stays[at].cpu != s->cpu || stays[at].start_ns > s->start_ns ||
	    stays[at].app != s->app)
		return at;
	*end_ns = stays[at].end_ns;
	for (next = at + 1; next < n && *end_ns < s->end_ns && stays[next].cpu == s->cpu &&
			    stays[next].app == s->app && stays[next].start_ns == *end_ns;
	     next++)
		*end_ns = stays[next].end_ns;
	return at;
}

void fleet_ipc_deliver(struct fleet_ipc *f, struct fleet_live *l)
{
	uint64_t end_ns;
	size_t at = 0;

	vec_sort(&f->samples, by_cpu);
	vec_sort(&l->presences, by_cpu_too);
	vec_for_each (&f->samples, const struct fleet_ipc_sample, s) {
		at = find_stay(l, at, s, &end_ns);
		if (end_ns < s->end_ns) {
			f->mixed++;
			continue;
		}
		for (uint32_t i = 0; i < f->n; i++)
			fleet_live_took(l, &(struct fleet_span){
						   .cpu = s->cpu,
						   .app = s->app,
						   .indicator = f->indicators[i],
						   .value = s->values[i],
						   .start_ns = s->start_ns,
						   .end_ns = s->end_ns,
					   });
	}
	f->samples.n = 0;
}

void fleet_ipc_release(struct fleet_ipc *f)
{
	vec_release(&f->samples);
}
