/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What samples make hot, and what a scout's run hands on of it: this program's own functions. */
#include "unit.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "probes/process/spaces.h"
#include "probes/recording/costs.h"
#include "probes/sample/sample.h"
#include "probes/select/marker.h"
#include "probes/recording/cputime.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/session/again.h"
#include "probes/session/budget.h"
#include "probes/session/choose.h"
#include "probes/session/count.h"
#include "probes/session/follow.h"
#include "probes/session/hybrid.h"
#include "probes/session/set.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

static NOINLINE int start_up(int a)
{
	return a + 1;
}

static NOINLINE int locked_add(int a)
{
	return a + 2;
}

static NOINLINE int ask_clock(int a)
{
	return a + 3;
}

static NOINLINE int worker(int a)
{
	return a + 4;
}

static NOINLINE int never(int a)
{
	return a + 5;
}

typedef int function(int a);

/* It writes no file, nor has it a kernel's side. */
static struct session_options options;
static struct recording r;
static struct hybrid hybrid;
static struct costs costs;
static struct cputime cputime;
static struct follow follow;
static struct budget budget;
static struct count count;
static size_t first_candidate;

static struct profile *profile(void)
{
	return &hybrid.profile;
}

static int set_up(void **state)
{
	memset(&options, 0, sizeof(options));
	memset(&r, 0, sizeof(r));
	memset(&hybrid, 0, sizeof(hybrid));
	memset(&costs, 0, sizeof(costs));
	memset(&cputime, 0, sizeof(cputime));
	follow = (struct follow){ .costs = &costs };
	budget = (struct budget){ .costs = &costs, .cputime = &cputime, .follow = &follow };
	first_candidate = 0;
	r.options = &options;
	r.objects.dsos = dso_cache_new();
	spaces_init(&r.spaces, r.objects.dsos);
	profile_init(profile(), &r.spaces);
	return 0;
}

static int tear_down(void **state)
{
	vec_release(&r.plan);
	session_budget_release(&budget);
	session_count_release(&count);
	profile_release(profile());
	spaces_release(&r.spaces);
	dso_cache_free(r.objects.dsos);
	return 0;
}

/* n samples of outer, or of what it calls. */
static void samples(unsigned n, function *outer, function *inner)
{
	uint64_t frames[2];
	struct sample s = { .tgid = (uint32_t)getpid(), .frames = frames };

	if (inner)
		frames[s.n_frames++] = (uintptr_t)inner + 2;
	frames[s.n_frames++] = (uintptr_t)outer + 2;
	while (n--)
		profile_add(profile(), &s);
}

static const struct dso_function *known(function *f)
{
	struct place place;

	assert_true(spaces_find(&r.spaces, getpid(), (uintptr_t)f, &place));
	return dso_function_at(place.dso, place.address);
}

static bool is_hot(function *f)
{
	vec_for_each (&profile()->functions, struct profile_function, known_one)
		if (known_one->function == known(f))
			return profile_is_hot(profile(), known_one, HYBRID_HOT_SHARE);
	return false;
}

static void a_handful_of_samples_makes_nothing_hot(void **state)
{
	samples(1, start_up, NULL);
	samples(20, worker, locked_add);
	assert_false(is_hot(start_up)); /* one in twenty of them */
	assert_true(is_hot(worker));
	assert_true(is_hot(locked_add));
	assert_true(isnan(profile_share(profile(), known(worker))));
}

static void samples_of_short_windows_add_up(void **state)
{
	for (unsigned window = 0; window < 10; window++) {
		profile_begin_window(profile());
		samples(1, worker, locked_add);
		samples(19, worker, ask_clock);
		assert_int_equal(is_hot(locked_add), window + 1 >= PROFILE_HOT_SAMPLES);
	}
	assert_true(fabs(profile_share(profile(), known(locked_add)) - 0.05) < 1e-9);
	assert_true(profile_share(profile(), known(worker)) == 1);
}

static void what_becomes_hot_late_is_hot(void **state)
{
	samples(100000, start_up, NULL);
	profile_begin_window(profile());
	samples(150, worker, locked_add);
	assert_true(is_hot(locked_add));
	assert_true(profile_share(profile(), known(locked_add)) == 1);
	assert_false(profile_is_hot_overall(profile(), known(locked_add), HYBRID_HOT_SHARE));
}

static void twice_on_a_chain_is_one_sample(void **state)
{
	samples(100, worker, worker);
	assert_true(profile_share(profile(), known(worker)) == 1);
}

static struct planned *plan(struct planned *p, function *f, const char *pattern, double cost_share)
{
	*p = (struct planned){ .what = { .function = known(f), .pattern = pattern ? pattern : "" },
			       .possible = true,
			       .reason = "",
			       .set = PLANNED_NO_SET,
			       .cpu_share = profile_share(profile(), known(f)),
			       .cost_share = cost_share };
	return *vec_add(&r.plan) = p;
}

/* A clock that is asked all the time is on each chain, and dear; the program begins slowly. */
static void a_scout_hands_on_what_the_run_spends_its_time_in(void **state)
{
	struct planned start, add, work, clock, import;

	samples(20, start_up, NULL);
	profile_begin_window(profile());
	samples(2000, locked_add, ask_clock);
	samples(1000, worker, ask_clock);
	plan(&clock, ask_clock, NULL, 2);
	plan(&start, start_up, NULL, 0);
	plan(&work, worker, NULL, 0.001);
	plan(&add, locked_add, NULL, 0.04);
	/* never on a CPU, as what only waits */
	plan(&import, never, "pthread_mutex_lock", 0.03);
	session_hybrid_pick(&hybrid, &r, 0.08);
	assert_false(start.possible);
	assert_string_equal(start.reason, "hot for a moment only");
	assert_false(clock.possible);
	assert_string_equal(clock.reason, "over the overhead budget");
	assert_true(work.possible && add.possible && import.possible);
}

/* A run that was over before any call was counted: what blocks is traced in the next, as what is
 * hot. */
static void a_scout_hands_on_what_was_never_counted(void **state)
{
	struct planned work, import, dear;

	samples(100, worker, locked_add);
	samples(100, locked_add, NULL);
	plan(&work, worker, NULL, NAN);
	plan(&import, never, "pthread_mutex_lock", NAN);
	plan(&dear, locked_add, NULL, 0.07);
	session_hybrid_pick(&hybrid, &r, 0.08);
	assert_true(work.possible && import.possible && dear.possible);
	session_hybrid_pick(&hybrid, &r, 0);
	assert_true(work.possible && import.possible);
	assert_false(dear.possible);
}

static void remember_costs(void)
{
	for (size_t i = 0; i < r.plan.n; i++)
		session_remember_cost(&budget, i, r.plan.data[i]->cost_share);
}

static bool is_asked(const struct planned *p)
{
	for (size_t i = 0; i < count.functions.n; i++)
		if (r.plan.data[i] == p)
			return count.functions.data[i].asked;
	return false;
}

static unsigned windows_until_asked(const struct planned *p)
{
	unsigned windows = 0;

	do
		first_candidate =
			session_ask_again(&budget, &count, &r, profile(), first_candidate);
	while (++windows < 20 && !p->possible);
	return windows;
}

static void what_was_too_dear_is_asked_later(void **state)
{
	struct planned *asked[3], dear, traced, cold;

	r.stopped = true;
	options.overhead = 0.1;
	r.drain.waits[WAIT_FUTEX] = 10000;
	samples(1000, worker, ask_clock);
	samples(1, locked_add, NULL);
	asked[0] = plan(&dear, ask_clock, NULL, 0.4);
	asked[1] = plan(&cold, locked_add, NULL, 0.2);
	asked[2] = plan(&traced, worker, NULL, 0.01);
	session_choose(&r.plan, asked, 3, false, 0.05, session_over_budget);
	remember_costs();
	traced.set = 0;
	first_candidate = 3;
	/* 1.6 halved four times is 0.1 */
	assert_int_equal(windows_until_asked(&dear), 4);
	assert_true(dear.possible);
	assert_int_equal(first_candidate, 0);
	assert_true(is_asked(&dear));
	assert_false(is_asked(&cold) || is_asked(&traced));
	/* and one that is ten times as dear, or known badly, one window later */
	dear.possible = false;
	dear.reason = session_over_budget;
	dear.cost_share = 4;
	remember_costs();
	assert_int_equal(windows_until_asked(&dear), 5);
}

/* No samples are its own. */
static void a_marker_that_was_too_dear_is_asked_later(void **state)
{
	struct marker mark = { .period = 1 };
	struct planned *asked[1], marked;

	r.stopped = true;
	options.overhead = 0.1;
	r.drain.waits[WAIT_FUTEX] = 10000;
	asked[0] = plan(&marked, never, NULL, 0.4);
	marked.what.marker = &mark;
	session_choose(&r.plan, asked, 1, false, 0.05, session_over_budget);
	remember_costs();
	assert_false(marked.possible);
	assert_int_equal(windows_until_asked(&marked), 4);
}

/* What was traced, and not cheap for ever. It joins the set that it was in. */
static void what_the_throttle_took_out_is_asked_later(void **state)
{
	struct planned *taken[2], dear, cheap;

	r.stopped = true;
	options.overhead = 0.1;
	r.drain.waits[WAIT_FUTEX] = 10000;
	samples(1000, worker, ask_clock);
	taken[0] = plan(&dear, ask_clock, NULL, 0.4);
	taken[1] = plan(&cheap, worker, NULL, 0.01);
	dear.set = cheap.set = 2;
	assert_true(planned_is_traced(&dear));
	session_choose(&r.plan, taken, 2, false, 0.05, session_over_budget_traced);
	remember_costs();
	dear.out_ns = 77;
	first_candidate = 2;
	assert_int_equal(windows_until_asked(&dear), 4);
	assert_true(dear.possible && is_asked(&dear));
	assert_false(planned_is_traced(&dear)); /* counted first */
	assert_false(is_asked(&cheap));
	assert_int_equal(dear.set, 2);
	dear.out_ns = 0;
	assert_true(planned_is_traced(&dear));
}

/* An unlock says nothing without its lock, and is as dear. */
static void a_release_goes_with_its_lock(void **state)
{
	struct planned lock, try, unlock, other, *all[4];
	struct dso_function names[3];

	all[0] = plan(&lock, worker, NULL, 0.08);
	all[1] = plan(&unlock, locked_add, NULL, 0.02);
	all[2] = plan(&other, ask_clock, NULL, 0.01);
	all[3] = plan(&try, never, NULL, 0.01);
	names[0] = *lock.what.function;
	names[1] = *unlock.what.function;
	names[2] = *try.what.function;
	names[0].symbol = "pthread_rwlock_wrlock";
	names[1].symbol = "pthread_rwlock_unlock";
	names[2].symbol = "pthread_rwlock_rdlock";
	lock.what.function = &names[0];
	unlock.what.function = &names[1];
	assert_true(session_drop_releases(&r, all, 3, "dear") == 0);
	lock.possible = false;
	try.what.function = &names[2]; /* the other one that it releases */
	assert_true(session_drop_releases(&r, all, 4, "dear") == 0);
	assert_true(unlock.possible);
	try.possible = false;
	assert_true(session_drop_releases(&r, all, 4, "dear") == 0.02);
	assert_false(unlock.possible);
	assert_string_equal(unlock.reason, "dear");
	assert_true(other.possible);
}

/* Names the two as a lock and its release. */
static void name_pair(struct planned *lock, struct planned *unlock, struct dso_function names[2])
{
	names[0] = *lock->what.function;
	names[1] = *unlock->what.function;
	names[0].symbol = "pthread_mutex_lock";
	names[1].symbol = "pthread_mutex_unlock";
	lock->what.function = &names[0];
	unlock->what.function = &names[1];
}

static void a_release_waits_for_the_turn_of_its_lock(void **state)
{
	struct planned lock, unlock, *all[2];
	struct dso_function names[2];

	all[0] = plan(&lock, worker, NULL, 0.2);
	all[1] = plan(&unlock, locked_add, NULL, 0.02);
	name_pair(&lock, &unlock, names);
	session_choose(&r.plan, all, 2, true, 0.1, session_over_budget_traced);
	assert_true(lock.in_turns && !lock.possible);
	session_drop_releases(&r, all, 2, session_over_budget_traced);
	assert_true(unlock.in_turns && !unlock.possible);
	session_give_turns(all, 2);
	assert_true(lock.possible && unlock.possible);
}

/* Hold times need both, whatever other function would fit beside the lock alone. */
static void a_lock_and_its_release_are_chosen_together(void **state)
{
	struct planned lock, unlock, other, *all[3];
	struct dso_function names[2];

	for (double cost = 0.015; cost < 0.2; cost += 0.01) {
		r.plan.n = 0;
		all[0] = plan(&other, ask_clock, NULL, 0.03);
		all[1] = plan(&unlock, locked_add, NULL, cost);
		all[2] = plan(&lock, worker, NULL, cost);
		name_pair(&lock, &unlock, names);
		session_choose(&r.plan, all, 3, true, 0.1, session_over_budget);
		if (2 * cost > 3 * 0.1) /* not even a turn for both */
			assert_false(unlock.possible || unlock.in_turns);
		else
			assert_true(lock.possible == unlock.possible &&
				    lock.in_turns == unlock.in_turns);
		assert_int_equal(lock.possible, 2 * cost <= 1.2 * 0.1);
		assert_true(lock.possible || lock.in_turns);
	}
}

/* The lock is traced from the first instruction on, before anything is counted. */
static void a_release_comes_first_if_its_lock_is_traced(void **state)
{
	struct planned lock, unlock, other, *counted[2];
	struct dso_function names[2];

	for (unsigned is_traced = 0; is_traced <= 1; is_traced++) {
		r.plan.n = 0;
		plan(&lock, worker, NULL, NAN);
		counted[0] = plan(&other, ask_clock, NULL, 0.04);
		counted[1] = plan(&unlock, locked_add, NULL, 0.04);
		other.cpu_share = 0.9;
		name_pair(&lock, &unlock, names);
		lock.set = is_traced ? 0 : PLANNED_NO_SET;
		session_choose(&r.plan, counted, 2, true, 0.05, session_over_budget);
		assert_int_equal(unlock.possible, is_traced);
		assert_int_equal(other.possible, !is_traced);
	}
}

/* A price is an estimate. Others keep to the room. */
static void what_one_looks_for_may_be_a_little_over(void **state)
{
	struct planned lock, add, *both[2];
	struct dso_function named;

	samples(1000, worker, NULL);
	samples(1000, locked_add, NULL);
	samples(1000, ask_clock, NULL);
	both[0] = plan(&lock, worker, NULL, 0.11);
	both[1] = plan(&add, locked_add, NULL, 0.11);
	named = *lock.what.function;
	named.symbol = "pthread_mutex_lock";
	lock.what.function = &named;
	session_choose(&r.plan, both, 2, true, 0.1, session_over_budget);
	assert_true(lock.possible);
	assert_false(add.possible);
	lock.possible = true;
	session_choose(&r.plan, both, 2, false, 0.1, session_over_budget);
	assert_false(lock.possible);
	lock.possible = true;
	lock.cost_share = 0.13;
	session_choose(&r.plan, both, 2, true, 0.1, session_over_budget);
	assert_false(lock.possible);
	samples(10000, locked_add, NULL);
	both[0] = plan(&add, locked_add, NULL, 0.11);
	session_choose(&r.plan, both, 1, false, 0.1, session_over_budget);
	assert_true(add.possible);
}

/* What is measured a little otherwise each time changes nothing for what has a large part. */
static void the_larger_part_comes_first(void **state)
{
	for (unsigned turn = 0; turn < 2; turn++) {
		struct planned small, large;

		r.plan.n = 0;
		samples(100, worker, locked_add);
		samples(10, worker, ask_clock);
		plan(&small, ask_clock, NULL, turn ? 0.05 : 0.06);
		plan(&large, locked_add, NULL, turn ? 0.06 : 0.05);
		session_hybrid_pick(&hybrid, &r, 0.08);
		assert_true(large.possible);
		assert_false(small.possible);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_handful_of_samples_makes_nothing_hot),
		TEST(samples_of_short_windows_add_up),
		TEST(what_becomes_hot_late_is_hot),
		TEST(twice_on_a_chain_is_one_sample),
		TEST(a_scout_hands_on_what_the_run_spends_its_time_in),
		TEST(a_scout_hands_on_what_was_never_counted),
		TEST(a_marker_that_was_too_dear_is_asked_later),
		TEST(what_was_too_dear_is_asked_later),
		TEST(what_the_throttle_took_out_is_asked_later),
		TEST(a_release_goes_with_its_lock),
		TEST(a_release_waits_for_the_turn_of_its_lock),
		TEST(a_lock_and_its_release_are_chosen_together),
		TEST(a_release_comes_first_if_its_lock_is_traced),
		TEST(what_one_looks_for_may_be_a_little_over),
		TEST(the_larger_part_comes_first),
	};

	return unit_run(tests);
}
