/* SPDX-License-Identifier: MIT */
/*
 * The log of a program that counts its edges: runtime.c writes it, a file per thread, edges/edges.c
 * reads it. A file is a header and records; a record begins with its kind and size, and its
 * contents come in units of 8 bytes. It is written in memory that is mapped from the file, so it is
 * there however the program ends.
 *
 * An edge leads from one instrumented block to the next one that the thread came to. Blocks are
 * known by the address behind their call of the runtime. A cut ends a thread's part of a section;
 * its counts are those since the previous one.
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
	EDGES_BODY,    /* behind the body of an OpenMP region */
	EDGES_THREAD,  /* the thread's own */
};

struct edges_header {
	uint64_t magic, used; /* used: bytes of finished records behind the header */
	uint32_t pid, tid;
	uint32_t full;	 /* there was no room for what follows */
	uint32_t missed; /* of the process's first thread: threads that were too many */
	/* Threads are numbered within the process. number: this thread's; maker: that of the thread
	 * which created it (EDGES_NOBODY: not known); made: its rank among all that the maker
	 * created, from 0. */
	uint32_t number, maker, made;
	uint32_t reserved;
	uint64_t thread;   /* what pthread_self() returns */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
};

struct edges_record {
	uint32_t kind, bytes;
};

/* Code from start to end, of the file at path (NUL-terminated), bias above the file's terms. */
struct edges_module {
	struct edges_record record;
	uint64_t bias, start, end;
};

/* Numbered from 0 in order; from 0: the thread's first. */
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
	uint64_t site;			     /* behind the barrier's call; the body's function; 0 */
	uint64_t object;		     /* the barrier's address; a number of the region */
	uint64_t begin_ns, end_ns, leave_ns; /* CLOCK_MONOTONIC; leave_ns 0: it waits still */
	uint64_t cpu_ns, cpu_wait_ns; /* from begin to end: on a CPU; runnable without one, or
					 EDGES_UNKNOWN */
	uint64_t sleeps;	      /* from begin to end: how often it gave its CPU away */
};

/* This thread made another one, its made-th from 0. */
struct edges_made {
	struct edges_record record;
	uint64_t made, time_ns; /* before it did */
};

/* The thread waited for the end of that one, which has come. */
struct edges_awaited {
	struct edges_record record;
	uint64_t thread;  /* what pthread_self() returned there */
	uint64_t site;	  /* behind the call that waited */
	uint64_t time_ns; /* when it came */
};

#endif
