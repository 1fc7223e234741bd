/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>

#include "analysis/imbalance/lime.h"

static const struct lime_options paper = LIME_DEFAULTS;

#define EDGE(a, b)                                                                \
	{                                                                         \
		.kind = LIME_EDGE, .edge = { a, b, false }, .superior = LIME_NONE \
	}
#define BACK(a, b)                                                               \
	{                                                                        \
		.kind = LIME_EDGE, .edge = { a, b, true }, .superior = LIME_NONE \
	}

static const struct lime_cause *cause_of(const struct lime_causes *causes, uint32_t node,
					 uint32_t cluster)
{
	vec_for_each (causes, const struct lime_cause, c)
		if (c->node == node && c->cluster == cluster)
			return c;
	fail_msg("node %u does not lead cluster %u", node, cluster);
	return NULL;
}

/* The graph, correlations and coefficients of the paper's figure 4, and the scores it gives. */
static void figure_4(void **state)
{
	enum { ENTRY, A, B, C, D, E, F, G, H, I, J, K, L };
	static const struct lime_event events[] = {
		EDGE(ENTRY, A), EDGE(A, B), EDGE(B, C), EDGE(C, D), EDGE(A, E),
		EDGE(E, F),	EDGE(F, D), EDGE(D, G), EDGE(G, H), EDGE(H, I),
		EDGE(G, K),	EDGE(K, L), EDGE(I, J), EDGE(L, J),
	};
	static const uint32_t cluster_of[] = { 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 2, 2, 0, 2 };
	static const double r[] = { 0.1, 0.4, 0.4, 0.4,	 0.9,  0.9, 0.9,
				    0.1, 0.1, 0.1, 0.92, 0.92, 0.1, 0.92 };
	struct lime_causes causes = { 0 };

	lime_leaders(events, 14, cluster_of, r, 1, 0.22, &causes);
	lime_leaders(events, 14, cluster_of, r, 2, 0.91, &causes);
	assert_int_equal(causes.n, 3);
	assert_true(fabs(cause_of(&causes, A, 1)->score - 0.066) < 1e-12);
	assert_true(fabs(cause_of(&causes, A, 2)->leader - 0.8) < 1e-12);
	assert_true(fabs(cause_of(&causes, A, 2)->score - 0.728) < 1e-12);
	assert_true(fabs(cause_of(&causes, G, 2)->leader - 0.82) < 1e-12);
	assert_true(fabs(cause_of(&causes, G, 2)->score - 0.7462) < 1e-12);
	vec_release(&causes);
}

/* Figure 3, in the middle: the loop's cluster has its entry as leader though the loop comes back;
 * and a loop of one block, whose branch decides to go on. */
static void loops_have_leaders(void **state)
{
	static const struct lime_event loop[] = { EDGE(0, 1), EDGE(1, 2), EDGE(2, 3), BACK(3, 1),
						  EDGE(3, 4) };
	static const struct lime_event block[] = { EDGE(0, 1), BACK(1, 1), EDGE(1, 2) };
	static const uint32_t of_loop[] = { CLUSTER_NONE, 0, 0, 0, CLUSTER_NONE };
	static const uint32_t of_block[] = { CLUSTER_NONE, 0, CLUSTER_NONE };
	static const double r[] = { NAN, 0.95, 0.95, 0.95, NAN };
	struct lime_causes causes = { 0 };

	lime_leaders(loop, 5, of_loop, r, 0, 1, &causes);
	assert_int_equal(causes.n, 1);
	assert_int_equal(causes.data[0].node, 1);
	assert_int_equal(causes.data[0].decider, 3);
	assert_true(fabs(causes.data[0].score - 0.95) < 1e-12);
	lime_leaders(block, 3, of_block, r, 0, 1, &causes);
	assert_int_equal(causes.n, 2);
	assert_int_equal(causes.data[1].node, 1);
	assert_int_equal(causes.data[1].event, 1);
	vec_release(&causes);
}

/* The condition is at the loop's end, behind an inner loop: that branch decides, not the leader. */
static void loops_are_decided_at_their_end(void **state)
{
	static const struct lime_event loop[] = { EDGE(0, 1), BACK(1, 1), EDGE(1, 2), BACK(2, 1),
						  EDGE(2, 3) };
	static const uint32_t of[] = { CLUSTER_NONE, 0, 0, 0, CLUSTER_NONE };
	static const double r[] = { NAN, 0.95, 0.95, 0.95, NAN };
	struct lime_causes causes = { 0 };

	lime_leaders(loop, 5, of, r, 0, 1, &causes);
	assert_int_equal(causes.n, 1);
	assert_int_equal(causes.data[0].node, 1);
	assert_int_equal(causes.data[0].decider, 2);
	assert_int_equal(causes.data[0].event, 3);
	vec_release(&causes);
}

static void back_edges_are_found(void **state)
{
	/* main 0 calls 1, which recurs from 2 and 3; two loops, one of a block; a part without a
	 * way in. */
	struct cfg_edge e[] = { { 0, 1, 0 }, { 1, 2, 0 }, { 2, 1, 0 }, { 2, 3, 0 }, { 3, 1, 0 },
				{ 1, 4, 0 }, { 4, 4, 0 }, { 4, 5, 0 }, { 6, 7, 0 }, { 7, 6, 0 } };
	static const bool back[] = { 0, 0, 1, 0, 1, 0, 1, 0, 0, 1 };

	cfg_find_back_edges(e, 10, 8);
	for (int i = 0; i < 10; i++)
		assert_int_equal(e[i].back, back[i]);
}

/* A branch at node 1 gives its left side to threads unevenly; all that follows goes with it. */
static const struct lime_event uneven[] = { EDGE(0, 1), EDGE(1, 2), EDGE(1, 3),
					    EDGE(2, 4), EDGE(4, 5), EDGE(3, 5) };
#define UNEVEN(a, b, c, d)                                                                      \
	{                                                                                       \
		100, 100, 100, 100, a, b, c, d, 100 - a, 100 - b, 100 - c, 100 - d, a, b, c, d, \
			10 * a, 10 * b, 10 * c, 10 * d, 100 - a, 100 - b, 100 - c, 100 - d      \
	}

static void the_branch_that_parts_the_threads_is_first(void **state)
{
	static const double counts[] = UNEVEN(5, 10, 15, 70), times[] = { 60, 110, 160, 710 };
	struct lime_instance in = { 6, 4, uneven, counts, times };
	struct lime l;

	lime_analyse(&l, &in, &paper);
	assert_int_equal(l.answer, LIME_FOUND);
	assert_true(fabs(l.imbalance - (1 - 260.0 / 710)) < 1e-12);
	assert_int_equal(l.causes.n, 1);
	assert_int_equal(l.causes.data[0].node, 1);
	assert_int_equal(l.causes.data[0].event, 1);
	assert_true(l.causes.data[0].score > 0.99);
	lime_release(&l);
}

/* Executed equally often, missed the cache unevenly; misses that more executions explain are not
 * the cause. */
static void uneven_misses_are_a_hardware_cause(void **state)
{
	static const struct lime_event events[] = {
		EDGE(0, 1),
		EDGE(1, 1),
		{ .kind = LIME_EXECUTIONS, .superior = LIME_NONE },
		{ .kind = LIME_HARDWARE, .edge = { 1, 1, 0 }, .superior = 2 },
		{ .kind = LIME_HARDWARE, .edge = { 1, 1, 0 }, .superior = 3 },
	};
	static const double counts[] = { 1,  1,	 1, 1, 50, 50, 50, 50, 50, 50,
					 50, 50, 4, 9, 2,  30, 2,  5,  1,  16 };
	static const double times[] = { 140, 190, 120, 400 };
	struct lime_instance in = { 5, 4, events, counts, times };
	struct lime l;

	lime_analyse(&l, &in, &paper);
	assert_int_equal(l.answer, LIME_FOUND);
	assert_int_equal(l.causes.data[0].event, 3);
	assert_true(isnan(l.causes.data[0].leader));
	assert_true(fabs(l.causes.data[0].score - 1) < 1e-9);
	lime_release(&l);
}

/* All of a cluster have its coefficient as score: the few misses of a small function, which come
 * with the many of a large one, are not to be first. */
static void of_equal_scores_the_larger_event_is_first(void **state)
{
	static const struct lime_event events[] = {
		{ .kind = LIME_HARDWARE, .edge = { 1, 1, 0 }, .superior = LIME_NONE },
		{ .kind = LIME_HARDWARE, .edge = { 2, 2, 0 }, .superior = LIME_NONE },
		{ .kind = LIME_HARDWARE, .edge = { 3, 3, 0 }, .superior = LIME_NONE },
	};
	static const double counts[] = { 1, 2, 3, 9, 100, 200, 300, 900, 2, 4, 6, 18 };
	static const double times[] = { 200, 300, 400, 1000 };
	struct lime_instance in = { 3, 4, events, counts, times };
	struct lime_total t = { 0 };
	struct lime l;

	for (int i = 0; i < 2; i++) {
		lime_analyse(&l, &in, &paper);
		assert_int_equal(l.causes.n, 3);
		assert_int_equal(l.causes.data[0].node, 2);
		assert_true(l.causes.data[0].score == l.causes.data[2].score);
		lime_total_add(&t, &l);
		lime_release(&l);
	}
	lime_total_finish(&t);
	assert_int_equal(t.causes.data[0].node, 2);
	assert_int_equal(t.causes.data[1].node, 3);
	assert_true(t.causes.data[0].spread == 1600);
	lime_total_release(&t);
}

/* Whatever is degenerate has a sentence, no cause and no NaN. */
static void degenerate_instances_have_an_answer(void **state)
{
	static const double counts[] = UNEVEN(5, 10, 15, 70), even[] = UNEVEN(9, 9, 9, 9);
	static const double times[] = { 60, 110, 160, 710 }, same[] = { 7, 7, 7, 7 };
	static const double other[] = { 500, 90, 600, 80 }, none[] = { 0, 0, 0, 0 };
	static const struct {
		struct lime_instance in;
		enum lime_answer answer;
	} cases[] = {
		{ { 6, 4, uneven, counts, same }, LIME_BALANCED },
		{ { 6, 4, uneven, counts, none }, LIME_BALANCED },
		{ { 6, 1, uneven, counts, times }, LIME_ONE_THREAD },
		{ { 6, 0, uneven, counts, times }, LIME_ONE_THREAD },
		{ { 6, 2, uneven, counts, times }, LIME_FEW_THREADS },
		{ { 6, 4, uneven, even, times }, LIME_SAME_COUNTS },
		{ { 0, 4, NULL, NULL, times }, LIME_SAME_COUNTS },
		{ { 6, 4, uneven, counts, other }, LIME_UNRELATED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lime l;

		lime_analyse(&l, &cases[i].in, &paper);
		assert_int_equal(l.answer, cases[i].answer);
		assert_int_equal(l.causes.n, 0);
		assert_true(isfinite(l.imbalance) && isfinite(l.r2));
		assert_true(lime_answer_text(l.answer)[0]);
		lime_release(&l);
	}
}

/* Sections are looked at from 2 % on; whoever asks gets the cause of smaller ones. */
static void a_slight_imbalance_has_causes_for_who_asks(void **state)
{
	static const double counts[] = UNEVEN(5, 10, 15, 70);
	static const double times[] = { 5005, 5010, 5015, 5070 };
	const struct lime_options slight = { { CLUSTER_THRESHOLD, CLUSTER_BULK }, 0.005 };
	const struct lime_options none = { { CLUSTER_THRESHOLD, CLUSTER_BULK }, 0 };
	struct lime_instance in = { 6, 4, uneven, counts, times };
	struct lime l;

	lime_analyse(&l, &in, &paper);
	assert_true(l.imbalance > 0.005 && l.imbalance < LIME_BALANCE);
	assert_int_equal(l.answer, LIME_BALANCED);
	assert_int_equal(l.causes.n, 0);
	lime_release(&l);
	lime_analyse(&l, &in, &slight);
	assert_int_equal(l.answer, LIME_FOUND);
	assert_true(l.causes.n > 0);
	lime_release(&l);
	in.times = (const double[]){ 7, 7, 7, 7 };
	lime_analyse(&l, &in, &none);
	assert_int_equal(l.answer, LIME_BALANCED);
	lime_release(&l);
}

/* An instance with three times the imbalance weighs three times as much; one without the cause
 * counts as 0. */
static void instances_weigh_by_their_imbalance(void **state)
{
	struct lime l[3] = { { .imbalance = 0.6 }, { .imbalance = 0.2 }, { .imbalance = 0.2 } };
	struct lime_total t = { 0 };

	*vec_add(&l[0].causes) = (struct lime_cause){ .node = 4, .leader = 1, .score = 0.9 };
	*vec_add(&l[0].causes) = (struct lime_cause){ .node = 4, .leader = 1, .score = 0.1 };
	*vec_add(&l[1].causes) = (struct lime_cause){ .node = 4, .leader = 1, .score = 0.4 };
	*vec_add(&l[2].causes) = (struct lime_cause){ .node = 5, .leader = 1, .score = 0.5 };
	for (int i = 0; i < 3; i++) {
		lime_total_add(&t, &l[i]);
		lime_release(&l[i]);
	}
	lime_total_finish(&t);
	assert_int_equal(t.causes.n, 2);
	assert_int_equal(t.causes.data[0].node, 4);
	assert_true(fabs(t.causes.data[0].score - (0.6 * 0.9 + 0.2 * 0.4)) < 1e-12);
	assert_int_equal(t.causes.data[1].node, 5);
	assert_true(fabs(t.causes.data[1].score - 0.1) < 1e-12);
	lime_total_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_4),
		cmocka_unit_test(loops_have_leaders),
		cmocka_unit_test(loops_are_decided_at_their_end),
		cmocka_unit_test(back_edges_are_found),
		cmocka_unit_test(the_branch_that_parts_the_threads_is_first),
		cmocka_unit_test(uneven_misses_are_a_hardware_cause),
		cmocka_unit_test(of_equal_scores_the_larger_event_is_first),
		cmocka_unit_test(degenerate_instances_have_an_answer),
		cmocka_unit_test(a_slight_imbalance_has_causes_for_who_asks),
		cmocka_unit_test(instances_weigh_by_their_imbalance),
	};

	return unit_run(tests);
}
