// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/switches.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/version.h"
#include "probes/process/named.h"
#include "probes/ring/ring.h"
#include "trace/meta/meta.h"
#include "trace/write/writer.h"

#define RING_BYTES (2u << 20) /* for each CPU: half a second of switches of a very busy CPU */

static void write_line(void *switches, struct text *line)
{
	struct java_switches *k = switches;

	trace_writer_meta(k->drain.writer, line->s);
	text_release(line);
}

/* ---- what a switch costs ---- */

static void forget(void *ctx, uint32_t cpu, const void *record)
{
	(void)ctx, (void)cpu, (void)record;
}

static int watch_child(void *ctx, pid_t child)
{
	struct java_switches *k = ctx;

	bpfprog_record(k->programs, true);
	return bpfprog_add_target(k->programs, child, 0);
}

static double more_ns(double ns, double alone_ns)
{
	return ns > alone_ns ? ns - alone_ns : 0; /* NAN, not measured: 0 */
}

static int attach(struct java_switches *k, struct err *err)
{
	struct switchcost alone = switchcost_measure(NULL, NULL), watched;
	int ret = bpfprog_attach_scheduler(k->programs, err);

	if (ret)
		return ret;
	watched = switchcost_measure(watch_child, k);
	bpfprog_record(k->programs, false);
	k->cost.switch_ns = more_ns(watched.switch_ns, alone.switch_ns);
	k->cost.birth_ns = more_ns(watched.birth_ns - 2 * k->cost.switch_ns, alone.birth_ns);
	for (uint32_t i = 0; i < k->rings.n; i++)
		ringbuf_drain(&k->rings.rings[i], forget, NULL);
	return 0;
}

uint64_t java_switches_cost_ns(const struct java_switches *k)
{
	const struct wire_totals *from = &k->before, *to = &k->after;

	if (!k->programs)
		return 0;
	return (uint64_t)(k->cost.switch_ns * (double)(to->switches - from->switches) +
			  k->cost.birth_ns * (double)(to->births - from->births));
}

/* ---- from begin to end ---- */

int java_switches_open(struct java_switches *k, struct err *err)
{
	const size_t bytes = ringbuf_bytes(RING_BYTES);
	const struct bpfprog_options o = { .period = 1,
					   .follow_children = true,
					   .kernel_version = kernel_version_running(),
					   .ring_bytes = bytes };
	int ret;

	*k = (struct java_switches){ .rings = { .epoll_fd = -1 } };
	ret = cpus_read(&k->cpus);
	if (ret)
		return err_set(err, ret, "the list of CPUs cannot be read; mount /sys");
	ret = bpfprog_open(&k->programs, &o, err);
	if (!ret)
		ret = ringbufs_open(&k->rings, k->programs, &k->cpus, bytes, err);
	if (!ret)
		ret = attach(k, err);
	if (ret)
		java_switches_release(k);
	return ret;
}

uint32_t java_switches_cpus(const struct java_switches *k)
{
	return k->programs ? k->cpus.n_possible : 0;
}

void java_switches_begin(struct java_switches *k, struct trace_writer *w)
{
	if (!k->programs)
		return;
	drain_init(&k->drain, w, k->programs, k->cpus.n_possible);
	bpfprog_totals(k->programs, &k->before);
	drain_start(&k->drain, clock_now_ns());
	k->begun = true;
}

int java_switches_watch(struct java_switches *k, pid_t pid, bool is_command)
{
	int ret;

	if (!k->programs)
		return 0;
	ret = bpfprog_add_target(k->programs, pid, 0);
	drain_add_target(&k->drain, pid);
	if (is_command)
		bpfprog_record_from_exec(k->programs, pid);
	else
		bpfprog_record(k->programs, true);
	if (!is_command)
		named_threads(pid, write_line, k);
	return ret;
}

int java_switches_drain(struct java_switches *k)
{
	struct rings no_mappings = { 0 };

	return k->begun ? drain_run(&k->drain, &k->rings, &no_mappings) : 0;
}

void java_switches_end(struct java_switches *k, uint64_t now_ns)
{
	if (!k->begun)
		return;
	bpfprog_record(k->programs, false);
	java_switches_drain(k);
	drain_finish(&k->drain, &k->rings, now_ns);
	bpfprog_totals(k->programs, &k->after);
	drain_takers_write(&k->drain.takers, write_line, k);
}

void java_switches_release(struct java_switches *k)
{
	if (k->begun)
		drain_release(&k->drain);
	k->begun = false;
	bpfprog_free(k->programs);
	k->programs = NULL;
	ringbufs_release(&k->rings);
}
