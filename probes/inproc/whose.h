/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which process a region is of. Its file's name is what the program has said: in a container that
 * is another number than here, and a hostile one may say anybody's. So the process is looked for
 * that has the file mapped.
 */
#ifndef ISPOT_PROBES_INPROC_WHOSE_H
#define ISPOT_PROBES_INPROC_WHOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stat;

/* What may still be spent on one user's regions in a recording: programs decide how much there is
 * to look at, and take nothing from other users'. */
struct inproc_looks {
	uid_t owner;
	unsigned left;			   /* at all processes */
	uint64_t maps_ns;		   /* of reading mappings, of any process */
	unsigned threads_left;		   /* at threads of processes in containers */
	unsigned regions_left, rings_left; /* that may be read */
	bool is_full;			   /* there was a region more */
};

/*
 * A process of that user which has this number for itself, and maps the file; 0: none is seen here.
 * All processes are looked at while there are looks left: each region could ask for that. A signal
 * that waits to end the recording ends a look, too.
 */
pid_t inproc_process_of(uid_t owner, pid_t named, const struct stat *file,
			struct inproc_looks *looks);

/* The thread of that process which has this number for itself; the number if none is seen. Newest
 * first; each thread that is looked at takes a look. */
pid_t inproc_thread_of(pid_t pid, pid_t named, unsigned *looks_left);

#endif
