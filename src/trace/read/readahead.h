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

/* fill() is called in the thread until it leaves a batch empty. NULL: no second CPU, no thread. */
struct readahead *readahead_new(void (*fill)(void *ctx, struct batch *batch), void *ctx);
/* The next batch, valid until the next call; an empty one from the end on. */
struct batch *readahead_next(struct readahead *a);
void readahead_free(struct readahead *a); /* also in the middle; NULL is fine */

#endif
