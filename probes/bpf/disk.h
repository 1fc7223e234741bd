/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts the sectors that a thread itself submits to block devices for writing: direct writes, and
 * dirty pages that its fsync writes. The kernel's account of a task has the pages that the task
 * dirtied instead, whichever task writes them later.
 */
#ifndef ISPOT_PROBES_BPF_DISK_H
#define ISPOT_PROBES_BPF_DISK_H

#include "common.h"
#include "counters.h"

#define OPERATION_MASK	0xff
#define OPERATION_WRITE 1

struct bvec_iter {
	unsigned int bi_size;
} __core;

struct bio {
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
} __core;

struct task_struct___submitting {
	void *bio_list; /* set inside a device that passes bios on, which are counted already */
} __core;

/* Uses two loads, as the verifier rejects one from the context with a variable offset. */
static __always_inline struct bio *queued_bio(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 bio;

	if (config.bio_is_first) {
		bio = ctx->args[0];
		asm volatile("" : "+r"(bio));
	} else {
		bio = ctx->args[1];
	}
	return (void *)bio;
}

SEC("raw_tp/block_bio_queue")
int on_bio(struct bpf_raw_tracepoint_args *ctx)
{
	struct bio *bio = queued_bio(ctx);
	struct task_struct___submitting *task = (void *)bpf_get_current_task();
	__u64 id = bpf_get_current_pid_tgid();
	struct counting *c;

	if (!control.recording || !is_target(id >> 32) ||
	    (BPF_CORE_READ(bio, bi_opf) & OPERATION_MASK) != OPERATION_WRITE ||
	    BPF_CORE_READ(task, bio_list))
		return 0;
	c = counting_of(id);
	if (c)
		c->sectors_written += BPF_CORE_READ(bio, bi_iter.bi_size) >> 9;
	control.written = true;
	return 0;
}

#endif
