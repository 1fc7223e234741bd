/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Section 5.6.1 of the ISPOT paper: the reducer of word_count looks a word up in a sorted array of
 * its own and, where it is new, moves all that comes after it, one by one, and sums each up again.
 * Found words take no time, new ones long: the work differs, no other thread is in the way. The
 * array has less than a MB, so that memory is hardly in the way either.
 */
#include "common.h"

enum { WORDS = 1 << 16, TEXT = 5, ROUNDS = 4 };

struct entry {
	uint64_t word, count, sum;
	uint64_t text[TEXT];
};

struct table {
	struct entry entries[WORDS];
	size_t used;
};

static uint64_t vocabulary = 60000;
static struct truth reducing = { .block = "wordcount_reduce",
				 .cause = "workload",
				 .verdict = "workload" };

static size_t lower_bound(const struct table *t, uint64_t word)
{
	size_t low = 0, high = t->used;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->entries[middle].word < word)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sum_up(struct entry *e)
{
	for (unsigned i = 0; i < ROUNDS * TEXT; i++)
		e->sum = (e->sum ^ e->text[i % TEXT]) * 0x9e3779b97f4a7c15ull;
}

static void insert(struct table *t, size_t at, uint64_t word)
{
	for (size_t i = t->used++; i > at; i--) {
		t->entries[i] = t->entries[i - 1];
		sum_up(&t->entries[i]);
	}
	t->entries[at] = (struct entry){ .word = word };
}

TRACED void wordcount_reduce(struct table *t, uint64_t word, unsigned thread)
{
	uint64_t begin = now_ns();
	size_t at = lower_bound(t, word);

	if (at == t->used || t->entries[at].word != word)
		insert(t, at, word);
	t->entries[at].count++;
	truth_call(&reducing, thread, begin);
}

static void run(struct worker *w)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		bench_die("calloc");
	for (uint64_t i = 0; i < w->calls; i++)
		wordcount_reduce(t, next_random(&w->random) % vocabulary, w->index);
	free(t);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "vocabulary", "N", "different words, at most 65536 (60000)", &vocabulary, NULL },
		{ 0 },
	};
	struct bench_options o = {
		.name = "word_count",
		.what = "The reducer of word_count: found words are quick, new ones slow.",
		.threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
		.iterations = 20011,
		.seed = 1,
		.extras = extras
	};

	bench_parse(&o, argc, argv);
	if (vocabulary < 1 || vocabulary > WORDS) {
		fprintf(stderr, "the vocabulary has 1 to %d words\n", WORDS);
		return 2;
	}
	workers_run(&o, run);
	truth_print(&reducing);
	return 0;
}
