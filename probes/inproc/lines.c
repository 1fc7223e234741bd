/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inproc/lines.h"

#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/text.h"
#include "probes/inproc/drain.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/record.h"
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

void inproc_write_set(struct inproc_drain *d, bool on, uint64_t time_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { 0 };
	struct record record = { .kind = on ? REC_SET_ON : REC_SET_OFF,
				 .cpu = d->cpu,
				 .time_ns = time_ns,
				 .n_values = 2,
				 .values = values };

	trace_writer_record(d->writer, &record);
}

void inproc_sum_up_shorter(struct inproc_drain *d, uint64_t ns)
{
	char words[160], time[TEXT_NUMBER];

	inproc_drain_keep_slower(d, ns);
	snprintf(words, sizeof(words),
		 "calls shorter than %s left no records, only sums and a histogram",
		 text_time(time, ns));
	inproc_write_notice(d->writer, "keep-slower", words);
}
