/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/mappings.h"

#include <linux/perf_event.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text.h"
#include "probes/recording/meta.h"
#include "probes/recording/recording.h"

/* Bytes for each CPU; read at each turn of the loop. */
#define MAPPINGS_BYTES (256u << 10)

int mappings_watch(struct recording *r, struct err *err)
{
	const struct perf_event_attr mappings = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TIME,
	};

	return rings_open(&r->mappings, &r->cpus, MAPPINGS_BYTES, &mappings, err);
}

void mappings_unwatch(struct recording *r)
{
	drain_mappings(&r->drain, &r->mappings);
	rings_release(&r->mappings);
}

void mappings_report(struct recording *r)
{
	char mappings[TEXT_NUMBER], words[320];

	if (!r->drain.mappings_lost)
		return;
	snprintf(words, sizeof(words),
		 "the kernel dropped %s of new mappings, of all processes: libraries that a "
		 "program loaded late may be untraced, and their functions without names",
		 text_counted(mappings, r->drain.mappings_lost, "event"));
	log_detail("%s", words);
	recording_note(r, "lost-mappings", words);
}
