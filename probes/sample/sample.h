/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the target's CPU time goes: samples from one event per CPU (cycles if there is a PMU, else
 * cpu-clock). A BPF filter passes only those of the target's processes, so that threads and
 * children need no events of their own. The samples have their own rings. User-space call chains
 * come from frame pointers, as far as the target has them; a caller that needs better chains asks
 * for the registers and a copy of the stack, and unwinds them.
 */
#ifndef ISPOT_PROBES_SAMPLE_SAMPLE_H
#define ISPOT_PROBES_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/bpf/wire.h"
#include "probes/ring/ring.h"

struct bpfprog;
struct cpus;
struct err;

/*
 * The number of frames must fit, with the kernel's context marks, into a bucket of the BPF
 * programs' map of stacks. Before 6.19 bpf_get_stackid(), in a program of a perf event that has
 * call chains, copies all of a chain and overwrites the memory after the bucket (fixed by "bpf: Fix
 * stackmap overflow check in __bpf_get_stackid()").
 */
#define SAMPLE_MARKS_MAX  8 /* kernel.perf_event_max_contexts_per_stack */
#define SAMPLE_FRAMES_MAX (WIRE_FRAMES_MAX - SAMPLE_MARKS_MAX)

struct sample {
	uint64_t time_ns;
	uint32_t cpu, tid, tgid;
	uint32_t n_frames; /* user space, innermost first; 0: unknown */
	const uint64_t *frames;
	/*
	 * The registers in the order of their numbers in unwind_register_mask, and the stack from
	 * its pointer upwards. NULL: not requested, or the thread has no user side.
	 */
	const uint64_t *registers;
	const uint8_t *stack;
	size_t stack_bytes;
};

struct sampler {
	struct rings rings;
	bool cycles;	      /* samples cycles of a PMU, not cpu-clock */
	uint32_t stack_bytes; /* bytes copied of each stack; 0: neither stack nor registers */
	/* losses that sampler_lost() leaves out, because they were dropped on purpose */
	uint64_t lost_before;
};

int sampler_open(struct sampler *s, struct bpfprog *b, const struct cpus *cpus, uint32_t hertz,
		 uint32_t stack_bytes, struct err *err);
int sampler_set_rate(struct sampler *s, uint32_t hertz);
void sampler_read(struct sampler *s, void (*visit)(void *ctx, const struct sample *sample),
		  void *ctx);
/* Drops the samples so far and forgets their losses, because nobody asked for them. */
void sampler_forget(struct sampler *s);
/* Returns how many samples found no room in the rings. Is called after sampler_read(). */
uint64_t sampler_lost(struct sampler *s);
void sampler_release(struct sampler *s);

#endif
