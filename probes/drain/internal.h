/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by drain.c (rings, and all records but calls) and calls.c only. */
#ifndef ISPOT_PROBES_DRAIN_INTERNAL_H
#define ISPOT_PROBES_DRAIN_INTERNAL_H

#include "probes/drain/drain.h"

struct keep_entry;
struct record;

void drain_write(struct drain *d, const struct record *r);
void drain_write_values(struct drain *d, struct record *r, uint32_t n, uint64_t a, uint64_t b,
			uint64_t c);
struct record drain_record(const struct wire_head *h, uint32_t cpu, uint32_t kind);

/* calls.c: entries, exits, and the records that precede them. */
void drain_on_call(struct drain *d, const struct wire_call *call, uint32_t cpu);
void drain_on_stack(struct drain *d, const struct wire_stack *w, uint32_t cpu);
void drain_on_copy(struct drain *d, const struct wire_copy *w, uint32_t cpu);
void drain_on_wait_copy(struct drain *d, const struct wire_copy *w, uint32_t cpu);
void drain_on_args(struct drain *d, const struct wire_args *w, uint32_t cpu);
void drain_on_thread_end(struct drain *d, const struct wire_task *w, uint32_t cpu);
void drain_on_return(struct drain *d, const struct wire_args *w, uint32_t cpu);
/* Writes the records of a call that was slow enough (keep.h); ctx is the drain. */
void drain_write_held(void *ctx, uint32_t cpu, const struct keep_entry *e);
/*
 * Writes at the end what is left of calls that were held back: the entries of those under way, and
 * the sums of the others.
 */
void drain_write_rest_of_calls(struct drain *d, const struct ringbufs *rings, uint64_t now_ns);

#endif
