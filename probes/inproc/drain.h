/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the regions of in-process producers (inproc.h) to the file: finds new regions in the
 * directory, merges the records of all rings by time, places every loss, names what ids stand for.
 * What a region says is checked before it is used: it belongs to the program.
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

struct err;
struct keep;
struct trace_writer;
#define INPROC_COLLECTIONS 64
#define INPROC_GAPS	   16
struct inproc_region {
	pid_t pid;   /* here, if that is checked (whose.h); else as named */
	pid_t named; /* by its program */
	bool is_checked;
	uid_t owner;		      /* in whose directory it is */
	struct guarded *memory;	      /* mapped; NULL: refused */
	struct inproc_header header;  /* as it was when it was checked */
	struct inproc_header *shared; /* mapped */
	struct inproc_slot *slots;
	const char *names;
	const char *rings;
	char *rows; /* of a stamped region; NULL: each call is recorded */
	uint64_t names_read;
	uint64_t paused_ns; /* since when all its threads are stopped; 0: they run */
	struct inproc_pause {
		uint64_t start_ns, end_ns;
	} collections[INPROC_COLLECTIONS]; /* the latest */
	uint32_t n_collections;		   /* so far */
	uint32_t object;
	uint32_t lock_function; /* the file's id of what waits for its locks; MAP_NONE: none yet */
	struct inproc_seen {
		uint64_t lost, last_ns; /* told; of the newest record */
		uint32_t tid;		/* whose records were read last; 0: nobody's */
		uint32_t stack;		/* of the call that its exit ends next; 0: none */
		uint32_t depth;		/* calls that are open */
		uint32_t tgid;		/* of tid */
		bool is_named;
		uint64_t counts[INPROC_COUNTS_MAX]; /* what its counters have said so far */
		uint32_t counted;		    /* bits: said before the next entry or exit */
		/* with INPROC_CYCLES: records taken out of the ring; since when the next one is
		 * missing while others behind it are there, 0: it is not; its thread is gone, and
		 * nothing was in its ring since */
		uint64_t at, missing_since_ns;
		bool is_gone, is_read;
		uint64_t alive_ns; /* when its thread was seen last */
		/* where records are missing that its thread has counted, ahead of `at` */
		struct inproc_gap {
			uint64_t from, to, n; /* n between the records before from, and to */
			uint64_t since_ns;    /* of the one before from; 0: not read yet */
		} gaps[INPROC_GAPS];
		uint32_t n_gaps;
		uint64_t n_missing;   /* in all of them */
		uint64_t tail_before; /* the tail before the present one */
		uint64_t run_at;      /* at, when the run began */
	} * seen;		      /* [slot], of those that are read */
	uint32_t n_rings;	      /* that are read: the first ones */
	uint64_t records;	      /* lost ones, too */
	bool is_stamped;	      /* INPROC_CYCLES: ids are the file's */
	uint32_t n_functions;	      /* then: ids are below */
	uint32_t pair_ns;	      /* then: what an entry and an exit cost; 0: not known */
	double passed_ns;	      /* and a call that was not recorded */
	uint64_t passed;	      /* so many were not, of those that have been told */
	struct {
		VEC(uint32_t)
	} ids, frames, stacks; /* [its id]: the file's, MAP_NONE */
	bool cost_is_told;     /* its calibration is in the file */
	uint32_t n_locks;      /* named, from 1 on */
	uint32_t n_notices;    /* its words to the user so far */
};

/* Methods left alone for the same reason. */
struct inproc_left {
	uint64_t n;
	char *first; /* its name */
};

/* A ring that has records: merged by the time of its next one. */
struct inproc_cursor {
	uint32_t region, slot;
	uint64_t at, end, time_ns; /* at, end: in the ring; in `taken` of a stamped region */
};

/* A record that was taken out of a stamped ring. */
struct inproc_taken {
	uint64_t time_ns;
	uint32_t what, sp; /* as of struct inproc_stamp */
	uint32_t order;	   /* in its ring */
};

struct inproc_drain {
	const char *directory; /* of inproc.h: the users' directories are in it */
	uint64_t ring_bytes;   /* of each ring, as its producers were asked for */
	uint32_t cpu;	   /* of the records: one that no other has, as which it was is not known */
	uint32_t n_counts; /* counters that calls have */
	bool ends_are_told; /* of threads: the kernel's records say when they are */
	struct trace_writer *writer;
	struct {
		VEC(struct inproc_region)
	} regions;
	struct {
		VEC(struct inproc_cursor)
	} heap;
	struct strtab functions; /* names and signatures: the file's ids */
	struct strtab left_reasons;
	struct {
		VEC(struct inproc_left)
	} left; /* [reason] */
	uint64_t calls, records, lost_records, pauses, pause_ns, waited;
	uint64_t *calls_of; /* [function] of stamped regions; NULL: nobody asks for them */
	uint32_t n_calls_of;
	struct inproc_looks looks_most; /* of each user */
	struct {
		VEC(struct inproc_looks)
	} looks;		    /* for the processes of regions: of the users that have some */
	uint64_t unchecked_regions; /* whose process was not found */
	uint64_t unread_rings;	    /* of users who have used up theirs */
	uint64_t full_users;	    /* who have more regions than are read of one */
	uint64_t refused_regions, torn_regions; /* torn: the program made its file shorter */
	struct strtab frames;			/* places: the file's ids */
	uint32_t n_stacks;			/* the file's ids so far, from 1 on */
	struct keep *keep;			/* NULL: every call is written */
	uint64_t slower_ns;		       /* with it: locks that were held for less, neither */
	uint64_t rest_ns;		       /* when what it left out is written */
	uint64_t run_records;		       /* of one run, at most */
	uint64_t names_bytes, names_bytes_max; /* of all regions, with the tables of their ids */
	struct {
		VEC(struct inproc_taken)
	} taken;		       /* of this run */
	struct clock_pair first, last; /* both clocks: at the begin; at this run */
	struct clock_pair before;      /* and at the one before */
	double ns_per_cycle;	       /* between these two */
	/* of a run, the part that is read at once, and how long such parts are */
	uint64_t until_cycles, slice_cycles, run_taken;
	uint64_t turn_ns; /* until the fullest ring is an eighth full, by the last run */
	uint64_t looked_at_threads_ns; /* whether they live */
	bool busy;		       /* a ring was more than a quarter full: come back soon */
	bool behind; /* the last run left records of its own in the rings: there were too many */
	int error;   /* the writer's, sticky */
};

void inproc_drain_init(struct inproc_drain *d, const char *directory, uint64_t ring_bytes,
		       struct trace_writer *w);
/* Before the first run: calls of each function of stamped regions are counted. */
void inproc_drain_count_functions(struct inproc_drain *d, uint32_t n_functions);
/* What is there now, or the oldest records of it if there are too many: the next run goes on with
 * them. 0, or the writer's error. */
int inproc_drain_run(struct inproc_drain *d);
/* All threads were stopped, as the machine's log says: unless it was for a collection, which its
 * agent has told. */
void inproc_drain_safepoint(struct inproc_drain *d, pid_t pid, uint64_t end_ns, uint64_t ns);
/* Records are wanted no more. */
void inproc_drain_stop(struct inproc_drain *d);
/* After the last run: losses that no record told. */
void inproc_drain_finish(struct inproc_drain *d, uint64_t now_ns);
/* Whether more was lost than read of what code in the program stamps: what these calls cost that
 * left nothing nobody has measured. */
bool inproc_drain_lost_most(const struct inproc_drain *d);
/* What recording has cost the program, by what its producers say of a call; UINT64_MAX: they do
 * not. */
uint64_t inproc_drain_cost_ns(const struct inproc_drain *d);
/* Methods that were left alone, and words to the user, that found no room. */
uint64_t inproc_drain_unnamed(const struct inproc_drain *d);
void inproc_drain_release(struct inproc_drain *d);
/* Borrowed until the next call. */
struct inproc_looks *inproc_looks_of(struct inproc_drain *d, uid_t owner);

/* n records of the thread are missing before time_ns. */
void inproc_put_lost(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		     uint64_t n, uint64_t time_ns);

#endif
