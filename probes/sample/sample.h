/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the target's CPU time goes: samples from one event per CPU (cycles where there is a PMU,
 * cpu-clock otherwise), let through by a BPF filter for the target's processes only, so that
 * threads and children cost nothing more. They have rings of their own. User-space call chains
 * come from frame pointers, as far as the target has them; whoever wants better asks for the
 * registers and a copy of the stack, and unwinds them.
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
 * Few enough for a bucket of the programs' map of stacks, with the kernel's marks of context:
 * before 6.19 bpf_get_stackid() in a program of a perf event that has call chains copies all of a
 * chain and writes over whatever lies behind the bucket (fixed by "bpf: Fix stackmap overflow check
 * in
 * __bpf_get_stackid()").
 */
#define SAMPLE_MARKS_MAX  8 /* kernel.perf_event_max_contexts_per_stack */
#define SAMPLE_FRAMES_MAX (WIRE_FRAMES_MAX - SAMPLE_MARKS_MAX)

struct sample {
	uint64_t time_ns;
	uint32_t cpu, tid, tgid;
	uint32_t n_frames; /* user space, innermost first; 0: none known */
	const uint64_t *frames;
	/* By rising number of unwind_register_mask, and the stack from its pointer upwards; NULL:
	 * not asked for, or a thread without a user side. */
	const uint64_t *registers;
	const uint8_t *stack;
	size_t stack_bytes;
};

struct sampler {
	struct rings rings;
	bool cycles;	      /* a PMU's cycles, not cpu-clock */
	uint32_t stack_bytes; /* copied of each stack; 0: none, nor the registers */
	uint64_t lost_before; /* of what sampler_lost() would say: not asked for */
};

int sampler_open(struct sampler *s, struct bpfprog *b, const struct cpus *cpus, uint32_t hertz,
		 uint32_t stack_bytes, struct err *err);
int sampler_set_rate(struct sampler *s, uint32_t hertz);
void sampler_read(struct sampler *s, void (*visit)(void *ctx, const struct sample *sample),
		  void *ctx);
/* Drops the samples so far, with their losses: they are not asked for. */
void sampler_forget(struct sampler *s);
/* Samples that found no room in the rings; after sampler_read(). */
uint64_t sampler_lost(struct sampler *s);
void sampler_release(struct sampler *s);

#endif
