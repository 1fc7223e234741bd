/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files behind import.h: events in order of time, and addresses as functions. */
#ifndef ISPOT_IMPORT_INTERNAL_H
#define ISPOT_IMPORT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/perfdata.h"
#include "trace/frame/source.h"

struct dso_cache;
struct trace_writer;

/* ---- order.c: from the order of the file to the order of time ---- */

enum happening_kind {
	HAPPENED_ENTRY, /* a: address */
	HAPPENED_EXIT,	/* a: address of the function */
	HAPPENED_OUT,	/* a: enum switch_state; b: next tid */
	HAPPENED_IN,
	HAPPENED_FORK, /* a: child tid; b: child pid */
	HAPPENED_END,
	HAPPENED_COMM,	 /* a: 1 if by exec; text: name */
	HAPPENED_MAP,	 /* a, b, sp: start, end, offset in the file; text: path */
	HAPPENED_LOST,	 /* a: number of lost records */
	HAPPENED_WAKING, /* a: woken tid */
};

struct happening {
	uint64_t time_ns, order; /* order: in the file */
	uint64_t a, b, sp;
	uint32_t kind, cpu, pid, tid;
	uint32_t event;	  /* index in the perfdata's events */
	uint32_t has;	  /* bits: which of the event's arguments have values */
	uint64_t *values; /* owned; as many as the event has arguments, NULL: it has none */
	char *text;	  /* owned */
};

struct order {
	struct {
		VEC(struct happening)
	} waiting;
	uint64_t n_added, latest_ns, complete_ns;
};

struct happening *order_add(struct order *o);
/*
 * Call this after each of perf's rounds: passes on the events that no earlier event can follow any
 * more; at the end all events.
 */
void order_round(struct order *o, bool end, void (*happened)(void *ctx, const struct happening *h),
		 void *ctx);
void order_release(struct order *o);

/* ---- layout.c: where the fields are in the samples of each event ---- */

#define IMPORT_ARGUMENTS_MAX 8

struct event_layout {
	bool is_known; /* the layout is from the tracing data, else that of most kernels */
	struct format_field address;		  /* of a uprobe's entry */
	struct format_field function, returns_to; /* of a uprobe's return */
	struct format_field prev_state, next_pid, woken_pid;
	struct format_field arguments[IMPORT_ARGUMENTS_MAX];
	uint32_t n_arguments;
};

struct layouts {
	struct formats *formats; /* NULL: the file has no tracing data */
	struct {
		VEC(struct event_layout)
	} of; /* [event] */
};

/* Sets the layouts, and names the events that have no name. */
void layouts_read(struct layouts *l, struct perfdata *p);
void layouts_release(struct layouts *l);

/* ---- names.c ---- */

/* The role of an event, by its name. */
struct event_role {
	uint32_t base; /* of names: "f" of "probe_x:f__return"; of events without a pair: "" */
	bool paired;   /* there is an event for the other end */
	bool is_exit;  /* named as the end of calls */
	bool is_switch, is_waking;
};

/* An argument or a return value of the calls, by whatever name the probe has given it. */
struct import_argument {
	uint32_t bit;	  /* enum arg_bit */
	const char *name; /* of names.strings, as is type */
	const char *type;
	bool is_signed;
};

struct import_function {
	uint32_t base;
	uint32_t object; /* of objects; MAP_NONE: unknown */
	char *symbol, *name, *file;
	uint64_t address, size_bytes, probe_address;
	uint32_t line;
	bool exits; /* its calls have ends */
	uint32_t n_arguments;
	struct import_argument arguments[IMPORT_ARGUMENTS_MAX + 1];
};

struct names {
	struct dso_cache *dsos;
	struct strtab strings, objects; /* objects: paths */
	struct {
		VEC(struct event_role)
	} roles; /* [event] */
	struct {
		VEC(struct process)
	} processes;
	struct map by_pid;
	struct {
		VEC(struct import_function)
	} functions;
	struct map by_key;   /* of object, address and base -> function */
	struct map by_place; /* of process, address and base -> function, until mappings change */
};

void names_init(struct names *n);
void names_roles(struct names *n, const struct perfdata *p);
void names_map(struct names *n, const struct happening *h);
void names_fork(struct names *n, uint32_t parent, uint32_t child);
void names_exec(struct names *n, uint32_t pid);
/* Returns the function of a sample of the event with this address. */
uint32_t names_function(struct names *n, uint32_t pid, uint64_t address, uint32_t event);
/*
 * Returns the bit of an event's argument in calls of the function, or MAP_NONE if all bits are
 * taken.
 */
uint32_t names_argument(struct names *n, uint32_t function, const struct format_field *field,
			bool is_returned);
/* Writes the meta lines of all objects and functions. */
void names_write(const struct names *n, struct trace_writer *w);
void names_release(struct names *n);

/* ---- import.c ---- */

struct open_call {
	uint32_t function;
	uint64_t sp;
};

struct import_thread {
	uint32_t tid, pid;
	char *comm;
	bool seen;	/* the thread made calls in the file */
	bool is_off;	/* its last switch was out */
	bool was_there; /* when the recording began */
	struct {
		VEC(struct open_call)
	} open;
};

struct import {
	struct perfdata perf;
	struct source source;
	struct names names;
	struct layouts layouts;
	struct order order;
	struct trace_writer *writer;
	const char *file; /* as the user named it */
	int failed;
	uint32_t n_cpus;
	bool wide;     /* the whole machine was recorded: records of other threads than targets' are
			  skipped */
	bool switches; /* the file has context switch records, not only the tracepoint's samples */
	bool sps;      /* samples have stack pointers */
	uint64_t exec_ns; /* time of the first exec, which perf waits for; 0: none */
	uint64_t first_ns, last_ns, n_switches;
	uint64_t n_halves; /* switches of which only one end was recorded */
	uint64_t
		counted_lost; /* by the kernel, nobody knows where; those with a place among them */
	struct import_result result;
	struct {
		VEC(struct import_thread)
	} threads;
	struct map by_tid;
	uint64_t *last_of_cpu; /* time of the last record of each */
	uint32_t first_pid;
};

/*
 * Whether the thread is a target: in a recording of the whole machine, only threads that made calls
 * are.
 */
static inline bool import_is_target(const struct import *im, const struct import_thread *t)
{
	return !im->wide || t->seen;
}

/* ---- in.c: records of the file ---- */

int import_scan(void *import, const struct perf_event_header *h); /* first: what there is */
int import_read(void *import, const struct perf_event_header *h);

/* ---- out.c: records of the trace ---- */

void import_happened(void *import, const struct happening *h);

#endif
