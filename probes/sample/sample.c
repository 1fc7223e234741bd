/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample/sample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "probes/kernel/bpfprog.h"
#include "symbol/dso/unwind.h"

#define RING_BYTES	     (256u << 10)
#define RING_OF_COPIES_BYTES (1u << 20) /* 0.1 s of the highest rate */

/*
 * Cycles are sampled by frequency, the clock by its period in ns: the kernel turns a frequency of
 * cpu-clock into a period when it opens the event, and takes the value of PERF_EVENT_IOC_PERIOD
 * later as a period.
 */
static uint64_t rate_value(bool cycles, uint32_t hertz)
{
	return cycles ? hertz : 1000000000ull / hertz;
}

static struct perf_event_attr event_of(bool cycles, uint32_t hertz, uint32_t stack_bytes)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.freq = cycles,
		.sample_period = rate_value(cycles, hertz),
		.exclude_callchain_kernel = 1,
		.sample_max_stack = SAMPLE_FRAMES_MAX,
		.disabled = 1,
	};

	if (stack_bytes) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = unwind_register_mask;
		attr.sample_stack_user = stack_bytes;
	}
	return attr;
}

/*
 * Whether cycles can be sampled at that rate. The limit perf_event_max_sample_rate, which the
 * kernel lowers if interrupts take long (emulators, busy hosts), applies to frequencies but not to
 * the clock's period.
 */
static bool has_cycles(uint32_t cpu, uint32_t hertz)
{
	struct perf_event_attr event = event_of(true, hertz, 0);
	int fd = syscall(SYS_perf_event_open, &event, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int sampler_open(struct sampler *s, struct bpfprog *b, const struct cpus *cpus, uint32_t hertz,
		 uint32_t stack_bytes, struct err *err)
{
	struct perf_event_attr event;
	int ret;

	*s = (struct sampler){ .cycles = has_cycles(cpus->online[0], hertz),
			       .stack_bytes = stack_bytes };
	event = event_of(s->cycles, hertz, stack_bytes);
	ret = rings_open(&s->rings, cpus, stack_bytes ? RING_OF_COPIES_BYTES : RING_BYTES, &event,
			 err);
	for (uint32_t i = 0; i < s->rings.n && !ret; i++) {
		if (s->rings.rings[i].fd < 0)
			continue;
		ret = bpfprog_attach_sampler(b, s->rings.rings[i].fd, err);
		if (!ret)
			ioctl(s->rings.rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return ret;
}

int sampler_set_rate(struct sampler *s, uint32_t hertz)
{
	uint64_t value = rate_value(s->cycles, hertz);

	for (uint32_t i = 0; i < s->rings.n; i++)
		if (s->rings.rings[i].fd >= 0 &&
		    ioctl(s->rings.rings[i].fd, PERF_EVENT_IOC_PERIOD, &value))
			return -errno;
	return 0;
}

struct reading {
	struct sampler *sampler;
	void (*visit)(void *ctx, const struct sample *sample);
	void *ctx;
};

struct sample_record {
	struct perf_event_header header;
	uint32_t tgid, tid;
	uint64_t time_ns;
	uint64_t n;
	uint64_t chain[];
};

/*
 * Reads the data after the chain: the ABI of the registers (0: none) and the registers, the size of
 * the copy, the copy, and how much of it is valid.
 */
static void read_copy(const uint64_t *at, struct sample *s)
{
	uint64_t size;

	if (*at++) {
		s->registers = at;
		at += __builtin_popcountll(unwind_register_mask);
	}
	size = *at++;
	s->stack = (const uint8_t *)at;
	s->stack_bytes = size ? at[size / sizeof(*at)] : 0;
}

/* Visits a sample. Addresses above the highest user page are context marks (PERF_CONTEXT_USER). */
static void read_one(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	const struct sample_record *r = (const void *)h;
	uint64_t frames[SAMPLE_FRAMES_MAX];
	struct reading *reading = ctx;
	struct sample s;

	if (h->type != PERF_RECORD_SAMPLE)
		return;
	s = (struct sample){
		.time_ns = r->time_ns, .cpu = ring->cpu, .tid = r->tid, .tgid = r->tgid
	};
	for (uint64_t i = 0; i < r->n && s.n_frames < SAMPLE_FRAMES_MAX; i++)
		if (r->chain[i] < PERF_CONTEXT_MAX)
			frames[s.n_frames++] = r->chain[i];
	s.frames = frames;
	if (reading->sampler->stack_bytes)
		read_copy(&r->chain[r->n], &s);
	reading->visit(reading->ctx, &s);
}

void sampler_read(struct sampler *s, void (*visit)(void *ctx, const struct sample *sample),
		  void *ctx)
{
	struct reading reading = { s, visit, ctx };

	for (uint32_t i = 0; i < s->rings.n; i++)
		ring_drain(&s->rings.rings[i], read_one, &reading);
}

static void forget_one(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	(void)ctx, (void)ring, (void)h;
}

void sampler_forget(struct sampler *s)
{
	for (uint32_t i = 0; i < s->rings.n; i++)
		ring_drain(&s->rings.rings[i], forget_one, NULL);
	s->lost_before = rings_lost(&s->rings);
}

uint64_t sampler_lost(struct sampler *s)
{
	return rings_lost(&s->rings) - s->lost_before;
}

void sampler_release(struct sampler *s)
{
	rings_release(&s->rings);
}
