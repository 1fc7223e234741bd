/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function touches sixteen pages; in three calls of four they were given back to the kernel
 * before, so that each touch faults.
 */
#include <sys/mman.h>

#include "common.h"

enum { PAGES = 16, PAGE_BYTES = 4096, WARM_ONE_IN = 4 };

static struct truth touches = { .block = "touch_pages",
				.cause = "page-fault",
				.verdict = "interference" };

TRACED void touch_pages(unsigned thread, volatile char *area)
{
	uint64_t begin = now_ns();

	for (int i = 0; i < PAGES; i++)
		area[i * PAGE_BYTES] = 1;
	truth_call(&touches, thread, begin);
}

static void run(struct worker *w)
{
	char *area = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		bench_die("mmap");
	madvise(area, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < w->calls; i++) {
		if (i % WARM_ONE_IN)
			madvise(area, PAGES * PAGE_BYTES, MADV_DONTNEED);
		touch_pages(w->index, area);
	}
	munmap(area, PAGES * PAGE_BYTES);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "pagefault",
				   .what = "A storm of minor page faults.",
				   .threads = 1,
				   .iterations = 50021,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&touches);
	return 0;
}
