/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads ahead in a thread of its own: decompressing, checking and decoding take a third of the
 * time of an analysis. A ring of READAHEAD_BATCHES batches, whose memory is all that it takes. What
 * fills them belongs to the thread from readahead_new() to readahead_free().
 */
#ifndef ISPOT_TRACE_READ_READAHEAD_H
#define ISPOT_TRACE_READ_READAHEAD_H

struct readahead;
struct batch;

#define READAHEAD_BATCHES 32

/*
 * Starts a thread that calls fill() until it leaves a batch empty. Returns NULL if there is no
 * second CPU or the thread cannot be started.
 */
struct readahead *readahead_new(void (*fill)(void *ctx, struct batch *batch), void *ctx);
/* Returns the next batch, valid until the next call; at the end an empty one. */
struct batch *readahead_next(struct readahead *a);
void readahead_free(struct readahead *a); /* may be called before the end; NULL is fine */

#endif
