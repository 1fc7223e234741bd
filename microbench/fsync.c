/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Appends to an own file; every second record is made durable with fdatasync. */
#include "common.h"

enum { RECORD_BYTES = 512 };

static int fd = -1;
static struct truth appends = { .block = "append_record",
				.cause = "disk-io",
				.verdict = "interference" };

TRACED void append_record(unsigned thread, bool durable)
{
	char record[RECORD_BYTES] = { 'r' };
	uint64_t begin = now_ns();

	if (write(fd, record, sizeof(record)) != sizeof(record))
		bench_die("write");
	if (durable && fdatasync(fd))
		bench_die("fdatasync");
	truth_call(&appends, thread, begin);
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++) {
		append_record(w->index, i % 2);
		spin_ns(100000);
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "fsync",
				   .what = "Appends with fdatasync.",
				   .threads = 1,
				   .iterations = 1009,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	fd = own_file(O_WRONLY | O_APPEND);
	workers_run(&o, run);
	truth_print(&appends);
	return 0;
}
