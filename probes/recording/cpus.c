/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/cpus.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/recording/mappings.h"
#include "probes/recording/meta.h"
#include "probes/recording/recording.h"

static bool has_ring(const struct recording *r, uint32_t cpu)
{
	for (uint32_t i = 0; i < r->rings.n; i++)
		if (r->rings.rings[i].cpu == cpu)
			return true;
	return false;
}

/*
 * Opens the mapping events on the new set of CPUs. The old rings are read last, so that no mapping
 * is missed.
 */
static void watch_mappings_again(struct recording *r)
{
	struct rings old = r->mappings;
	struct err err = { 0 };

	if (mappings_watch(r, &err)) {
		rings_release(&r->mappings);
		r->mappings = old;
		recording_write_notice(r, "cpus", err.text);
		return;
	}
	drain_mappings(&r->drain, &old);
	r->drain.mappings_told = 0;
	rings_release(&old);
}

static void add_cpu(struct recording *r, uint32_t cpu, uint64_t since_ns)
{
	bool known = has_ring(r, cpu); /* the CPU was online before */
	int ret = known ? 0 : ringbufs_add(&r->rings, cpu);
	char words[200];

	drain_add_cpu(&r->drain, cpu, since_ns);
	snprintf(words, sizeof(words),
		 "CPU %u came online while recording: %sit has no samples and no counters", cpu,
		 known ? ""
		 : ret ? "calls there are lost (no ring could be made for it), and "
		       : "calls there are lost until it was seen, and ");
	recording_write_notice(r, "cpus", words);
}

uint64_t known_cpus_note(struct known_cpus *c)
{
	c->looked_ns = clock_now_ns();
	return c->looked_ns;
}

void known_cpus_check(struct known_cpus *c, struct recording *r)
{
	uint64_t since_ns = c->looked_ns;
	struct cpus before = r->cpus, now;

	if (!since_ns) /* nothing is watched yet */
		return;
	c->looked_ns = clock_now_ns();
	if (cpus_read(&now) || cpus_same(&now, &before))
		return;
	r->cpus = now;
	for (uint32_t i = 0; i < now.n; i++)
		if (!cpus_has(&before, now.online[i]))
			add_cpu(r, now.online[i], since_ns);
	watch_mappings_again(r);
}
