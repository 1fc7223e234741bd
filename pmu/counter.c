/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/counter.h"

#include <math.h>

#include "pmu/event.h"
#include "trace/meta/meta.h"

struct meta_counter pmu_counter(const struct pmu_event *e, uint32_t id, const char *why)
{
	return (struct meta_counter){
		.id = id,
		.name = e->name,
		.event = e->event,
		.role = e->role,
		.unit = e->unit,
		.source = pmu_source_name(e->source),
		.user_only = e->user && !e->kernel,
		.empty_mean = NAN,
		.why = why,
	};
}
