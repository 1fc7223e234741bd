/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ispot.data, the numbers of the format (ispot.data(5) is the prose).
 *
 * The file is a row of zstd frames and nothing else, so `zstd -dc ispot.data` reads it. Each
 * frame is one chunk: a struct chunk_header, then its body. The last frame of a file that was
 * closed is the documented zstd seekable-format table (a skippable frame). A file without it
 * (killed recorder) is read by walking the frames; a frame cut off at the end is left out and said.
 *
 *	CHUNK_META    lines of JSON, one object each with a "kind" (meta.h); any number of
 *	              them, anywhere; what is known at the start comes first, the rest later
 *	CHUNK_EVENTS  the records of one CPU, in time order; successive event chunks of a CPU
 *	              do not overlap in time
 *	CHUNK_LATE    the same of those records of a CPU that were written after others stamped
 *	              later (their thread was interrupted in between): to be merged into them
 *
 * A record in an event chunk is a row of LEB128 varints (z: zigzag for signed):
 *
 *	head            low two bits REC_ENTRY, REC_EXIT, REC_THREAD, or 3: extended
 *	REC_ENTRY/EXIT  head = id << 2 | kind; z(time delta); z((sp - previous sp) / 8)
 *	REC_THREAD      head = tid << 2 | kind; tgid: records after it belong to this thread
 *	extended        head = kind << 2 | 3; z(time delta); payload length in bytes; payload
 *
 * An entry's id from SITE_ID_FIRST on is a call site (meta kind "site"): which function was
 * entered, and the stack of the place that called it. Its exit has the function's id.
 *
 * The time delta is to the previous record of the chunk, the first to chunk_header.time_first_ns.
 * previous sp starts at 0 in each chunk. Readers skip extended kinds they do not know.
 */
#ifndef ISPOT_TRACE_FORMAT_H
#define ISPOT_TRACE_FORMAT_H

#include <stdint.h>

#include "trace/waiting.h"

#define TRACE_MAGIC   0x74637369u /* "isct": first bytes of every decompressed chunk */
#define TRACE_VERSION 1

enum chunk_kind { CHUNK_META = 1, CHUNK_EVENTS = 2, CHUNK_LATE = 3 };

/* Little-endian, 48 bytes. */
struct chunk_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t cpu;		/* events: the CPU; meta: 0 */
	uint32_t n_records;	/* events: records, REC_THREAD not counted; meta: lines */
	uint64_t time_first_ns; /* events: CLOCK_MONOTONIC of the first record; meta: 0 */
	uint64_t time_last_ns;	/* of the latest record */
	uint64_t body_bytes;	/* behind this header, uncompressed; at most CHUNK_BODY_MAX */
	uint32_t body_crc;	/* CRC-32 (zlib's) of the body */
	uint32_t header_crc; /* CRC-32 of the 44 bytes before it: a damaged body still has a place
				and a count */
};

#define SITE_ID_FIRST (1u << 20)
#define SITES_MAX     65536 /* of a recording; calls of further ones are recorded without */

#define CHUNK_BODY_MAX (64u << 20)

enum record_kind {
	REC_ENTRY = 0,
	REC_EXIT = 1,
	REC_THREAD = 2, /* encoding only, readers never hand it out */
	/* extended; the payload's varints in order: */
	REC_SWITCH_OUT = 16, /* state: enum switch_state; next tid (0: idle); next tgid; how often
				the thread has left a CPU so far (0: not known) */
	REC_SWITCH_IN = 17,  /* who had the CPU before: enum switch_before; the same count */
	REC_FORK =
		18, /* by the parent: child tid, child tgid (equal tgids: a new thread); address of
		       the word that the kernel clears at the thread's end (0: none, or not known):
		       a later thread has the same only if this one was joined or is detached */
	REC_TASK_EXIT = 19, /* nothing: the thread ended */
	REC_COMM = 20,	    /* the rest: the thread's new name, raw bytes */
	REC_EXEC = 21,	    /* the rest: path as the kernel was given it */
	REC_LOST = 22, /* count (0: unknown); the time in ns since which records may be missing; 1:
			  only of this thread (one that has its own buffer; thread 0: of some that
			  have no records), 0: of this CPU */
	REC_SET_ON = 23,  /* set id, tgid (0: every process): its probes fire from now on */
	REC_SET_OFF = 24, /* set id, tgid */
	REC_SAMPLE = 25,  /* weight ns; ip; stack id (0: none; meta kind "stack") */
	REC_WAKING = 26,  /* by the waker (tid 0: no thread): woken tid; enum waking_how; the count
			     of a REC_SWITCH_OUT, of the woken thread */
	REC_FAULTS =
		27, /* minor faults, major faults of the thread since its previous REC_FAULTS */
	REC_BLOCK_STACK = 28, /* z(stack id): call stack the thread blocked with, follows its
				 REC_SWITCH_OUT */
	REC_STACK = 29,	      /* stack id: call stack of the entry just before on this thread */
	REC_ARGS = 30, /* mask of enum arg_bit, then one varint per bit: values at the entry just
			  before on this thread; with ARG_RETURN: at the exit just behind */
	REC_COUNTERS = 31,   /* mask, then one varint per bit: counter values at the entry or exit
				just before */
	REC_CALL_COUNT = 32, /* probe id, calls of this thread not recorded since the previous
				(sampling); how many of these were inside no other call of it */
	REC_WAIT = 33,	/* enum wait_kind; system call number + 1 (0: none); what is waited for:
			   futex address, inode (file, pipe, socket), 0; bits enum wait_how; futex:
			   the value that its word was to keep. Follows its REC_SWITCH_OUT */
	REC_INNER = 34, /* nothing: the entry just behind on this thread is inside another call of
			   its function, which sampling left out */
	REC_BRIEF = 35, /* of calls of this thread that were too short to be written
			   (--keep-slower), when it ends or the recording does: probe id; calls; how
			   many of these were inside no other call of it; of those: sum of their
			   durations, the least, traced calls inside; of all: sum of their own
			   times, the least; time inside no other traced call; of the outer ones so
			   many under 64 ns, 128 ns, … each; behind all of these what probing the
			   calls inside the outer ones cost (0 in older files) */
	REC_INSIDE =
		36,	/* of the exit that follows on this thread: such calls inside, their time */
	REC_PAUSE = 37, /* ns; enum pause_kind: the runtime of the process (a Java machine) had
			   stopped all its threads for so long until now */
	REC_CONTENDED = 38,  /* ns that this thread waited, as another one held it, for the lock of
				the call whose entry has the same time */
	REC_EXIT_STACK = 39, /* stack id: call stack of the call that the exit just behind on this
				thread ends, as at its entry; taken because it lasted long, so
				these do not say how often calls came from where */
	REC_HELD = 40, /* lock, as an argument of the calls that wait for it; ns that this thread
			  has held it until now, when it gives it back and another thread waits for
			  it. Where it was taken: the innermost open call that holds a lock */
	REC_SWITCHES_OFF = 41, /* nothing: from now on, switches and wakeups have no records */
	REC_SWITCHES_ON = 42,  /* how often threads have left a CPU since the REC_SWITCHES_OFF, and
				  how many wakeups there were, without records */
};

#define REC_KIND_LAST REC_SWITCHES_ON

enum pause_kind {
	PAUSE_COLLECTION = 1, /* of garbage */
	PAUSE_SAFEPOINT = 2,  /* for another reason */
};

#define BRIEF_FIXED   9	 /* values of a REC_BRIEF before its octaves */
#define BRIEF_OCTAVES 26 /* the last is of all that are longer */
#define BRIEF_BITS    6	 /* the first ends at 2^6 ns */

enum arg_bit {
	ARG_FIRST = 0,	/* bits 0..7: integer arguments 1..8 */
	ARG_CALLER = 8, /* the call's site, from its return address, as the id of a stack: the
			   calling place and what it was inlined into. The same place may have
			   several ids (one a process) */
	ARG_RETURN = 9, /* of the exit that follows: the return value */
	ARG_BITS = 10,
};

enum switch_before {
	SWITCH_AFTER_UNKNOWN = 0,
	SWITCH_AFTER_IDLE = 1, /* nobody: an idle CPU had to be woken; n + 1: process n */
};

enum switch_state {
	SWITCH_PREEMPTED = 0, /* runnable, without a CPU */
	SWITCH_SLEEPING = 1,  /* TASK_INTERRUPTIBLE */
	SWITCH_BLOCKED = 2,   /* TASK_UNINTERRUPTIBLE */
	SWITCH_OTHER = 3,     /* stopped, traced, dead */
	SWITCH_YIELDED = 4,   /* as preempted, but the thread gave the CPU up (sched_yield) */
};

#endif
