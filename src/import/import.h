/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens what the user named with -i: an ispot.data, or a perf.data that perf record (or any tool)
 * made of uprobes, `probe_x:f` and its return `probe_x:f__return`. That is turned into a trace in
 * an unlinked temporary file, which is then read as any other.
 *
 * Calls are found by what the kernel wrote into each sample: an entry has its own address, a
 * return the function's and the place it returns to. Addresses become functions by the mappings
 * in the file and the symbols of the files they name, or, where these are gone, by the events'
 * names. Without stack pointers (perf record --user-regs=sp) an exit ends the innermost open call
 * of its function on its thread.
 */
#ifndef ISPOT_IMPORT_IMPORT_H
#define ISPOT_IMPORT_IMPORT_H

#include <stdint.h>

struct err;
struct trace_reader;

/* Opens a perf.data for reading, with the errors of trace_reader_open(). */
int import_open(struct trace_reader **r, const char *path, struct err *err);

/* Facts about a recording that the perf.data does not hold; 0 and NULL: unknown. */
struct import_facts {
	const char *command, *program, *options, *version, *producer, *reason;
	uint64_t pid, duration_ns, recorder_cpu_ns, target_cpu_ns;
	int64_t exit_status;
	const char *notice; /* limits of the recording, for the report */
};

struct import_result {
	uint64_t entries, exits, lost;
	uint32_t functions;
};

/* Converts the perf.data open as fd to a trace file at path. facts may be NULL. */
int import_file(int fd, const char *name, const char *path, const struct import_facts *facts,
		struct import_result *result, struct err *err);

#endif
