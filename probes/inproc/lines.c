/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inproc/lines.h"

#include <math.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

void inproc_write_line(struct trace_writer *w, struct text *line)
{
	trace_writer_meta(w, line->s);
	text_release(line);
}

void inproc_write_notice(struct trace_writer *w, const char *code, const char *words)
{
	struct meta_notice n = { .code = code, .text = words };
	struct text line = { 0 };

	meta_print_notice(&n, &line);
	inproc_write_line(w, &line);
}

void inproc_write_session(struct trace_writer *w, const struct meta_session *known)
{
	struct meta_session m = *known;
	struct timespec unix_time;
	struct text line = { 0 };
	struct cpus cpus = { 0 };
	struct utsname u;

	m.version = TRACE_VERSION;
	m.clock = "monotonic";
	m.cycles_per_ns = NAN;
	m.pmu = "none";
	if (!m.period)
		m.period = 1;
	m.recorder_pid = (uint64_t)getpid();
	clock_gettime(CLOCK_REALTIME, &unix_time);
	m.start_unix_ns = (uint64_t)unix_time.tv_sec * 1000000000u + (uint64_t)unix_time.tv_nsec;
	uname(&u);
	m.hostname = u.nodename;
	m.kernel = u.release;
	m.machine = u.machine;
	if (!cpus_read(&cpus))
		m.cpus = cpus.n;
	meta_print_session(&m, &line);
	inproc_write_line(w, &line);
}

void inproc_write_end(struct trace_writer *w, const struct meta_end *known)
{
	struct meta_end m = *known;
	struct text line = { 0 };

	m.recorder_cpu_ns = clock_cpu_ns();
	m.counting_cost_ns = META_UNKNOWN;
	m.sampling_cost_ns = META_UNKNOWN;
	m.sample_ns = META_UNKNOWN;
	m.after_cost_ns = META_UNKNOWN;
	m.cpus_busy_ns = META_UNKNOWN;
	m.probed_ns = META_UNKNOWN;
	m.cpus_steal_ns = META_UNKNOWN;
	m.usable_cpus = NAN;
	meta_print_end(&m, &line);
	inproc_write_line(w, &line);
}
