/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records that the BPF programs write into the per-CPU rings and the recorder reads, packed. In
 * the ring each has a header of 8 bytes and fills whole words: the 28 bytes of an entry or exit
 * take 40.
 */
#ifndef ISPOT_PROBES_BPF_WIRE_H
#define ISPOT_PROBES_BPF_WIRE_H

#define WIRE_COMM_MAX 16
#define WIRE_PATH_MAX 128

/* Functions whose calls can be counted at once. */
#define WIRE_COUNTS_MAX 1024

#define WIRE_ID_BITS 23
#define WIRE_ID_MASK ((1u << WIRE_ID_BITS) - 1)

/* Ids from here on are ispot's own empty functions (probes/cost/selfcost.h): never sampled. */
#define WIRE_SELFCOST_FIRST 0x7fff00u

enum wire_kind {
	WIRE_ENTRY = 1, /* struct wire_call; the head's id is the probe's */
	WIRE_EXIT,
	WIRE_SWITCH, /* struct wire_switch */
	WIRE_WAKING, /* struct wire_task: other = woken; without a waker tgid is enum waking_how */
	WIRE_FORK,   /* struct wire_fork */
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
	unsigned long long sp; /* normalised to the entry's */
	unsigned long long
		caller; /* of an entry: where the call returns to, 0 unknown; exits end before it */
} __attribute__((packed));
#define WIRE_EXIT_BYTES (sizeof(struct wire_call) - sizeof(unsigned long long))

/*
 * The values of counters (counters.h) behind an entry or exit: the head's kind has WIRE_COUNTED if
 * those of perf events are there and WIRE_TASK_COUNTED if the task's have changed. With either the
 * record has room for all, and ends behind the last of them. With config.stamp_cycles one more word
 * stands at the end of every entry and exit: the cycle counter then (cycles.h), 0 unknown.
 */
#define WIRE_COUNTERS_MAX 12
#define WIRE_COUNTED	  0x40
#define WIRE_TASK_COUNTED 0x80
#define WIRE_KIND_MASK	  0x1f
#define WIRE_INNER	  0x20 /* of an entry: what REC_INNER of trace/format.h says */

struct wire_counted {
	struct wire_call call;
	unsigned long long values[WIRE_COUNTERS_MAX + 1];
} __attribute__((packed));

/* The task's own numbers, as pmu/event.h names them. */
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
	/* of the thread that leaves to wait: index in the stacks map, from WIRE_STACKS_MAX on the
	 * file's number; < 0: none, -EEXIST: no room for it */
	int stack;
} __attribute__((packed));

/* WIRE_WAIT: what it leaves to wait in, as REC_WAIT of trace/format.h. */
struct wire_sleep {
	struct wire_switch s;
	unsigned int kind;    /* enum wait_kind */
	unsigned int syscall; /* number + 1, 0: none */
	unsigned int how;     /* enum wait_how */
	unsigned int value;
	unsigned long long what;
} __attribute__((packed));

/* System calls whose waits are told apart, by number. */
#define WIRE_SYSCALLS_MAX 512

/* In the place of an enum wait_kind: what the file of the first argument is decides. */
#define WIRE_WAIT_BY_FILE 32

/*
 * Return addresses on aarch64 can be signed, in bits above those of addresses: 48 of them, but
 * where a kernel has 52 its trampoline is at their end.
 */
#define WIRE_SIGNED_ADDRESS 0xffffffffffffull
#define WIRE_SIGNED_TRAMPOLINE(t) \
	((t) > WIRE_SIGNED_ADDRESS ? 0xfffffffffffffull : WIRE_SIGNED_ADDRESS)

/* User call stacks that differ, and frames of each. */
#define WIRE_STACKS_MAX 16384
#define WIRE_FRAMES_MAX 64

/* A call's stack: the instruction, where it returns to, and so on outwards. */
struct wire_stack {
	struct wire_head h;
	unsigned int n_frames;
	unsigned long long frames[WIRE_FRAMES_MAX];
} __attribute__((packed));

/* The same as a copy: registers by rising number of unwind_register_mask, the return addresses that
 * the trampoline has replaced (innermost first), and the stack from its pointer upwards. */
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
	unsigned int trapped; /* of a wait: in the trap of a probe, most often a function's first */
	unsigned long long trampoline;
	unsigned long long registers[WIRE_REGISTERS_MAX];
	struct wire_return returns[WIRE_RETURNS_MAX];
	unsigned char stack[WIRE_COPY_MAX];
} __attribute__((packed));

/* How far above the stack pointer, where a thread waits, the next return address lies. */
#define WIRE_STEPS_MAX 65536
#define WIRE_STEP_LINK 0xffffffffu /* it is still in the link register */
#define WIRE_STEP_END  0xfffffffeu /* there is none: the stack ends here */
struct wire_step {
	unsigned int next;  /* bytes, or one of these */
	unsigned int stack; /* its number in the file then */
};

/*
 * Makes the key of a stack step by step: of the process and the instruction first, then of the key
 * so far and each return address.
 */
static inline unsigned long long wire_step_key(unsigned long long key, unsigned long long address)
{
	key = (key ^ address) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 29;
}

/* Threads' places of which the stack walked last is known. */
#define WIRE_WALKED_MAX 8192

/* (function, return address) pairs told apart when their first call's stack is taken. */
#define WIRE_SITES_MAX 65536
/* Open calls that are told apart by hash, so that each exit knows when its entry was. */
#define WIRE_OPEN_MAX 65536

/* Periods of the scheduler's programs; primes, so that no rhythm of the program's meets them. */
#define WIRE_TIMED 61
/* Block stacks of a CPU: all up to so many in so much time, then one in so many. */
#define WIRE_BLOCK_STACKS    32
#define WIRE_BLOCK_STACKS_NS 10000000
#define WIRE_BLOCK_STACK_IN  17

#define WIRE_PREV 1
#define WIRE_NEXT 2
#define WIRE_WAIT 4 /* it is a struct wire_sleep */

#define WIRE_NO_STACK (-1)

struct wire_task {
	struct wire_head h;
	unsigned int other_tid, other_tgid;
} __attribute__((packed));

struct wire_fork {
	struct wire_task task;	 /* other = child */
	unsigned long long word; /* the kernel clears it at the child's end; 0: none */
} __attribute__((packed));

struct wire_sample {
	struct wire_head h;
	unsigned long long ip; /* of the kernel where the sample met it there */
	int stack; /* the program's, innermost first: index in the stacks map; < 0: none */
} __attribute__((packed));

struct wire_name {
	struct wire_head h;
	char name[WIRE_PATH_MAX]; /* NUL-terminated; WIRE_COMM_MAX of it for a WIRE_COMM */
} __attribute__((packed));

/*
 * Above its id a point's immediate has bit i for integer register i, whose value is recorded at the
 * entry, with WIRE_ARGS_OCCASIONAL at one entry in WIRE_OCCASION; at an exit bit 0 for the return
 * value; at the begin of a marker a row of the operands. A record ends behind the last value of its
 * size.
 */
#define WIRE_ARGS_OCCASIONAL (1u << 8)
#define WIRE_OCCASION	     16
#define WIRE_ARGS_MAX	     8
#define WIRE_ARGS_FEW	     3

struct wire_args {
	struct wire_head h;
	unsigned long long values[WIRE_ARGS_MAX]; /* [register]; of an exit: [0] */
} __attribute__((packed));

#define WIRE_ARGS_BYTES(n) \
	(sizeof(struct wire_args) - (WIRE_ARGS_MAX - (n)) * sizeof(unsigned long long))

/* Where a static probe's arguments are: the place of a marker names a row of these. */
#define WIRE_OPERAND_ROWS 256
#define WIRE_NO_REGISTER  255

enum wire_operand_kind {
	WIRE_OPERAND_NONE, /* it is not recorded */
	WIRE_OPERAND_CONSTANT,
	WIRE_OPERAND_REGISTER,
	WIRE_OPERAND_MEMORY, /* at value + base + index << shift */
};

struct wire_operand {
	long long value;
	unsigned char kind;
	unsigned char base, index; /* words of struct pt_regs */
	unsigned char shift;	   /* of the index; of a register: down */
	unsigned char bytes, is_signed;
	unsigned char unused[2];
};

struct wire_operands {
	struct wire_operand at[WIRE_ARGS_MAX];
};

struct wire_lost {
	struct wire_head h;	 /* its time: the latest of the lost records' */
	unsigned long long lost; /* records of this CPU so far that found no room */
} __attribute__((packed));

/* Per CPU, in the `totals` map: what was made, so that what was not read is known (fact 10). */
struct wire_totals {
	unsigned long long calls;      /* entry and exit records made */
	unsigned long long calls_lost; /* of them refused by a full ring */
	unsigned long long others;     /* the same for every other record */
	unsigned long long others_lost;
	unsigned long long lost_told;	      /* in the latest WIRE_LOST */
	unsigned long long refused_ns;	      /* the latest time of a record that found no room */
	unsigned long long since_wakeup;      /* bytes written since the reader was woken */
	unsigned long long switches, wakings; /* of the target: runs of these two programs */
	unsigned long long births;	      /* of its threads and processes, while recording */
	unsigned long long scheduling_ns;     /* that they took: one run in WIRE_TIMED is timed */
	unsigned long long stacks_since_ns;   /* block stacks taken in this stretch of time: */
	unsigned long long stacks;
	unsigned long long counters_told; /* the latest record's: thread and the task's, summed */
	unsigned long long on_task;	  /* who has the CPU by its last switch, */
	unsigned long long on_of_ns;	  /* in the recording that began then, */
	_Bool on_is_target;		  /* and whether it belongs to the target */
	unsigned long long in_ns;    /* since when the CPU runs a thread of the target, 0: none */
	unsigned long long ended_ns; /* that processes ran which have ended */
	unsigned long long samples;  /* that met the target */
};

/* Sampled calls (period > 1) of one function on one thread. */
#define WIRE_DEPTH_MAX 16 /* recursion: so many sampled calls can be open at once */

struct wire_sampling_key {
	unsigned int tid, id;
};

struct wire_sampling {
	unsigned long long calls;		  /* all of them */
	unsigned long long recorded;		  /* of them */
	unsigned long long outer, outer_recorded; /* the same of those inside no other */
	unsigned long long outer_sp;		  /* of the outermost call that is open, 0: none */
	unsigned long long outer_return; /* its return address, if its return is not seen; else 0 */
	unsigned int tgid;
	unsigned int until_next; /* calls to let pass before the next is recorded */
	unsigned int rest;	 /* behind that one: what is left of its N calls */
	unsigned int depth;	 /* sampled calls that are open */
	unsigned int nested;	 /* a marker: begins inside the sampled one */
	unsigned long long sp[WIRE_DEPTH_MAX];
};

/* Set before the programs are loaded. */
struct wire_config {
	_Bool follow_children;
	unsigned int wakeup_bytes; /* of records after which the reader is woken */
	_Bool block_stacks;	   /* a user stack with each switch to waiting */
	_Bool wait_copies;	   /* found as steps.h says; else by frame pointer */
	_Bool plain_loads;	   /* bpf_rdonly_cast: kernel >= 6.2 */
	unsigned int period;	   /* one call in so many of a thread and function is recorded */
	_Bool switch_has_state;	   /* sched_switch passes prev_state: kernel >= 5.18 */
	_Bool task_regs;	   /* bpf_task_pt_regs: kernel >= 5.15 */
	unsigned int stack_period; /* every so many calls of a function one stack; 0: none */
	unsigned int copy_bytes;   /* of the stack, to be unwound later; 0: by frame pointer */
	unsigned int stack_budget; /* bytes of stacks that a CPU may write in 0.1 s */
	unsigned long long
		slow_stack_ns;	  /* calls that last so long: a stack at the exit; 0: none */
	unsigned int stack_bytes; /* of a thread in the kernel */
	unsigned char syscalls[WIRE_SYSCALLS_MAX]; /* enum wait_kind, or WIRE_WAIT_BY_FILE */
	unsigned int n_counters;		   /* per counted call; 0: nothing is counted */
	unsigned int n_perf_counters; /* the first of them; the others are the task's */
	unsigned int count_period;    /* perf events count one recorded call in so many */
	unsigned char task_counters[WIRE_COUNTERS_MAX]; /* enum wire_task_counter */
	_Bool count_reads, count_writes; /* WIRE_TASK_SECTORS_READ, _WRITTEN is one of them */
	_Bool stamp_cycles;		 /* entries and exits end with the cycle counter */
	_Bool bio_is_first;		 /* argument of block_bio_queue: kernel >= 5.11 */
};

/* Shared with the running programs. */
struct wire_control {
	_Bool recording;	     /* records are written from now on */
	_Bool muted;		     /* but of no call: between two bursts */
	_Bool sampling;		     /* CPU samples of the target go into their rings */
	_Bool keep_samples;	     /* and, while recording, beside the calls */
	_Bool written;		     /* some thread has written to a block device itself */
	_Bool steps_full;	     /* no further stack of a wait is copied */
	_Bool hold_children;	     /* the reader is woken at forks (probes/session/hold.c) */
	unsigned int launched_tgid;  /* the exec of this process sets recording */
	unsigned int count_first_id; /* of the functions being counted: index 0 of the counts */
	unsigned long long since_ns; /* when recording was set the last time */
	unsigned long long births;   /* and ends of processes of the target so far */
};

#endif
