/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace that is in no file: what a writer is given waits here until it is read, in the order in
 * which a reader of the file would give it, and is then forgotten. For views of a recording that
 * runs. Memory: what came since the last reading.
 *
 * The kernel's CPUs are drained one after the other, so a record may come after later ones of
 * another CPU: read up to a moment that lies before the last draining began. What comes later than
 * that is given out of order, as a reader gives damage.
 */
#ifndef ISPOT_TRACE_WRITE_LIVE_H
#define ISPOT_TRACE_WRITE_LIVE_H

#include <stddef.h>
#include <stdint.h>

struct live;
struct meta;
struct record;

struct live *live_new(uint32_t n_cpus);
void live_free(struct live *l); /* NULL is fine */

/* For the writer; both copy their arguments. */
int live_write(struct live *l, const struct record *r); /* -EINVAL: the CPU does not exist */
void live_write_meta(struct live *l, const char *line, size_t n);

/*
 * Returns the meta lines so far, as the reader of a file has them. They grow: items of tables move
 * when lines of their kind are added, except where a later line replaces one.
 */
const struct meta *live_meta(struct live *l);
/*
 * Calls record for every record up to until_ns, in time order over all CPUs (ties: lower CPU
 * first).
 */
void live_read(struct live *l, uint64_t until_ns, void (*record)(void *ctx, const struct record *r),
	       void *ctx);

#endif
