/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds that end at a barrier, with a planted cause of imbalance, after those that the LIME paper
 * found in SPLASH-2: --case blocks (LU: blocks dealt out by (i + j) % threads), root (volrend: one
 * thread has more to do), tree (Barnes: recursion on uneven trees), loops (fmm: iteration counts),
 * misses (radix: cache misses, even instructions), mix (blocks and root), balanced; nested, whose
 * two counts correlate by 0.8, so that it depends on the threshold what is told apart; and faults
 * (page faults, even instructions), which the kernel tells of on machines without a PMU, too;
 * slight, whose one thread has so little more to do that others idle for 1 % of the section. The
 * line to blame says "planted:". --fixed 1 repairs it. --length N makes all but misses and faults N
 * times as long, where to wait at a barrier takes long itself.
 */
#include <sys/mman.h>

#include "common.h"

#define TABLE (1u << 20)

struct node {
	const struct node *left, *right;
};

static pthread_barrier_t barrier;
static const char *which = "blocks";
static uint64_t fixed, length = 1;
static struct node *trees[WORKERS_MAX];
static volatile char table[TABLE];
static volatile char *pages[WORKERS_MAX]; /* of the next round */
static uint64_t sink[WORKERS_MAX * 8];

#define PART static __attribute__((noinline))

static inline uint64_t spend(uint64_t n, uint64_t x)
{
	return churn(n * length, x);
}

PART void block(unsigned me)
{
	sink[me * 8] = spend(2000, sink[me * 8]);
}

PART void blocks(unsigned me, unsigned threads)
{
	unsigned n = threads / 2 + 1;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			if ((i + j) % threads == me) /* planted: blocks mix */
				block(me);
}

PART void blocks_dealt_out(unsigned me)
{
	for (unsigned i = 0; i < 4; i++)
		block(me);
}

PART void root(unsigned me)
{
	blocks_dealt_out(me);
	if (me == 0 && !fixed) /* planted: root mix */
		sink[me * 8] = spend(12000, sink[me * 8]);
}

PART void slight(unsigned me)
{
	blocks_dealt_out(me);
	if (me == 0 && !fixed) /* planted: slight */
		sink[me * 8] = spend(110, sink[me * 8]);
}

PART uint64_t walk(const struct node *n)
{
	if (!n->left) /* planted: tree */
		return 1;
	return spend(20, (uint64_t)(uintptr_t)n) % 7 + walk(n->left) + walk(n->right);
}

PART void loops(unsigned me, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) /* planted: loops */
		sink[me * 8] = spend(50, sink[me * 8]);
}

/* That many of each hundred; more hundreds do not make so many more of those. */
PART void nested(unsigned me, uint64_t hundreds, uint64_t heavy)
{
	for (uint64_t i = 0; i < 100 * hundreds; i++) /* around: nested */
		if (i * 37 % 100 < heavy)	      /* planted: nested */
			sink[me * 8] = spend(200, sink[me * 8]);
}

PART void misses(unsigned me, uint64_t stride)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 20000; i++)
		sum += table[i * stride % TABLE]; /* planted: misses */
	sink[me * 8] = sum;
}

PART void faults(unsigned me, uint64_t stride)
{
	for (uint64_t i = 0; i < 2048; i++)
		pages[me][i * stride % TABLE] = 1; /* planted: faults */
	pages[me] += TABLE;
}

/* Inner nodes each with two children; a chain of them, so that the tree is as uneven as it gets. */
static struct node *grow(unsigned inner)
{
	struct node *nodes = calloc(2 * (size_t)inner + 1, sizeof(*nodes));

	for (unsigned i = 0; i < inner; i++) {
		nodes[2 * i].left = &nodes[2 * i + 1];
		nodes[2 * i].right = &nodes[2 * i + 2];
	}
	return nodes;
}

static void work(unsigned me, unsigned threads)
{
	static const uint8_t heavy[] = { 25, 10, 17, 11 };

	if (!strcmp(which, "blocks"))
		fixed ? blocks_dealt_out(me) : blocks(me, threads);
	else if (!strcmp(which, "root"))
		root(me);
	else if (!strcmp(which, "slight"))
		slight(me);
	else if (!strcmp(which, "tree"))
		sink[me * 8] += walk(trees[me]);
	else if (!strcmp(which, "loops"))
		loops(me, fixed ? 500 : 100 * (1 + me * me % 11));
	else if (!strcmp(which, "nested"))
		nested(me, fixed ? 2 : 1 + me % 4, fixed ? 15 : heavy[me % 4]);
	else if (!strcmp(which, "misses"))
		misses(me, fixed ? 64 : 8 * (me % 8 + 1));
	else if (!strcmp(which, "faults"))
		faults(me, fixed ? 256 : 64 * (me % 8 + 1));
	else if (!strcmp(which, "mix"))
		fixed ? blocks_dealt_out(me) : (blocks(me, threads), root(me));
	else
		blocks_dealt_out(me);
}

static void run(struct worker *w)
{
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0; i < w->options->iterations; i++) {
		work(w->index, (unsigned)w->options->threads);
		pthread_barrier_wait(&barrier);
	}
}

/* New ones for every round: to give the old ones back would stop the other threads, too. */
static volatile char *own_pages(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		bench_die("mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "case", "WHAT", "blocks root tree loops nested misses faults mix slight balanced",
		  NULL, &which },
		{ "fixed", "0|1", "without the cause", &fixed, NULL },
		{ "length", "N", "of what each thread does in a round", &length, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "uneven",
				   .what = "Rounds with uneven work; -n counts the rounds.",
				   .threads = 4,
				   .iterations = 3,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	for (unsigned i = 0; i < o.threads; i++)
		trees[i] = grow(fixed ? 400 : 100 + 37 * (i * i % 7));
	for (unsigned i = 0; i < o.threads; i++)
		pages[i] = own_pages(o.iterations * TABLE);
	pthread_barrier_init(&barrier, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	for (unsigned i = 0; i < o.threads; i++)
		free(trees[i]);
	return 0;
}
