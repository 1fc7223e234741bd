/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing 3 of the ISPOT paper: each thread reads its own file from start to end, again and again,
 * with O_DIRECT, so that each read goes to the disk, and computes for a known delay in between.
 * Prints the mean time of a read, in ns.
 */
#include "common.h"

enum { FILE_BYTES = 1 << 20, BUFFER_BYTES = 1 << 16 };

static uint64_t block_bytes = 512, sleeping, stagger_us, run_ms = 500;
static pthread_barrier_t start;
static int files[WORKERS_MAX];
static struct truth reads = { .block = "read_block", .cause = "disk-io" };

TRACED void read_block(unsigned thread, int fd, void *buffer, uint64_t offset)
{
	uint64_t begin = now_ns();

	if (pread(fd, buffer, block_bytes, (off_t)offset) != (ssize_t)block_bytes)
		bench_die("pread (is the block size one that O_DIRECT takes here?)");
	truth_call(&reads, thread, begin);
}

static void *new_buffer(void)
{
	void *buffer = aligned_alloc(4096, BUFFER_BYTES);

	if (!buffer)
		bench_die("aligned_alloc");
	return memset(buffer, 'x', BUFFER_BYTES);
}

/* Before the threads are born: their lifetime shall hold reads and delays only. */
static void make_files(uint64_t threads)
{
	void *buffer = new_buffer();

	for (uint64_t i = 0; i < threads; i++) {
		files[i] = own_file(O_RDWR | O_DIRECT);
		for (int at = 0; at < FILE_BYTES; at += BUFFER_BYTES)
			if (write(files[i], buffer, BUFFER_BYTES) != BUFFER_BYTES)
				bench_die("write");
		fsync(files[i]);
	}
	free(buffer);
}

static void run(struct worker *w)
{
	void *buffer = new_buffer();
	uint64_t offset = 0, end;

	end = begin_in_turn(w, &start, stagger_us) + run_ms * 1000000;
	for (uint64_t done = 0; goes_on(w, done, end); done++) {
		if (sleeping)
			sleep_ns(w->options->delay_us * 1000);
		else
			spin_ns(w->options->delay_us * 1000);
		read_block(w->index, files[w->index], buffer, offset);
		offset = (offset + block_bytes) % FILE_BYTES;
	}
	free(buffer);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "block", "BYTES", "read at once (512)", &block_bytes, NULL },
		{ "sleep", "0|1", "sleep for the delay: more threads than CPUs can wait (0)",
		  &sleeping, NULL },
		{ "stagger", "USEC", "a thread begins so much after the one before (0)",
		  &stagger_us, NULL },
		{ "ms", "MS", "how long all threads run without -n (500)", &run_ms, NULL },
		{ 0 },
	};
	struct bench_options o = { .name = "paper_io",
				   .what = "Listing 3 of the ISPOT paper: O_DIRECT reads.",
				   .threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	if (!block_bytes || block_bytes > BUFFER_BYTES) {
		fprintf(stderr, "paper_io: a block has 512 to 65536 bytes\n");
		return 2;
	}
	make_files(o.threads);
	pthread_barrier_init(&start, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&reads);
	truth_print_mean(&reads);
	return 0;
}
