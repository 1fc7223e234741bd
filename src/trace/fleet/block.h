/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of samples of one machine: what ran on its CPUs for some seconds. It is the unit that a
 * fleet's data is made of: written at once, analysed by itself, and counted once.
 *
 * A track is a CPU's time in order. It has runs: an application that had the CPU without a gap, and
 * the samples that its time is cut into, back to back. A run without samples only says who was
 * there. Two tracks may be of the same CPU: one with the samples of a marker, say, and one with
 * everything that ran. The samples of a track are of one indicator. A block has those of all of
 * the file's indicators, so what they say of its stretch of time can be compared.
 *
 *	fleet_block_begin(&b, sequence, start_ns);
 *	app = fleet_block_app(&b, "xz");
 *	fleet_block_track(&b, cpu);
 *	fleet_block_run(&b, app, start_ns);
 *	fleet_block_sample(&b, length_ns, value);
 */
#ifndef ISPOT_TRACE_FLEET_BLOCK_H
#define ISPOT_TRACE_FLEET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct text;

#define FLEET_BLOCK_SAMPLES 32768      /* what writers put into one, runs that have none included */
#define FLEET_BLOCK_BYTES   (4u << 20) /* a body has no more */
#define FLEET_BLOCK_TRACKS  65536
#define FLEET_BLOCK_APPS    16384
#define FLEET_INDICATORS    8 /* a file has no more */

struct fleet_run {
	uint32_t app;	    /* number in the block's apps */
	uint32_t first, n;  /* its samples; n 0: none are known */
	uint32_t indicator; /* of its samples: number in the file's header */
	uint64_t start_ns, end_ns;
};

struct fleet_track {
	uint32_t cpu, first_run, n_runs;
	uint32_t indicator; /* of its samples; 0 if it has none */
};

struct fleet_sample {
	uint64_t end_ns; /* it begins where the one before ends, or its run begins */
	uint32_t value;	 /* of the indicator */
};

struct fleet_block {
	uint64_t sequence; /* in its file, from 0 */
	uint64_t start_ns; /* CLOCK_REALTIME; nothing in it is earlier */
	struct strtab apps;
	struct {
		VEC(struct fleet_track)
	} tracks;
	struct {
		VEC(struct fleet_run)
	} runs;
	struct {
		VEC(struct fleet_sample)
	} samples;
};

void fleet_block_begin(struct fleet_block *b, uint64_t sequence, uint64_t start_ns);
uint32_t fleet_block_app(struct fleet_block *b, const char *name);
void fleet_block_track(struct fleet_block *b, uint32_t cpu);
/* The same, of samples of an indicator other than the first. */
void fleet_block_track_of(struct fleet_block *b, uint32_t cpu, uint32_t indicator);
/* Not before the end of the track's previous run, which goes on if it is of the same application
 * and ends there. */
void fleet_block_run(struct fleet_block *b, uint32_t app, uint64_t start_ns);
void fleet_block_sample(struct fleet_block *b, uint64_t length_ns, uint32_t value);
/* A run without samples. */
void fleet_block_presence(struct fleet_block *b, uint32_t app, uint64_t start_ns, uint64_t end_ns);
void fleet_block_release(struct fleet_block *b);

static inline bool fleet_track_has_samples(const struct fleet_block *b,
					   const struct fleet_track *track)
{
	return track->n_runs && b->runs.data[track->first_run].n;
}

/* Which tracks say who had their CPU: those without samples, and where none is of that CPU, those
 * of one indicator. tellers: room for all tracks, or NULL; returns how many. */
size_t fleet_block_tellers(const struct fleet_block *b, uint32_t *tellers);

static inline uint64_t fleet_sample_start(const struct fleet_block *b, const struct fleet_run *run,
					  uint32_t sample)
{
	return sample == run->first ? run->start_ns : b->samples.data[sample - 1].end_ns;
}

/* The body of a block in a file of so many indicators, without its head; ispot-fleet(1) has the
 * layout. */
void fleet_block_pack(const struct fleet_block *b, uint32_t indicators, struct text *out);
/*
 * Fills a block that was begun; tracks without runs are left out. -EBADMSG: no such body, or one
 * that would take long to analyse, which no writer makes; the block is not to be used.
 */
int fleet_block_unpack(struct fleet_block *b, uint32_t indicators, const void *body, size_t n);
/* Returns how many of the block's samples are of an indicator. */
uint64_t fleet_block_count(const struct fleet_block *b, uint32_t indicator);

#endif
