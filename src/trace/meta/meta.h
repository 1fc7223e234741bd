/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The meta lines of a trace: the objects and functions that its ids stand for, clock, calibration,
 * threads known at the start, notices, the end. In the file each is one JSON object a line,
 * {"kind": "function", …}, its members named as the fields here; the recorder appends a line when
 * it knows it, the reader has all of them before the first record is handed out. A value that was
 * not measured is absent in the file and META_UNKNOWN (NAN for doubles) here.
 */
#ifndef ISPOT_TRACE_META_META_H
#define ISPOT_TRACE_META_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "base/mem.h"
#include "trace/format.h"

struct err;
struct text;

#define META_UNKNOWN UINT64_MAX

enum probe_class {
	CLASS_NOP5,
	CLASS_EMULATED,
	CLASS_SINGLE_STEP,
	CLASS_MARKER,
	CLASS_USDT,
	CLASS_UNKNOWN, /* another program placed the probe */
	CLASS_N
};
enum exit_mech { EXIT_RETURN, EXIT_RET_SITES, EXIT_NONE };

const char *
probe_class_name(enum probe_class c);	      /* "nop5" "emulated" "single-step" "marker" "usdt" */
const char *exit_mech_name(enum exit_mech m); /* "return" "ret-sites" "none" */

/* kind "session": exactly one, the first line */
struct meta_session {
	uint32_t version; /* TRACE_VERSION of the writer */
	const char *ispot_version;
	const char *command; /* as typed, blanks and quotes escaped for a shell; "" on attach */
	const char
		*program;  /* base name of the program meant, or of the attached one; "" unknown */
	uint64_t pid;	   /* the command's or first attached process; META_UNKNOWN: none */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t start_unix_ns;			 /* CLOCK_REALTIME at start_ns */
	const char *clock;			 /* "monotonic" */
	double cycles_per_ns;			 /* TSC/CNTVCT against the clock; NAN: no counter */
	uint32_t cpus;				 /* online */
	const char *hostname, *kernel, *machine; /* uname -n -r -m */
	const char *pmu;			 /* libpfm4's name, or "none" */
	const char *producer; /* "bpf", "perf" (engines A and B), "java", "in-process", "import",
				 "synthetic" */
	uint64_t period;      /* one call in period is recorded; 1: all */
	bool attached;
	bool uprobe_sessions;  /* functions with a return probe were recorded through sessions */
	uint64_t recorder_pid; /* pid of ispot, to recognize its CPU time; META_UNKNOWN: none */
	const char *options;   /* record's options as typed */
};

/* kind "object": a mapped file */
struct meta_object {
	uint32_t id;		     /* counted from 0, in order of appearance */
	const char *path, *build_id; /* build_id lower-case hex, "" if it has none */
};

/* How the values of an argument are grouped: each value alone, as an address, by size class. */
enum argument_class { ARGUMENT_VALUE, ARGUMENT_ADDRESS, ARGUMENT_SIZE, ARGUMENT_FD, ARGUMENT_N };

/* An argument that REC_ARGS holds for a function's calls: an element of its line's "args". */
struct meta_argument {
	uint32_t bit;	  /* enum arg_bit */
	const char *name; /* "mutex"; "arg1" and "ret" where no prototype is known */
	const char *type; /* "pthread_mutex_t *"; "" unknown */
	enum argument_class class;
	bool is_signed;	 /* values are int64_t */
	bool occasional; /* only some calls have it: used to see whether the work depends on it, not
			    to split calls */
	bool key;	 /* durations are known to depend on it: calls are split by it by default */
};

const char *argument_class_name(enum argument_class c); /* "value" "address" "size" "fd" */

/*
 * A parameter of a function, by the name that --key and -F accept; number counts from 1, 0 is the
 * return value. A parameter with several names has several rows. If a function has rows, it has no
 * parameters but these.
 */
struct meta_parameter {
	uint32_t number;
	const char *name; /* "" none */
	const char *why;  /* why it cannot be recorded, a clause; "": it can */
};

/* kind "function": a probed block; id is what REC_ENTRY and REC_EXIT carry */
struct meta_function {
	uint32_t id, object, set;
	const char *name;   /* demangled */
	const char *symbol; /* as the linker knows it */
	uint64_t address;   /* of the function in the ELF file (st_value) */
	uint64_t size_bytes;
	uint64_t probe_offset; /* of the entry probe, from the function's first byte */
	enum probe_class class;
	enum exit_mech exit;
	bool only_jumps;   /* ret-sites that are jumps, which cost less than those on a ret */
	const char *file;  /* "" unknown */
	uint32_t line;	   /* 0 unknown */
	const char *block; /* "function" or "marker" */
	bool blocking; /* known to wait (mutex, read, …): from the table of blocking functions */
	bool chosen;   /* by the user's -F, not by ispot */
	bool holds_lock; /* from its entry to its exit: a critical section, as of Java */
	/* Takes a lock; only its calls that had to wait for it are recorded, all of which is
	 * waiting. The others took no time worth telling. */
	bool contended_only;
	bool in_process; /* code in the program itself stamps its calls, no probe of the kernel */
	uint64_t period; /* of a marker's loop: one begin in so many is recorded; 0 and 1: each */
	uint64_t parameters;  /* how many it has, as far as known */
	uint32_t n_arguments; /* how many of them are recorded */
	const struct meta_argument *arguments;
	uint32_t n_prototype; /* 0: no prototype is known */
	const struct meta_parameter *prototype;
};

/* kind "not_traced": wanted, or hot, and left out */
struct meta_not_traced {
	const char *name, *object, *reason; /* reason: a clause for the report */
	uint64_t address;		    /* as of a function; 0: not known */
	uint64_t traced_until_ns;	    /* its probes were active until then; 0: never */
	uint64_t traced_again_ns; /* its probes are active again since then; 0: they are not */
	double cpu_share;	  /* share of the samples; NAN unknown */
	double calls_per_s;	  /* NAN unknown */
	double cost_share; /* of the target's CPU time that tracing it would take; NAN unknown */
};

/* kind "calibration": cost of an empty traced call, per class and exit mechanism */
struct meta_calibration {
	enum probe_class class;
	enum exit_mech exit;
	bool only_jumps;
	uint32_t threads; /* threads that ran at the same time */
	const char *when; /* "before" or "after" */
	/* inner: from stamp to stamp, what an empty call's duration shows */
	uint64_t inner_min_ns, inner_p50_ns, inner_p99_ns;
	double inner_mean_ns;
	/* full: what a traced call adds to its caller's time */
	double full_p50_ns;
	uint64_t calls; /* number of calls measured */
};

/* kind "thread": known when recording began, or found later in /proc */
struct meta_thread {
	uint32_t tid, tgid;
	const char *comm;
	uint64_t seen_ns; /* CLOCK_MONOTONIC */
};

/*
 * kind "process": another process that ran on a CPU while one of the program's threads waited for
 * it
 */
struct meta_process {
	uint32_t pid;
	const char *comm;
	bool kernel; /* a thread of the kernel */
};

/*
 * kind "clocks": one moment on the clock of the records and on the cycle counter. A recording has
 * such a line for its beginning and one for its end; more are allowed.
 */
struct meta_clocks {
	uint64_t at_ns, cycles;
	uint64_t width_ns;    /* how long reading both took, which bounds the error */
	const char *unstable; /* why cycles cannot be compared, a clause; "": they can */
};

/* kind "solo": a stretch of time in which all threads of the program had to share one CPU (record
 * --solo): none of them ran while another one did. */
struct meta_solo {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu;
	uint64_t waited_ns; /* sum of its threads' waits for that CPU meanwhile */
};

/* kind "notice": something the user should know, shown by record and again by report */
struct meta_notice {
	const char *code, *text;
};

/* kind "stack": frames[0] innermost. kind "frame": what a frame number stands for */
struct meta_stack {
	uint32_t id, n_frames;
	const uint32_t *frames; /* indices into frames, by frame id */
};
struct meta_frame {
	uint32_t id;
	const char *symbol, *object, *file; /* symbol demangled, "" unknown */
	const char *calls; /* function of another object that is called there; "": none, unknown */
	uint32_t line;
	uint64_t offset; /* from the symbol's start, or in the object where symbol is "" */
	bool inlined;
	bool spins; /* the place is in a loop around a pause instruction */
	/*
	 * Lines, in file, of the function's outermost and innermost loop around the place; 0: none
	 * or unknown. Only for frames that are not inlined.
	 */
	uint32_t loop, inner_loop;
};

/*
 * kind "counter": a bit of REC_COUNTERS masks or, if why is set, a counter that was requested but
 * not available. Its values count one thread only, with user_only in user space only.
 */
struct meta_counter {
	uint32_t id;	    /* the bit; ids with why come behind those without */
	const char *name;   /* as it was requested: "cycles" */
	const char *event;  /* its name in the PMU's tables or sysfs */
	const char *role;   /* the machine-independent name that cause rules use; "": none */
	const char *unit;   /* "cycles", "ns" … */
	const char *source; /* "hardware" "software" "task" "msr" … */
	bool user_only;
	uint64_t period; /* one call in so many is counted; 1: all; 0: none */
	bool on_change;	 /* recorded on change only: if missing, the value is the thread's latest */
	bool by_default; /* chosen by ispot, not by the user */
	double empty_mean; /* what an empty traced call counts; NAN unknown */
	const char *why;   /* "": it is counted */
};

/* The role of a counter whose value is the cycle counter itself (record -k tsc). */
#define META_STAMP "stamp"

#define META_COUNTERS_MAX 32 /* bits of a mask */

/* kind "site": what an entry with an id from SITE_ID_FIRST on is */
struct meta_site {
	uint32_t id, function;
	uint32_t stack; /* a stack of the calling place alone; 0: the line is missing */
};

/* kind "address": an argument's value (class address) that is a place in an object's data */
struct meta_address {
	uint64_t address;
	const char *symbol, *object; /* object: its path */
	uint64_t offset; /* from the symbol's start, or in the object where symbol is "" */
};

/* kind "end": the last line of a recording that ended in order */
struct meta_end {
	bool present;
	uint64_t end_ns;
	uint64_t made_records, lost_records; /* entry + exit, counted in the kernel */
	uint64_t recorder_cpu_ns;
	uint64_t target_cpu_ns;	   /* user and system time of the target while it was recorded */
	uint64_t counting_cost_ns; /* of it, the cost of counting calls before functions were chosen
				    */
	uint64_t scheduling_cost_ns; /* of it, the measured cost of recording context switches */
	uint64_t sampling_cost_ns;   /* of it, the cost of samples, each about sample_ns */
	uint64_t sample_ns;
	uint64_t after_cost_ns;	 /* of it, the cost of traced calls beyond that of empty ones */
	uint64_t probes_cost_ns; /* of it, the whole overhead: traced calls and the costs above */
	/*
	 * busy time of all CPUs, whatever ran; the part in which the hypervisor ran other machines
	 */
	uint64_t cpus_busy_ns, cpus_steal_ns;
	uint64_t probed_ns; /* time in which any function had probes */
	/* CPUs that the program may use, by affinity, cpuset and cgroup quota; NAN unknown */
	double usable_cpus;
	int64_t exit_status; /* of the command; -1: attached or unknown */
	const char *reason; /* "command ended" "duration" "interrupted" "max-size" "disk full" … */
};

struct meta {
	struct arena arena; /* owns every string and stack below */
	struct meta_session session;
	struct meta_end end;
	struct {
		VEC(struct meta_object)
	} objects;
	struct {
		VEC(struct meta_function)
	} functions; /* [id]: dense; absent ids have symbol NULL */
	struct {
		VEC(struct meta_not_traced)
	} not_traced;
	struct {
		VEC(struct meta_calibration)
	} calibrations;
	struct {
		VEC(struct meta_thread)
	} threads;
	struct {
		VEC(struct meta_process)
	} processes;
	struct {
		VEC(struct meta_clocks)
	} clocks;
	struct {
		VEC(struct meta_solo)
	} solos; /* in order of time */
	struct {
		VEC(struct meta_notice)
	} notices;
	struct {
		VEC(struct meta_counter)
	} counters; /* [id] */
	struct {
		VEC(struct meta_stack)
	} stacks; /* [id], id 0 unused */
	struct {
		VEC(struct meta_site)
	} sites; /* [id - SITE_ID_FIRST] */
	struct {
		VEC(struct meta_address)
	} addresses;
	struct {
		VEC(struct meta_frame)
	} frames;		/* [id] */
	uint32_t skipped_lines; /* of a kind this ispot does not know, or malformed */
};

/*
 * Ids from META_IDS_MAX on are refused, and so are ids more than META_IDS_GAP above the number of
 * lines of their kind so far. So a small file cannot make the reader allocate much memory.
 */
#define META_IDS_MAX (1u << 24)
#define META_IDS_GAP (1u << 16)

/* Returns an end of which everything is unknown. */
struct meta_end meta_end_unknown(void);

/* Sets every text to "" and every number to unknown, as for a trace without a session line. */
void meta_init(struct meta *meta);

/*
 * Reads one line of a meta chunk into meta, which copies it. A later line of the same kind and id
 * (session and end: of the same kind) replaces the earlier one. Returns 0, or -EINVAL for a
 * malformed line or a kind that this ispot does not know (counted, not fatal).
 */
int meta_read_line(struct meta *meta, const char *line, size_t n);

/*
 * Call this after the last line: sets the strings of ids that no line described to "" (function
 * symbols to NULL).
 */
void meta_finish(struct meta *meta);
void meta_release(struct meta *meta);

/* Returns the object with that id; for an unknown id, one with empty strings. */
const struct meta_object *meta_object(const struct meta *meta, uint32_t id);
/* NULL: no line described it. */
const struct meta_function *meta_function(const struct meta *meta, uint32_t id);

/* Returns the call stack with that id; NULL: the file has none, or the id is 0, which means none.
 */
static inline const struct meta_stack *meta_stack(const struct meta *meta, uint64_t id)
{
	return id && id < meta->stacks.n ? &meta->stacks.data[id] : NULL;
}

/* Returns the frame with that id; NULL: the file has none. */
static inline const struct meta_frame *meta_frame(const struct meta *meta, uint32_t id)
{
	return id < meta->frames.n ? &meta->frames.data[id] : NULL;
}

/* Returns frame i of the stack, 0 for the innermost; NULL: the stack is NULL or ends before, or the
 * file does not have the frame. */
static inline const struct meta_frame *meta_frame_at(const struct meta *meta,
						     const struct meta_stack *stack, uint32_t i)
{
	return stack && i < stack->n_frames ? meta_frame(meta, stack->frames[i]) : NULL;
}

/*
 * Returns the number of frames that the innermost function has in the stack: its own, and before it
 * one for each function that is inlined at this place. Its caller's frame follows.
 */
static inline uint32_t meta_stack_own(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f;
	uint32_t n = 0;

	do
		f = meta_frame_at(meta, stack, n++);
	while (f && f->inlined && n < stack->n_frames);
	return n;
}

/* NULL: no line described it. Its function may be unknown. */
static inline const struct meta_site *meta_site(const struct meta *meta, uint32_t id)
{
	uint32_t i = id - SITE_ID_FIRST;

	return i < meta->sites.n && meta->sites.data[i].stack ? &meta->sites.data[i] : NULL;
}

/*
 * Returns the cycles per ns, from the pairs of clocks at both ends of the recording; if its end is
 * missing, as measured when it began. NAN: unknown; *why, unless why is NULL, is the reason, a
 * clause in static memory or in meta's.
 */
double meta_cycles_per_ns(const struct meta *meta, const char **why);

bool meta_has_notice(const struct meta *meta, const char *code);
/* Whether the recording was made with that option, given as the user writes it: "--engine auto". */
bool meta_has_option(const struct meta *meta, const char *option);
/* Returns the name of another process that had a CPU, or NULL if it is unknown. */
const char *meta_process_comm(const struct meta *meta, uint32_t pid);
/* Whether a recording by the kernel's probes has functions that were timed in process, too. */
bool meta_has_both_engines(const struct meta *meta);
/* Returns N if one call in N was recorded; 1: all, or the file does not say. */
uint64_t meta_period(const struct meta *meta);

/* Whether c is the cost of a call with such probes. */
bool meta_calibration_fits(const struct meta_calibration *c, enum probe_class class,
			   enum exit_mech exit, bool only_jumps);
/*
 * Whether n is about this function. If both addresses are known, they distinguish two functions of
 * one name in a file.
 */
bool meta_not_traced_is(const struct meta_not_traced *n, const char *name, const char *object,
			uint64_t address);
/* Returns since when the function is not traced any more to the end, because it cost too much, or
 * UINT64_MAX. */
uint64_t meta_gone_ns(const struct meta *meta, const struct meta_function *f);

/*
 * Returns the slowdown of a program: the cost of the probes over the CPU time that it would have
 * used without them. Where less than a tenth of the used time is left for that, the result is more
 * than META_OVERHEAD_MOST, the most that can be told. NAN: it used no CPU time.
 */
#define META_OVERHEAD_MOST 9.0
double meta_overhead(double cpu_ns, double cost_ns);
/* Whether a program that used cpu_ns in span_ns is hardly slowed, whatever the probes' share of it:
 * it runs for less than META_BUSY_LEAST of a CPU, and they for less than META_PROBES_LEAST of one.
 * (They may be what keeps it from running: at least so it is not.) */
#define META_BUSY_LEAST	  0.05
#define META_PROBES_LEAST 0.1
bool meta_hardly_runs(double cpu_ns, double cost_ns, double span_ns);
/* Whether the agent in a Java machine made the recording. */
bool meta_is_java(const struct meta *m);

/* The recorder's estimate of what its probes cost, and the CPU time of the program with that.
 * Returns false if there is none. */
bool meta_recorders_estimate(const struct meta *m, double *cpu_ns, double *cost_ns);
/* "slowed by 4.0 %", or "probes took 0.3 % of a CPU" of a program that hardly runs, into buf of
 * META_COST_WORDS bytes. */
#define META_COST_WORDS 48
char *meta_cost_words(char *buf, double cpu_ns, double cost_ns, double span_ns);

#endif
