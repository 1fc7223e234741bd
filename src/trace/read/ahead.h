/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads ahead in a thread of its own: decompressing, checking and decoding take a third of the
 * time of an analysis. A ring of AHEAD_BATCHES batches, whose memory is all that it takes. What
 * fills them belongs to the thread from ahead_new() to ahead_free().
 */
#ifndef ISPOT_TRACE_READ_AHEAD_H
#define ISPOT_TRACE_READ_AHEAD_H

struct ahead;
struct batch;

#define AHEAD_BATCHES 32

/* fill() is called in the thread until it leaves a batch empty. NULL: no second CPU, no thread. */
struct ahead *ahead_new(void (*fill)(void *ctx, struct batch *batch), void *ctx);
/* The next batch, valid until the next call; an empty one from the end on. */
struct batch *ahead_next(struct ahead *a);
void ahead_free(struct ahead *a); /* also in the middle; NULL is fine */

#endif
