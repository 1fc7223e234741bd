/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPUs come online and go offline while a recording runs. A new CPU has no ring until ispot notices
 * it: the events that its programs drop meanwhile are counted as dropped, with their time. The
 * kernel's own events of a CPU end with the CPU, so those that report mappings are opened again.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "probes/session/internal.h"

static bool has_ring(const struct session *s, uint32_t cpu)
{
	for (uint32_t i = 0; i < s->r.rings.n; i++)
		if (s->r.rings.rings[i].cpu == cpu)
			return true;
	return false;
}

/*
 * Opens the mapping events on the new set of CPUs. The old rings are read last, so that no mapping
 * is missed.
 */
static void watch_mappings_again(struct session *s)
{
	struct rings old = s->r.mappings;
	struct err err = { 0 };

	if (session_watch_mappings(s, &err)) {
		rings_release(&s->r.mappings);
		s->r.mappings = old;
		session_write_notice(&s->r, "cpus", err.text);
		return;
	}
	drain_mappings(&s->r.drain, &old);
	s->r.drain.mappings_told = 0;
	rings_release(&old);
}

static void add_cpu(struct session *s, uint32_t cpu, uint64_t since_ns)
{
	bool known = has_ring(s, cpu); /* the CPU was online before */
	int ret = known ? 0 : ringbufs_add(&s->r.rings, cpu);
	char words[200];

	drain_add_cpu(&s->r.drain, cpu, since_ns);
	snprintf(words, sizeof(words),
		 "CPU %u came online while recording: %sit has no samples and no counters", cpu,
		 known ? ""
		 : ret ? "calls there are lost (no ring could be made for it), and "
		       : "calls there are lost until it was seen, and ");
	session_write_notice(&s->r, "cpus", words);
}

void session_look_for_cpus(struct session *s)
{
	uint64_t since_ns = s->cpus_looked_ns;
	struct cpus before = s->r.cpus, now;

	if (!since_ns) /* nothing is watched yet */
		return;
	s->cpus_looked_ns = clock_now_ns();
	if (cpus_read(&now) || cpus_same(&now, &before))
		return;
	s->r.cpus = now;
	for (uint32_t i = 0; i < now.n; i++)
		if (!cpus_has(&before, now.online[i]))
			add_cpu(s, now.online[i], since_ns);
	watch_mappings_again(s);
}
