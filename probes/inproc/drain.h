/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes what the regions of in-process producers have (inproc.h) to the file: finds new regions in
 * the directory, merges the records of all rings by time, finds the time of every loss, and names
 * what ids stand for. A region belongs to the program, so its contents are checked before they are
 * used.
 */
#ifndef ISPOT_PROBES_INPROC_DRAIN_H
#define ISPOT_PROBES_INPROC_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/inproc/guarded.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "probes/inproc/inproc.h"
#include "probes/inproc/whose.h"

struct arguments;
struct drain_addresses;
struct drain_stacks;
struct err;
struct keep;
struct trace_writer;
#define INPROC_COLLECTIONS    64
#define INPROC_GAPS	      16
#define INPROC_UNKNOWN_CALLER 1 /* of a struct wire_call; 0 is that of a marker */
struct inproc_region {
	pid_t pid;   /* process number here if is_checked (whose.h), else as named */
	pid_t named; /* process number that the program claims */
	bool is_checked;
	uid_t owner;		      /* user in whose directory it is */
	struct guarded *memory;	      /* the mapping; NULL: refused */
	struct inproc_header header;  /* as it was when it was checked */
	struct inproc_header *shared; /* mapped; NULL: refused or given up */
	struct inproc_slot *slots;
	const char *names;
	const char *rings;
	char *rows; /* of a stamped region; NULL: every call is recorded */
	uint64_t names_read;
	uint64_t paused_ns; /* when all its threads were stopped; 0: they run */
	struct inproc_pause {
		uint64_t start_ns, end_ns;
	} collections[INPROC_COLLECTIONS]; /* the latest ones */
	uint32_t n_collections;		   /* collections so far */
	uint32_t object;
	uint32_t lock_function; /* the file's id of the function for waits (lock.h); MAP_NONE: none
				   yet */
	struct inproc_seen {
		uint64_t lost, last_ns; /* losses in the file so far; time of the newest record */
		uint32_t tid;		/* thread whose records were read last; 0: none */
		uint32_t stack;		/* stack of the call that the next exit ends; 0: none */
		uint32_t depth;		/* open calls */
		uint32_t tgid;		/* process of tid */
		bool is_named;
		uint64_t counts[INPROC_COUNTS_MAX]; /* the counters' values so far */
		uint32_t counted; /* bits: counters that were read since the last entry or exit */
		/*
		 * With INPROC_CYCLES: the number of records read from the ring; since when the next
		 * one is missing although later ones are there, or 0; and whether its thread has
		 * ended, and its ring is empty since.
		 */
		uint64_t at, missing_since_ns;
		bool is_gone, is_read;
		uint64_t alive_ns; /* when its thread was last alive */
		/* gaps ahead of `at`: records that the thread has counted as lost */
		struct inproc_gap {
			uint64_t from, to, n; /* n records are missing after the one before from,
						 and before to */
			uint64_t since_ns;    /* time of the record before from; 0: not read yet */
		} gaps[INPROC_GAPS];
		uint32_t n_gaps;
		uint64_t n_missing;	    /* records missing in all gaps */
		uint64_t tail, tail_before; /* the tail that the thread knows; the one before */
		/* The ring's memory (ringmemory.h): for how many records it has some; the position
		 * before which it was given back at once; whether it is given back after each read,
		 * and from which position on. */
		uint64_t held, emptied, gives_since;
		bool gives_back;
		uint64_t free_since_ns; /* when its last thread had ended */
		uint64_t run_at;	/* value of at when the run began */
	} * seen;			/* [slot], for the rings that are read */
	uint32_t n_rings;		/* rings that are read, from the first one on */
	uint64_t records;		/* including lost ones */
	bool is_stamped;		/* INPROC_CYCLES: ids are the file's */
	uint32_t n_functions;		/* if is_stamped: ids are below this */
	uint32_t large_rings;		/* if is_stamped: see inproc_large_rings() */
	uint32_t pair_ns;	/* if is_stamped: cost of an entry and an exit; 0: unknown */
	double passed_ns;	/* cost of a call that is not recorded */
	double page_ns;		/* cost of the first record in a page of a ring */
	double values_ns;	/* cost of a recorded argument or returned value */
	uint64_t valued;	/* how many of these were recorded */
	uint64_t first_records; /* where a ring had no record before */
	uint64_t passed;	/* calls that were not recorded, as written so far */
	struct {
		VEC(uint32_t)
	} ids, frames, stacks; /* [the producer's id]: the file's id, MAP_NONE */
	bool is_cost_written;  /* its calibration is in the file */
	uint32_t n_locks;      /* locks named so far; their numbers start from 1 */
	uint32_t n_notices;    /* messages to the user so far */
};

/* Methods that were left alone for the same reason. */
struct inproc_left {
	uint64_t n;
	char *first; /* name of the first one */
};

/* A ring with records. Rings are merged by the times of their next records. */
struct inproc_cursor {
	uint32_t region, slot;
	uint64_t at, end, time_ns; /* at, end: in the ring, or in `slice` for a stamped region */
};

/* A record that was read from a stamped ring. */
struct inproc_stamped_record {
	uint64_t time_ns;
	uint32_t what, sp; /* as in struct inproc_stamp */
	uint32_t order;	   /* position in its ring */
	uint32_t values;   /* index among the slice's values, counted from 1; 0: none */
};

/* Arguments of a call, or the value that it returned. */
struct inproc_values {
	uint32_t mask; /* bit i: value i was recorded */
	uint64_t all[INPROC_VALUES];
};

struct inproc_drain {
	const char *directory; /* has the users' directories (inproc.h) */
	uint64_t ring_bytes;   /* of each ring, as producers were told */
	uint32_t cpu; /* of the records: a number that no CPU has, as the real one is unknown */
	uint32_t n_counts;    /* counters of each call */
	bool kernel_has_ends; /* the kernel's records have the ends of threads */
	struct trace_writer *writer;
	struct {
		VEC(struct inproc_region)
	} regions;
	struct {
		VEC(struct inproc_cursor)
	} heap;
	struct strtab functions; /* names and signatures, by the file's ids */
	struct strtab left_reasons;
	struct {
		VEC(struct inproc_left)
	} left; /* [reason] */
	uint64_t calls, records, lost_records, pauses, pause_ns, waited;
	/* Entries and exits of stamped regions whose values were wanted and are missing. */
	uint64_t without_values;
	/* [function], of stamped regions: the recorded arguments; NULL: none, or of no function */
	const struct arguments **arguments;
	struct drain_addresses *addresses; /* arguments that are addresses; NULL: not kept */
	struct drain_stacks *sites;	   /* call sites; NULL: not kept */
	uint64_t *calls_of;		   /* [function], of stamped regions; NULL: not counted */
	uint64_t *last_of_ns; /* [function]: time of its latest record; NULL: not counted */
	uint32_t n_calls_of;
	struct inproc_quota quota_most; /* what each user may have at first */
	struct {
		VEC(struct inproc_quota)
	} quotas;				/* what is left for each user who has regions */
	uint64_t unchecked_regions;		/* whose process was not found */
	uint64_t unread_rings;			/* of users who have used up their rings */
	uint64_t full_users;			/* users who have more regions than are read */
	uint64_t refused_regions, torn_regions; /* torn: the program made its file shorter */
	struct strtab frames;			/* places, by the file's ids */
	uint32_t n_stacks;	   /* stacks in the file so far; their ids start from 1 */
	struct keep *keep;	   /* NULL: every call is written */
	uint64_t slower_ns;	   /* with keep: shorter hold times are not written, either */
	uint64_t rest_ns;	   /* time of the records for what keep left out */
	uint64_t run_records;	   /* records of one run, at most */
	uint64_t ring_memory;	   /* bytes that all stamped rings have (ringmemory.h) */
	uint64_t ring_memory_most; /* bytes that they may keep; 0: no limit */
	uint64_t names_bytes, names_bytes_max; /* of all regions, and of their tables of ids */
	struct {
		VEC(struct inproc_stamped_record)
	} slice; /* records of this slice */
	struct {
		VEC(struct inproc_values)
	} values;		       /* of this slice's records */
	struct clock_pair first, last; /* both clocks at the beginning, and at this run */
	struct clock_pair before;      /* both clocks at the run before */
	double ns_per_cycle;	       /* between before and last */
	/* End of the current slice of a run; length of slices; records of the run's earlier
	 * slices. */
	uint64_t until_cycles, slice_cycles, run_read;
	uint64_t turn_ns;	     /* estimated time until the fullest ring is an eighth full */
	uint64_t threads_checked_ns; /* when threads were last checked */
	bool busy;   /* a ring was more than a quarter full, so the next run should be soon */
	bool behind; /* the last run left records in the rings, as there were too many */
	int error;   /* the writer's first error */
};

void inproc_drain_init(struct inproc_drain *d, const char *directory, uint64_t ring_bytes,
		       struct trace_writer *w);
/* Counts the calls of each function of stamped regions; called before the first run. */
void inproc_drain_count_functions(struct inproc_drain *d, uint32_t n_functions);
/* Writes the records that there are now, or the oldest ones if there are too many; the next run
 * continues with the rest. Returns 0, or the writer's error. */
int inproc_drain_run(struct inproc_drain *d);
/* Called if the log of the Java machine shows that all threads were stopped. Ignored if a
 * collection stopped them, which the agent has recorded. */
void inproc_drain_safepoint(struct inproc_drain *d, pid_t pid, uint64_t end_ns, uint64_t ns);
/* Notes in all regions that no more records are wanted. */
void inproc_drain_stop(struct inproc_drain *d);
/* Called after the last run. Writes losses that no record showed. */
void inproc_drain_finish(struct inproc_drain *d, uint64_t now_ns);
/* Returns the number of lost records that are known so far: those in the file, and those that
 * threads have counted and that come after a record that is not read yet. */
uint64_t inproc_drain_lost(const struct inproc_drain *d);
/* Returns whether stamped rings have lost more records than were read. Then what the lost calls
 * cost is unknown. */
bool inproc_drain_lost_most(const struct inproc_drain *d);
/* Returns what recording has cost the program, by its producers' cost of a call, or UINT64_MAX if
 * they do not know it. */
uint64_t inproc_drain_cost_ns(const struct inproc_drain *d);
/* Returns the part of it that the first records in the pages of rings have cost. */
double inproc_drain_pages_ns(const struct inproc_drain *d);
/* Returns the number of left-alone methods, and of messages to the user, for which there was no
 * room. */
uint64_t inproc_drain_unnamed(const struct inproc_drain *d);
void inproc_drain_release(struct inproc_drain *d);
/* The result is valid until the next call. */
struct inproc_quota *inproc_quota_of(struct inproc_drain *d, uid_t owner);

/* Writes that n records of the thread are missing before time_ns. */
void inproc_write_lost(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		       uint64_t n, uint64_t time_ns);

#endif
