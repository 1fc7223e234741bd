/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random nested loops, and what they must be found as. */
#include "unit.h"
#include "sequence_story.h"

struct node {
	bool loop;
	uint32_t function; /* of a call */
	unsigned n;
	struct node *items[6];
	uint64_t iterations;
};

struct program {
	struct node nodes[128];
	unsigned n_nodes;
	uint32_t n_functions;
};

static uint64_t random_state;

static unsigned below(unsigned n)
{
	return (unsigned)(dice(&random_state) >> 11) % n;
}

static struct node *make_call(struct program *p)
{
	struct node *n = &p->nodes[p->n_nodes++];

	n->function = p->n_functions++;
	return n;
}

/* Calls, and in each loop but the innermost one or two loops at any place. */
static struct node *make_loop(struct program *p, unsigned depth)
{
	struct node *n = &p->nodes[p->n_nodes++];
	unsigned loops = depth < 3 ? 1 + below(2) : 0, calls = 2 + below(2);

	n->loop = true;
	while (loops + calls) {
		bool loop = below(loops + calls) < loops;

		if (loop && n->n && n->items[n->n - 1]->loop)
			loop = !calls;
		if (loop)
			loops--;
		else
			calls--;
		n->items[n->n++] = loop ? make_loop(p, depth + 1) : make_call(p);
	}
	return n;
}

struct row {
	VEC(uint32_t)
};

static void run_loop(struct node *n, struct row *out)
{
	for (unsigned times = 1 + below(20); times; times--) {
		n->iterations++;
		for (unsigned i = 0; i < n->n; i++)
			if (n->items[i]->loop)
				run_loop(n->items[i], out);
			else
				*vec_add(out) = n->items[i]->function;
	}
}

static void name_loop(const struct node *n, struct text *out)
{
	for (unsigned i = 0; i < n->n; i++) {
		text_add(out, i ? " " : "");
		if (!n->items[i]->loop) {
			text_printf(out, "f%u", n->items[i]->function);
			continue;
		}
		text_add(out, "(");
		name_loop(n->items[i], out);
		text_add(out, ")×n");
	}
}

static void check_loops(const struct story *s, const struct program *p, uint64_t seed)
{
	for (unsigned i = 0; i < p->n_nodes; i++) {
		const struct node *n = &p->nodes[i];
		struct text name = { 0 };

		if (!n->loop)
			continue;
		name_loop(n, &name);
		if (count(s, name.s) != n->iterations)
			fail_msg("seed %llu: '%s' ran %llu times, found %llu",
				 (unsigned long long)seed, name.s,
				 (unsigned long long)n->iterations,
				 (unsigned long long)count(s, name.s));
		text_release(&name);
	}
}

#define THREADS 8

static void note_all(struct story *s, uint32_t kind, uint32_t function)
{
	for (uint32_t t = 1; t <= THREADS; t++) {
		s->now += 10;
		note(s, kind, t, function, 0x2000);
	}
}

/* inside: of a call that lasts as long as its thread, as of main. */
static void random_program(uint64_t seed, bool inside)
{
	struct program p = { 0 };
	struct row rows[THREADS] = { 0 };
	size_t at[THREADS] = { 0 };
	struct story s;
	struct node *main_loop;
	unsigned left = THREADS;

	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	main_loop = make_loop(&p, 1);
	for (unsigned t = 0; t < THREADS; t++)
		run_loop(main_loop, &rows[t]);
	begin(&s, NULL, p.n_functions + 1);
	if (inside)
		note_all(&s, REC_ENTRY, p.n_functions);
	while (left) {
		unsigned t = below(THREADS);

		if (at[t] == rows[t].n)
			continue;
		call(&s, t + 1, rows[t].data[at[t]], 10 + below(5));
		left -= ++at[t] == rows[t].n;
	}
	if (inside)
		note_all(&s, REC_EXIT, p.n_functions);
	read_all(&s);
	check_loops(&s, &p, seed);
	end(&s);
	for (unsigned t = 0; t < THREADS; t++)
		vec_release(&rows[t]);
}

static void random_programs(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		random_program(seed, false);
		random_program(seed, true);
	}
}

/* Calls in no order: no sequence is worth more than its bound of memory. */
static void no_order(void **state)
{
	struct story s;

	begin(&s, NULL, 50);
	random_state = 4711;
	for (int i = 0; i < 200000; i++)
		call(&s, 1, below(50), 10);
	read_all(&s);
	assert_true(s.sequences.patterns.all.n <= PATTERN_LOOPS + PATTERN_PAIRS);
	assert_true(s.keyed.groups.n <= KEYED_MAX + 50);
	assert_true(s.sequences.patterns.refused > 0);
	assert_int_equal(count(&s, "f7") > 1000, 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs),
		cmocka_unit_test(no_order),
	};

	return unit_run(tests);
}
