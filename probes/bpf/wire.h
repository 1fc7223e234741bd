/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records that the BPF programs write into the per-CPU rings and the recorder reads; they are
 * packed. In the ring each has a header of 8 bytes and fills whole words: the 28 bytes of an entry
 * or exit take 40.
 */
#ifndef ISPOT_PROBES_BPF_WIRE_H
#define ISPOT_PROBES_BPF_WIRE_H

#define WIRE_COMM_MAX 16
#define WIRE_PATH_MAX 128

/* Number of functions whose calls can be counted at once. */
#define WIRE_COUNTS_MAX 1024

/* The kinds of points at instructions, in the upper half of their tags. */
enum wire_point { WIRE_POINT_ENTRY, WIRE_POINT_EXIT, WIRE_POINT_BEGIN, WIRE_POINT_END };
#define WIRE_POINT_BITS 32 /* of a tag, below them */

#define WIRE_ID_BITS 23
#define WIRE_ID_MASK ((1u << WIRE_ID_BITS) - 1)

/* From this id on, functions are ispot's own empty ones (probes/cost/selfcost.h), never sampled. */
#define WIRE_SELFCOST_FIRST 0x7fff00u

enum wire_kind {
	WIRE_ENTRY = 1, /* struct wire_call; the head's id is the probe's */
	WIRE_EXIT,
	WIRE_SWITCH,	/* struct wire_switch */
	WIRE_WAKING,	/* struct wire_waking; without a waker tgid is enum waking_how */
	WIRE_FORK,	/* struct wire_fork */
	WIRE_TASK_EXIT, /* struct wire_task */
	WIRE_COMM,	/* struct wire_name */
	WIRE_EXEC,	/* struct wire_name */
	WIRE_STACK,	/* struct wire_stack: of the thread's entry or exit that comes next */
	WIRE_SAMPLE,	/* struct wire_sample */
	WIRE_COPY,	/* struct wire_copy: the same */
	WIRE_LOST,	/* struct wire_lost */
	WIRE_ARGS,	/* struct wire_args: of the thread's entry that comes next */
	WIRE_RETURN,	/* struct wire_args: the first value, of the exit that comes next */
	WIRE_WAIT_COPY, /* struct wire_copy: of the thread's switch that comes next */
	WIRE_UNTOLD_IN, /* struct wire_task: the thread got the CPU then, and no switch said so */
};

struct wire_head {
	unsigned int head; /* kind << WIRE_ID_BITS | id */
	unsigned long long time_ns;
	unsigned int tid, tgid;
} __attribute__((packed));

struct wire_call {
	struct wire_head h;
	unsigned long long sp; /* normalized to the value at the entry */
	unsigned long long
		caller; /* of an entry: the return address, 0 unknown; exits end before this */
} __attribute__((packed));
#define WIRE_EXIT_BYTES (sizeof(struct wire_call) - sizeof(unsigned long long))

/*
 * The values of counters (counters.h), which follow an entry or exit. The kind in the head has
 * WIRE_COUNTED if those of perf events are present, and WIRE_TASK_COUNTED if those of the task have
 * changed. With either bit, the record has room for all values and ends behind the last one. With
 * config.stamp_cycles, every entry and exit ends with one more word: the value of the cycle counter
 * (cycles.h), 0 if unknown.
 */
#define WIRE_COUNTERS_MAX 12
#define WIRE_COUNTED	  0x40
#define WIRE_TASK_COUNTED 0x80
#define WIRE_KIND_MASK	  0x1f
#define WIRE_INNER	  0x20 /* of an entry: REC_INNER of trace/format.h */

struct wire_counted {
	struct wire_call call;
	unsigned long long values[WIRE_COUNTERS_MAX + 1];
} __attribute__((packed));

/* The counts that the kernel keeps for each task, as pmu/event.h names them. */
enum wire_task_counter {
	WIRE_TASK_MINOR_FAULTS,
	WIRE_TASK_MAJOR_FAULTS,
	WIRE_TASK_PAGE_FAULTS,
	WIRE_TASK_VOLUNTARY_SWITCHES,
	WIRE_TASK_INVOLUNTARY_SWITCHES,
	WIRE_TASK_CONTEXT_SWITCHES,
	WIRE_TASK_MIGRATIONS,
	WIRE_TASK_SECTORS_READ,
	WIRE_TASK_SECTORS_WRITTEN,
};

struct wire_switch {
	struct wire_head h; /* the thread that leaves the CPU */
	unsigned int state; /* enum switch_state of trace/format.h */
	unsigned int next_tid, next_tgid;
	unsigned int flags; /* WIRE_PREV, WIRE_NEXT: which of the two belong to the target */
	/*
	 * of the thread that leaves to wait: index in the stacks map; from WIRE_STACKS_MAX on, the
	 * number in the file; < 0: none, -EEXIST: no room for the stack
	 */
	int stack;
	/* how often each of the two has left a CPU so far; 0: not asked for (control) */
	unsigned int prev_count, next_count;
} __attribute__((packed));

/* A switch with WIRE_WAIT: what the thread waits for, as in REC_WAIT of trace/format.h. */
struct wire_sleep {
	struct wire_switch s;
	unsigned int kind;    /* enum wait_kind */
	unsigned int syscall; /* number + 1, 0: none */
	unsigned int how;     /* enum wait_how */
	unsigned int value;
	unsigned long long what;
} __attribute__((packed));

/* System calls from this number on have no wait kind of their own. */
#define WIRE_SYSCALLS_MAX 512

/* Stands for an enum wait_kind: the kind depends on the file of the first argument. */
#define WIRE_WAIT_BY_FILE 32
/* The call gives the CPU up, and so waits for nothing that the kernel knows. */
#define WIRE_YIELDS 33

/*
 * Return addresses on aarch64 can be signed, in the bits above their 48 bits. If the kernel has
 * addresses of 52 bits, its trampoline is at their end.
 */
#define WIRE_SIGNED_ADDRESS 0xffffffffffffull
#define WIRE_SIGNED_TRAMPOLINE(t) \
	((t) > WIRE_SIGNED_ADDRESS ? 0xfffffffffffffull : WIRE_SIGNED_ADDRESS)

/* Limits of different user call stacks, and of the frames of each. */
#define WIRE_STACKS_MAX 16384
#define WIRE_FRAMES_MAX 64

/* The call stack of a call: the instruction, its return address, and so on outwards. */
struct wire_stack {
	struct wire_head h;
	unsigned int n_frames;
	unsigned long long frames[WIRE_FRAMES_MAX];
} __attribute__((packed));

/*
 * The call stack as a copy: the registers in the order of the bits of unwind_register_mask, the
 * return addresses that the trampoline has replaced (innermost first), and the stack from its
 * pointer upwards.
 */
#define WIRE_REGISTERS_MAX 33
#define WIRE_RETURNS_MAX   32
#define WIRE_COPY_MAX	   16384
struct wire_return {
	unsigned long long stack, address;
} __attribute__((packed));
struct wire_copy {
	struct wire_head h;
	unsigned int n_returns;
	unsigned int n_bytes;
	unsigned int trapped; /* of a wait: in a probe's trap, most often at a function's start */
	unsigned long long trampoline;
	unsigned long long registers[WIRE_REGISTERS_MAX];
	struct wire_return returns[WIRE_RETURNS_MAX];
	unsigned char stack[WIRE_COPY_MAX];
} __attribute__((packed));

/* The distance from the stack pointer of a waiting thread to the next return address. */
#define WIRE_STEPS_MAX 65536
#define WIRE_STEP_LINK 0xffffffffu /* the address is still in the link register */
#define WIRE_STEP_END  0xfffffffeu /* there is none, as the stack ends here */
struct wire_step {
	unsigned int next;  /* bytes, or one of the two values above */
	unsigned int stack; /* its number in the file, at WIRE_STEP_END */
};

/*
 * Makes the key of a stack step by step: first from the process and the instruction, then from the
 * previous key and each return address.
 */
static inline unsigned long long wire_step_key(unsigned long long key, unsigned long long address)
{
	key = (key ^ address) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 29;
}

/* Number of slots for the stacks that were walked last. */
#define WIRE_WALKED_MAX 8192

/* Number of slots for (function, return address) pairs whose first stack is recorded. */
#define WIRE_SITES_MAX 65536
/* Number of slots for open calls, in which each exit finds the time of its entry. */
#define WIRE_OPEN_MAX 65536

/*
 * Periods of the scheduler's programs. They are primes, to avoid aliasing with periods of the
 * program.
 */
#define WIRE_TIMED 61
/* Block stacks of a CPU: in each window, the first so many are walked, then one in so many. */
#define WIRE_BLOCK_STACKS    32
#define WIRE_BLOCK_STACKS_NS 10000000
#define WIRE_BLOCK_STACK_IN  17

#define WIRE_PREV 1
#define WIRE_NEXT 2
#define WIRE_WAIT 4 /* the record is a struct wire_sleep */

#define WIRE_NO_STACK (-1)

struct wire_task {
	struct wire_head h;
	unsigned int other_tid, other_tgid;
} __attribute__((packed));

struct wire_waking {
	struct wire_task task; /* other = woken */
	unsigned int count;    /* of the woken thread, as in struct wire_switch */
} __attribute__((packed));

struct wire_fork {
	struct wire_task task;	 /* other = child */
	unsigned long long word; /* the kernel clears it at the child's end; 0: none */
} __attribute__((packed));

struct wire_sample {
	struct wire_head h;
	unsigned long long ip; /* may be an address in the kernel */
	int stack;	       /* the program's: index in the stacks map; < 0: none */
} __attribute__((packed));

struct wire_name {
	struct wire_head h;
	char name[WIRE_PATH_MAX]; /* NUL-terminated; a WIRE_COMM has WIRE_COMM_MAX bytes of it */
} __attribute__((packed));

/*
 * The bits above the id in a point's immediate select what is recorded. At an entry, bit i selects
 * integer register i; with WIRE_ARGS_OCCASIONAL, the values are recorded at one entry in
 * WIRE_OCCASION. At an exit, bit 0 selects the return value. At the begin of a marker, the bits are
 * a row of the operands. A record ends behind the last value that it has.
 */
#define WIRE_ARGS_OCCASIONAL (1u << 8)
#define WIRE_OCCASION	     16
#define WIRE_ARGS_MAX	     8
#define WIRE_ARGS_FEW	     3

struct wire_args {
	struct wire_head h;
	unsigned long long values[WIRE_ARGS_MAX]; /* [register]; at an exit: [0] */
} __attribute__((packed));

#define WIRE_ARGS_BYTES(n) \
	(sizeof(struct wire_args) - (WIRE_ARGS_MAX - (n)) * sizeof(unsigned long long))

/* The locations of a static probe's arguments; each place of a marker names a row of these. */
#define WIRE_OPERAND_ROWS 256
#define WIRE_NO_REGISTER  255

enum wire_operand_kind {
	WIRE_OPERAND_NONE, /* not recorded */
	WIRE_OPERAND_CONSTANT,
	WIRE_OPERAND_REGISTER,
	WIRE_OPERAND_MEMORY, /* at value + base + index << shift */
};

struct wire_operand {
	long long value;
	unsigned char kind;
	unsigned char base, index; /* words of struct pt_regs */
	unsigned char shift;	   /* of the index to the left; of a register to the right */
	unsigned char bytes, is_signed;
	unsigned char unused[2];
};

struct wire_operands {
	struct wire_operand at[WIRE_ARGS_MAX];
};

struct wire_lost {
	struct wire_head h;	 /* its time is that of the latest lost record */
	unsigned long long lost; /* records of this CPU so far that found no room */
} __attribute__((packed));

/*
 * Per CPU, in the `totals` map: counts of the records that were made, which reveal what was lost
 * (fact 10).
 */
struct wire_totals {
	unsigned long long calls;      /* entry and exit records made */
	unsigned long long calls_lost; /* of these, refused by a full ring */
	unsigned long long others;     /* the same for every other record */
	unsigned long long others_lost;
	unsigned long long lost_told;	      /* in the latest WIRE_LOST */
	unsigned long long refused_ns;	      /* the latest time of a record that found no room */
	unsigned long long since_wakeup;      /* bytes written since the reader was woken */
	unsigned long long switches, wakings; /* of the target: runs of these two programs */
	unsigned long long births; /* of threads and processes of the target, while recording */
	unsigned long long scheduling_ns;   /* of both programs: one run in WIRE_TIMED is timed */
	unsigned long long stacks_since_ns; /* when the current window for block stacks began */
	unsigned long long stacks;
	unsigned long long counters_told; /* sum of thread and task counts in the latest record */
	unsigned long long on_task;	  /* the task that got the CPU by the last switch, … */
	unsigned long long on_of_ns;	  /* … in the recording that began at this time, … */
	_Bool on_is_target;		  /* … and whether it is the target's */
	unsigned long long in_ns;	  /* since when a thread of the target runs; 0: none */
	unsigned long long ended_ns;	  /* that ended processes have run */
	unsigned long long samples;	  /* of the target */
	unsigned long long unrecorded;	  /* times that a thread of the target has left a CPU … */
	unsigned long long unrecorded_wakings; /* … and wakeups, while those had no records */
};

/* Sampling (period > 1) of the calls of one function on one thread. */
#define WIRE_DEPTH_MAX 16 /* sampled calls that can be open at once, by recursion */

struct wire_sampling_key {
	unsigned int tid, id;
};

struct wire_sampling {
	unsigned long long calls;		  /* all calls */
	unsigned long long recorded;		  /* of these, recorded */
	unsigned long long outer, outer_recorded; /* the same for calls inside no other call */
	unsigned long long outer_sp;		  /* of the open outermost call; 0: none */
	unsigned long long outer_return; /* its return address, if its return is not seen; else 0 */
	unsigned int tgid;
	unsigned int until_next; /* calls before the next one that is recorded */
	unsigned int rest;	 /* calls behind that one that remain of its N */
	unsigned int depth;	 /* sampled calls that are open */
	unsigned int nested;	 /* of a marker: begins inside the sampled one */
	unsigned long long sp[WIRE_DEPTH_MAX];
};

/* Set before the programs are loaded. */
struct wire_config {
	_Bool follow_children;
	unsigned int wakeup_bytes; /* the reader is woken after so many bytes */
	_Bool block_stacks;	   /* switches to waiting have a user stack */
	_Bool wait_copies;	   /* the stacks are found as in steps.h, not by frame pointer */
	_Bool plain_loads;	   /* bpf_rdonly_cast: kernel >= 6.2 */
	unsigned int period;	   /* -c N: one call in N of each thread and function is recorded */
	_Bool switch_has_state;	   /* sched_switch passes prev_state: kernel >= 5.18 */
	_Bool task_regs;	   /* bpf_task_pt_regs: kernel >= 5.15 */
	unsigned int stack_period; /* a stack every so many calls of a function; 0: none */
	unsigned int copy_bytes; /* bytes of stack to copy and unwind later; 0: by frame pointer */
	unsigned int stack_budget; /* bytes of stacks that a CPU may write in 0.1 s */
	unsigned long long
		slow_stack_ns;	  /* calls that last so long have a stack at the exit; 0: none */
	unsigned int stack_bytes; /* of a thread's kernel stack */
	unsigned char syscalls[WIRE_SYSCALLS_MAX]; /* enum wait_kind, or WIRE_... */
	unsigned int n_counters;		   /* of a counted call; 0: no counters */
	unsigned int n_perf_counters; /* how many are perf events; the others are the task's */
	unsigned int count_period;    /* perf events count one recorded call in so many */
	unsigned char task_counters[WIRE_COUNTERS_MAX]; /* enum wire_task_counter */
	_Bool count_reads, count_writes; /* whether one is WIRE_TASK_SECTORS_READ, _WRITTEN */
	_Bool stamp_cycles;		 /* entries and exits end with the cycle counter */
	_Bool bio_is_first;		 /* in the arguments of block_bio_queue: kernel >= 5.11 */
};

/* Shared with the running programs. */
struct wire_control {
	_Bool recording;	    /* records are written from now on */
	_Bool muted;		    /* but none of calls: between two bursts */
	_Bool switches_off;	    /* and none of switches and wakeups (probes/session/govern.c) */
	_Bool count_switches;	    /* their records have the kernel's counts */
	_Bool sampling;		    /* CPU samples of the target go into the sampler's rings */
	_Bool keep_samples;	    /* and, while recording, into those of the calls */
	_Bool written;		    /* some thread has itself written to a block device */
	_Bool steps_full;	    /* no more stacks of waits are copied */
	_Bool hold_children;	    /* the reader is woken at forks (probes/session/hold.c) */
	unsigned int launched_tgid; /* the exec of this process sets recording */
	unsigned int count_first_id; /* of the counted functions: index 0 of the counts */
	unsigned long long since_ns; /* when recording was last set */
	unsigned long long births;   /* births and ends of target processes so far */
};

#endif
