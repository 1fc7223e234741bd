/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the process of a region. The name of the region's file is what the program claims: in a
 * container the number differs from the one here, and a hostile program may claim any number. So
 * this searches for the process that maps the file.
 */
#ifndef ISPOT_PROBES_INPROC_WHOSE_H
#define ISPOT_PROBES_INPROC_WHOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stat;

/* The time and the searches that are left for the regions of one user in a recording. Programs
 * decide how much there is to read, so each user has a limit of its own. */
struct inproc_quota {
	uid_t owner;
	unsigned left;			   /* searches of all processes */
	uint64_t maps_ns;		   /* time of reading mappings, of any process */
	unsigned threads_left;		   /* threads of processes in containers that may be read */
	unsigned regions_left, rings_left; /* how many may be read */
	bool is_full;			   /* there was a further region */
};

/*
 * Returns a process of that user which has this number in its own namespace and maps the file, or 0
 * if there is none. If `named` is not that process, all processes are searched; looks limits how
 * often, as each region could require it. A pending signal that ends the recording ends a search,
 * too.
 */
pid_t inproc_process_of(uid_t owner, pid_t named, const struct stat *file,
			struct inproc_quota *quota);

/*
 * Returns the thread of that process which has this number in its own namespace, or the number
 * itself if there is none. It reads the newest threads first, and takes one of *reads_left for
 * each.
 */
pid_t inproc_thread_of(pid_t pid, pid_t named, unsigned *reads_left);

#endif
