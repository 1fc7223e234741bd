/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random O_DIRECT reads of an own file, or writes. One call in eight finds its block in memory (a
 * buffer that the program keeps), which is the fast call; the others wait for the disk.
 */
#include "common.h"

enum { BLOCK_BYTES = 4096, FILE_BLOCKS = 4096, CACHED_ONE_IN = 8 };

static int fd = -1;
static uint64_t is_writing;
static struct truth reads = { .block = "read_block",
			      .cause = "disk-io",
			      .verdict = "interference" };
static struct truth writes = { .block = "write_block",
			       .cause = "disk-io",
			       .verdict = "interference" };
static char cached[BLOCK_BYTES];

TRACED void read_block(unsigned thread, uint64_t block, bool from_disk, char *buffer)
{
	uint64_t begin = now_ns();

	if (!from_disk)
		memcpy(buffer, cached, BLOCK_BYTES);
	else if (pread(fd, buffer, BLOCK_BYTES, (off_t)(block * BLOCK_BYTES)) != BLOCK_BYTES)
		bench_die("pread");
	truth_call(&reads, thread, begin);
}

TRACED void write_block(unsigned thread, uint64_t block, bool to_disk, const char *buffer)
{
	uint64_t begin = now_ns();

	if (!to_disk)
		memcpy(cached, buffer, BLOCK_BYTES);
	else if (pwrite(fd, buffer, BLOCK_BYTES, (off_t)(block * BLOCK_BYTES)) != BLOCK_BYTES)
		bench_die("pwrite");
	truth_call(&writes, thread, begin);
}

static void fill_file(void)
{
	char *buffer = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);

	if (!buffer)
		bench_die("aligned_alloc");
	memset(buffer, 'x', BLOCK_BYTES);
	for (int i = 0; i < FILE_BLOCKS; i++)
		if (write(fd, buffer, BLOCK_BYTES) != BLOCK_BYTES)
			bench_die("write");
	free(buffer);
}

static void run(struct worker *w)
{
	char *buffer = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);

	if (!buffer)
		bench_die("aligned_alloc");
	memset(buffer, 'y', BLOCK_BYTES);
	for (uint64_t i = 0; i < w->calls; i++) {
		uint64_t block = next_random(&w->random) % FILE_BLOCKS;

		if (is_writing)
			write_block(w->index, block, i % CACHED_ONE_IN != 0, buffer);
		else
			read_block(w->index, block, i % CACHED_ONE_IN != 0, buffer);
		spin_ns(50000);
	}
	free(buffer);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "writes", "N", "1: writes instead of reads", &is_writing, NULL }, { 0 }
	};
	struct bench_options o = { .name = "io_direct",
				   .what = "Random O_DIRECT reads, or writes.",
				   .extras = extras,
				   .threads = 1,
				   .iterations = 5003,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	fd = own_file(O_RDWR | O_DIRECT);
	fill_file();
	workers_run(&o, run);
	truth_print(is_writing ? &writes : &reads);
	return 0;
}
