/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes samples of the CPUs. The events are CPU-wide, but only samples of the target are recorded.
 */
#ifndef ISPOT_PROBES_BPF_SAMPLE_H
#define ISPOT_PROBES_BPF_SAMPLE_H

#include "common.h"
#include "sched.h"

#if defined(__TARGET_ARCH_arm64)
#define SAMPLED_AT(regs) ((regs)->pc)
#else
#define SAMPLED_AT(regs) ((regs)->ip)
#endif

/*
 * Writes the sample into the CPU's ring, among the calls. Returning 1 also lets the sample into the
 * sampler's own ring, which the selection of functions reads.
 */
SEC("perf_event")
int on_sample(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct wire_totals *t = my_totals();
	struct wire_sample w;

	if (!t || !is_target(pid_tgid >> 32))
		return 0;
	t->samples++;
	if (control.recording && control.keep_samples) {
		set_head(&w.h, WIRE_SAMPLE, pid_tgid, pid_tgid >> 32);
		w.ip = SAMPLED_AT(ctx);
		w.stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
		emit_other(ctx, &w, sizeof(w));
	}
	return control.sampling;
}

#endif
