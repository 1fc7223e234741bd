/* SPDX-License-Identifier: MIT */
/*
 * The log of a program that counts its edges. runtime.c writes a file for each thread, and
 * edges/edges.c reads them. A file has a header and records. A record begins with its kind and
 * size, and its contents are in units of 8 bytes. It is written in memory that is mapped from the
 * file, so it is complete however the program ends.
 *
 * An edge leads from one instrumented block to the next one that the thread reached. A block is
 * identified by the address after its call of the runtime. A cut ends a thread's part of a section;
 * its counts are those since the previous cut.
 */
#ifndef ISPOT_PROBES_EDGES_RUNTIME_LOG_H
#define ISPOT_PROBES_EDGES_RUNTIME_LOG_H

#include <stdint.h>

#define EDGES_ENVIRONMENT "ISPOT_EDGES"		/* the directory of the files */
#define EDGES_MAGIC	  0x3273656764655349ull /* "ISedges2" */
#define EDGES_UNKNOWN	  UINT64_MAX
#define EDGES_NOBODY	  UINT32_MAX

enum edges_kind { EDGES_MODULE = 1, EDGES_EDGE, EDGES_CUT, EDGES_MADE, EDGES_AWAITED };

/* The place of a cut. */
enum edges_end {
	EDGES_BARRIER, /* before it waits there */
	EDGES_BODY,    /* after the body of an OpenMP region */
	EDGES_THREAD,  /* at the thread's end */
};

struct edges_header {
	uint64_t magic, used; /* used: bytes of complete records after the header */
	uint32_t pid, tid;
	uint32_t full;	 /* there was no room for further records */
	uint32_t missed; /* in the log of the process's first thread: threads without a log */
	/* Threads are numbered within the process. number: of this thread; maker: of the thread
	 * that created it, EDGES_NOBODY if unknown; made: its rank among those that the maker
	 * created, from 0. */
	uint32_t number, maker, made;
	uint32_t reserved;
	uint64_t thread;   /* what pthread_self() returns */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
};

struct edges_record {
	uint32_t kind, bytes;
};

/* Code from start to end, of the file whose path follows, NUL-terminated. bias: an address in
 * memory less that in the file. */
struct edges_module {
	struct edges_record record;
	uint64_t bias, start, end;
};

/* Edges are numbered from 0 in the order of their records. from 0: the thread's first edge. */
struct edges_edge {
	struct edges_record record;
	uint64_t from, to;
};

struct edges_count {
	uint64_t edge, count;
};

/* n counts follow. */
struct edges_cut {
	struct edges_record record;
	uint32_t end, n;
	uint64_t site;	 /* place after the barrier's call, or the body's function, or 0 */
	uint64_t object; /* the barrier's address, or a number of the region */
	uint64_t begin_ns, end_ns, leave_ns; /* CLOCK_MONOTONIC; leave_ns 0: it still waits */
	uint64_t cpu_ns, cpu_wait_ns; /* from begin to end: on a CPU; runnable without one, or
					 EDGES_UNKNOWN */
	uint64_t sleeps;	      /* from begin to end: how often it gave up its CPU */
};

/* This thread made another one, its made-th from 0. */
struct edges_made {
	struct edges_record record;
	uint64_t made, time_ns; /* time before it was created */
};

/* The thread waited for the end of another one, which has ended. */
struct edges_awaited {
	struct edges_record record;
	uint64_t thread;  /* what pthread_self() returns in the other thread */
	uint64_t site;	  /* place after the call that waited */
	uint64_t time_ns; /* when the wait ended */
};

#endif
