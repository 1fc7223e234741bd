/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random O_DIRECT reads of an own file. One call in eight finds its block in memory (a buffer
 * that the program keeps), which is the fast call; the others wait for the disk.
 */
#include "common.h"

enum { BLOCK_BYTES = 4096, FILE_BLOCKS = 4096, CACHED_ONE_IN = 8 };

static int fd = -1;
static struct truth reads = { .block = "read_block",
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
	for (uint64_t i = 0; i < w->calls; i++) {
		read_block(w->index, next_random(&w->random) % FILE_BLOCKS, i % CACHED_ONE_IN != 0,
			   buffer);
		spin_ns(50000);
	}
	free(buffer);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "io_direct",
				   .what = "Random O_DIRECT reads.",
				   .threads = 1,
				   .iterations = 5003,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	fd = own_file(O_RDWR | O_DIRECT);
	fill_file();
	workers_run(&o, run);
	truth_print(&reads);
	return 0;
}
