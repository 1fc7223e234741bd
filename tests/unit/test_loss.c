/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lost records: no call is made up across them, and what they cannot have touched stays. */
#include "unit.h"
#include "scene.h"

enum { F, G, H };

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	scene_function(s, "f", 1);
	scene_function(s, "g", 1);
	scene_function(s, "h", 1);
	scene_start(s, 1000);
}

static void expect(const struct scene *s, size_t i, uint32_t tid, uint32_t id, enum call_end end,
		   uint64_t ns)
{
	assert_true(i < s->n_log);
	assert_int_equal(s->log[i].tid, tid);
	assert_int_equal(s->log[i].id, id);
	assert_int_equal(s->log[i].end, end);
	if (end == CALL_TIMED)
		assert_int_equal(s->log[i].duration_ns, ns);
}

static void lost(struct scene *s, uint32_t cpu, uint64_t since, uint64_t until, uint64_t count)
{
	other(s, REC_LOST, until, cpu, 0, count, since);
}

/* Of one thread's own buffer; tid 0: of threads that have no records. */
static void lost_of(struct scene *s, uint32_t tid, uint64_t since, uint64_t until, uint64_t count)
{
	const uint64_t values[RECORD_VALUES_MIN] = { count, since, 1 };

	calls_record(&s->calls, &(struct record){ .time_ns = until,
						  .kind = REC_LOST,
						  .tid = tid,
						  .tgid = tid ? 1 : 0,
						  .n_values = 3,
						  .values = values });
}

static void gets(struct scene *s, uint64_t time, uint32_t cpu, uint32_t tid)
{
	other(s, REC_SWITCH_IN, time, cpu, tid, 0, 0);
}

static void leaves(struct scene *s, uint64_t time, uint32_t cpu, uint32_t tid)
{
	other(s, REC_SWITCH_OUT, time, cpu, tid, SWITCH_SLEEPING, 0);
}

/* Thread 1 is on the CPU that loses: its open calls are void. Thread 2 runs on another. */
static void what_runs_elsewhere_stays(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 1, 1);
	gets(&s, 1000, 2, 2);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1000, 2, F, 0x1000);
	enter(&s, 1010, 1, G, 0xf00);
	lost(&s, 1, 1200, 1500, 7);
	enter(&s, 1300, 2, G, 0xf00);
	leave(&s, 1350, 2, G, 0xf00);
	leave(&s, 1600, 1, G, 0xf00);
	leave(&s, 1600, 2, F, 0x1000);
	leave(&s, 1610, 1, F, 0x1000);
	expect(&s, 0, 1, G, CALL_LOST, 0);
	expect(&s, 1, 1, F, CALL_LOST, 0);
	expect(&s, 2, 2, G, CALL_TIMED, 50);
	expect(&s, 3, 2, F, CALL_TIMED, 600);
	assert_int_equal(s.n_log, 4);
	assert_int_equal(s.calls.orphan_exits, 2);
	scene_finish(&s, 2000);
	/* two threads of 1000 ns, less the 400 for which nothing was seen of thread 1 */
	assert_int_equal(scene_block(&s, "f")->observed_ns, 1600);
	assert_int_equal(scene_block(&s, "f")->lost_records, 7);
	assert_int_equal(scene_block(&s, "g")->lost_records, 7);
	scene_release(&s);
}

/* The exit of a later call at the same stack pointer, after the thread has left the CPU. */
static void a_thread_that_left_the_cpu(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 1, 1);
	enter(&s, 1000, 1, F, 0x1000);
	lost(&s, 1, 1200, 1500, 7);
	gets(&s, 1300, 2, 1);
	scene_call(&s, REC_EXIT, 1400, 2, 1, F, 0x1000);
	scene_call(&s, REC_ENTRY, 1410, 2, 1, F, 0x1000);
	scene_call(&s, REC_EXIT, 1420, 2, 1, F, 0x1000);
	expect(&s, 0, 1, F, CALL_LOST, 0);
	expect(&s, 1, 1, F, CALL_TIMED, 10); /* it was in sight by then */
	assert_int_equal(s.n_log, 2);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 900);
	scene_release(&s);
}

/* It goes to sleep while another CPU loses: it may have run there, unseen. */
static void a_thread_that_came_to_the_cpu(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 2, 2);
	enter(&s, 1000, 2, F, 0x1000);
	lost(&s, 1, 1200, 1500, 7);
	leaves(&s, 1250, 2, 2);
	gets(&s, 1600, 2, 2);
	leave(&s, 1650, 2, F, 0x1000);
	expect(&s, 0, 2, F, CALL_LOST, 0);
	assert_int_equal(s.n_log, 1);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 1000 - 350);
	scene_release(&s);
}

static void a_thread_that_slept_before(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 2, 2);
	enter(&s, 1000, 2, F, 0x1000);
	leaves(&s, 1100, 2, 2);
	lost(&s, 1, 1200, 1210, 4);
	gets(&s, 1600, 2, 2);
	leave(&s, 1650, 2, F, 0x1000);
	expect(&s, 0, 2, F, CALL_LOST, 0);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 1000 - 400);
	assert_int_equal(scene_block(&s, "f")->lost_records, 4);
	/* asleep for as long as it was known to be */
	assert_int_equal(s.calls.threads.all.data[0]->off.blocked_ns, 100);
	scene_release(&s);
}

/* Asleep when nothing was lost: a call that waits across losses before and behind it is whole. */
static void sleep_between_losses_is_timed(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 2, 2);
	lost(&s, 1, 1010, 1090, 4);
	enter(&s, 1100, 2, F, 0x1000);
	leaves(&s, 1110, 2, 2);
	gets(&s, 1600, 2, 2);
	leave(&s, 1650, 2, F, 0x1000);
	lost(&s, 1, 1700, 1800, 4);
	expect(&s, 0, 2, F, CALL_TIMED, 550);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 1000);
	scene_release(&s);
}

/* Without switches nobody knows where a thread was. */
static void without_switches_all_may_be_hit(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 2, F, 0x1000);
	lost(&s, 1, 1200, 1500, 7);
	enter(&s, 1300, 2, G, 0xf00);
	leave(&s, 1350, 2, G, 0xf00);
	leave(&s, 1600, 2, F, 0x1000);
	enter(&s, 1700, 2, F, 0x1000);
	leave(&s, 1800, 2, F, 0x1000);
	expect(&s, 0, 2, F, CALL_LOST, 0);
	expect(&s, 1, 2, G, CALL_LOST, 0);
	expect(&s, 2, 2, F, CALL_TIMED, 100);
	assert_int_equal(s.n_log, 3);
	scene_release(&s);
}

/* Where each thread has a buffer of its own its loss is nobody else's. */
static void a_loss_of_one_thread(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, 1000, 1, F, 0x1000);
	enter(&s, 1000, 2, F, 0x1000);
	lost_of(&s, 1, 1200, 1500, 7);
	enter(&s, 1300, 2, G, 0xf00);
	lost_of(&s, 0, 0, 1340, 9);
	leave(&s, 1350, 2, G, 0xf00);
	leave(&s, 1500, 1, F, 0x1000);
	enter(&s, 1510, 1, H, 0x1000);
	leave(&s, 1520, 1, H, 0x1000);
	leave(&s, 1600, 2, F, 0x1000);
	expect(&s, 0, 1, F, CALL_LOST, 0);
	expect(&s, 1, 2, G, CALL_TIMED, 50);
	expect(&s, 2, 1, H, CALL_TIMED, 10);
	expect(&s, 3, 2, F, CALL_TIMED, 600);
	assert_int_equal(s.n_log, 4);
	scene_finish(&s, 2000);
	/* thread 1 was out of sight for 300 of 1000 ns, thread 2 never */
	assert_int_equal(scene_block(&s, "f")->observed_ns, 1700);
	assert_int_equal(scene_block(&s, "f")->lost_records, 7);
	assert_int_equal(scene_block(&s, "g")->lost_records, 0);
	assert_int_equal(s.calls.lost_records, 16);
	scene_release(&s);
}

static void a_thread_that_never_shows_again(void **state)
{
	struct scene s;

	begin(&s);
	gets(&s, 1000, 1, 1);
	enter(&s, 1000, 1, F, 0x1000);
	lost(&s, 1, 1200, 1500, 7);
	scene_finish(&s, 5000);
	assert_int_equal(scene_block(&s, "f")->observed_ns, 200);
	assert_int_equal(scene_block(&s, "f")->untimed_calls, 1);
	assert_int_equal(scene_block(&s, "f")->open_calls, 0);
	scene_release(&s);
}

/* Two CPUs lose at once: a function counts each loss once, whoever ran it. */
static void losses_count_once(void **state)
{
	struct scene s;

	begin(&s);
	for (uint32_t tid = 1; tid <= 3; tid++) {
		gets(&s, 1000, tid, tid);
		enter(&s, 1000 + tid, tid, F, 0x1000);
		leave(&s, 1100 + tid, tid, F, 0x1000);
	}
	enter(&s, 1110, 3, G, 0x1000);
	leave(&s, 1120, 3, G, 0x1000);
	lost(&s, 1, 1200, 1500, 7);
	lost(&s, 2, 1300, 1400, 20);
	gets(&s, 1600, 1, 1);
	gets(&s, 1600, 2, 2);
	lost(&s, 1, 1700, 1800, 100);
	scene_finish(&s, 2000);
	assert_int_equal(scene_block(&s, "f")->lost_records, 127);
	assert_int_equal(scene_block(&s, "g")->lost_records, 0);
	assert_int_equal(s.calls.lost_records, 127);
	scene_release(&s);
}

/* ---- a made-up machine that loses what it likes ---- */

#define CPUS	4
#define THREADS 6
#define STEPS	20000
#define DEPTH	3
#define BASE	1000

struct machine {
	uint64_t random;
	uint32_t on_cpu[CPUS];	      /* tid, 0: idle */
	uint32_t cpu_of[THREADS + 1]; /* 0: off CPU, else CPU + 1 */
	uint32_t depth[THREADS + 1];
	uint32_t function[THREADS + 1][DEPTH];
	uint64_t entered[THREADS + 1][DEPTH];
	uint64_t lossy_until[CPUS], n_lost[CPUS], latest[CPUS];
	struct record records[STEPS + CPUS];
	uint64_t values[STEPS + CPUS][RECORD_VALUES_MIN];
	size_t n;
	uint64_t left[STEPS];  /* by step of the entry: time of its exit, 0: none */
	bool near_loss[STEPS]; /* by step: some CPU was losing */
	uint64_t timed[STEPS]; /* by step of the entry: exit that it was given */
};

static uint32_t pick(struct machine *m, uint32_t n)
{
	return (uint32_t)(dice(&m->random) >> 33) % n;
}

static void put(struct machine *m, const struct record *r, uint64_t v0, uint64_t v1)
{
	m->values[m->n][0] = v0;
	m->values[m->n][1] = v1;
	m->records[m->n] = *r;
	m->records[m->n].values = m->values[m->n];
	m->records[m->n++].n_values = 2;
}

/* A CPU finds room again: what it lost is said before its next record. */
static void make(struct machine *m, const struct record *r)
{
	uint32_t cpu = r->cpu;

	if (r->time_ns < m->lossy_until[cpu]) {
		m->n_lost[cpu]++;
		return;
	}
	if (m->n_lost[cpu])
		put(m, &(struct record){ .kind = REC_LOST, .cpu = cpu, .time_ns = r->time_ns },
		    m->n_lost[cpu], m->latest[cpu]);
	m->n_lost[cpu] = 0;
	m->latest[cpu] = r->time_ns;
	put(m, r, r->kind == REC_SWITCH_OUT ? SWITCH_SLEEPING : 0, 0);
}

static void step(struct machine *m, uint32_t i)
{
	uint32_t cpu = pick(m, CPUS), tid = m->on_cpu[cpu], d;
	struct record r = { .time_ns = BASE + 10 * i, .cpu = cpu, .tgid = 1 };

	if (pick(m, 200) == 0)
		m->lossy_until[cpu] = r.time_ns + 10 * pick(m, 200);
	if (!tid) {
		tid = 1 + pick(m, THREADS);
		if (m->cpu_of[tid])
			return;
		r.kind = REC_SWITCH_IN;
		m->on_cpu[cpu] = tid;
		m->cpu_of[tid] = cpu + 1;
	} else if (pick(m, 8) == 0) {
		r.kind = REC_SWITCH_OUT;
		m->on_cpu[cpu] = m->cpu_of[tid] = 0;
	} else if (!m->depth[tid] || (m->depth[tid] < DEPTH && pick(m, 2))) {
		d = m->depth[tid]++;
		r.kind = REC_ENTRY;
		r.id = m->function[tid][d] = pick(m, 2);
		r.sp = 0x1000 - 0x40 * d;
		m->entered[tid][d] = i;
	} else {
		d = --m->depth[tid];
		r.kind = REC_EXIT;
		r.id = m->function[tid][d];
		r.sp = 0x1000 - 0x40 * d;
		m->left[m->entered[tid][d]] = r.time_ns;
	}
	r.tid = tid;
	make(m, &r);
}

static int by_due(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	uint64_t due_x = record_due_ns(x), due_y = record_due_ns(y);

	if (due_x != due_y)
		return due_x < due_y ? -1 : 1;
	/* of one CPU: a loss behind the record that it begins with */
	return (x->values > y->values) - (x->values < y->values);
}

static void note(void *self, const struct thread *t, const struct call *c)
{
	struct machine *m = self;

	(void)t;
	if (c->end == CALL_TIMED)
		m->timed[(c->entry_ns - BASE) / 10] = c->exit_ns;
}

static void mark_losses(struct machine *m)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct record *r = &m->records[k];

		if (r->kind == REC_LOST)
			for (uint64_t t = record_due_ns(r); t <= r->time_ns; t += 10)
				m->near_loss[(t - BASE) / 10] = true;
	}
}

static bool any_loss(const struct machine *m, uint32_t from, uint64_t until_ns)
{
	for (uint64_t i = from; i <= (until_ns - BASE) / 10; i++)
		if (m->near_loss[i])
			return true;
	return false;
}

/* Every call that is timed was made, just so; and of those that no loss came near none is left out.
 */
static void no_call_is_made_up(void **state)
{
	struct machine *m = xcalloc(1, sizeof(*m));
	unsigned n_timed = 0, n_in_losses = 0;
	struct scene s;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		*m = (struct machine){ .random = seed * 0x9e3779b97f4a7c15ull };
		for (uint32_t i = 0; i < STEPS; i++)
			step(m, i);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			if (m->n_lost[cpu])
				put(m,
				    &(struct record){ .kind = REC_LOST,
						      .cpu = cpu,
						      .time_ns = BASE + 10 * (STEPS - 1) },
				    m->n_lost[cpu], m->latest[cpu]);
		qsort(m->records, m->n, sizeof(*m->records), by_due);
		mark_losses(m);
		begin(&s);
		calls_add_visitor(&s.calls, &(struct call_visitor){ .self = m, .call = note });
		for (size_t k = 0; k < m->n; k++)
			calls_record(&s.calls, &m->records[k]);
		calls_end(&s.calls, BASE + 10 * STEPS);
		for (uint32_t i = 0; i < STEPS; i++) {
			if (m->timed[i])
				assert_int_equal(m->timed[i], m->left[i]);
			else if (m->left[i])
				assert_true(any_loss(m, i, m->left[i]));
			n_timed += m->timed[i] != 0;
			n_in_losses += m->timed[i] && any_loss(m, i, m->timed[i]);
		}
		scene_release(&s);
	}
	/* What is proven whole in the midst of losses is timed. */
	assert_true(n_in_losses > n_timed / 10);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_elsewhere_stays),
		cmocka_unit_test(a_thread_that_left_the_cpu),
		cmocka_unit_test(a_thread_that_came_to_the_cpu),
		cmocka_unit_test(a_thread_that_slept_before),
		cmocka_unit_test(sleep_between_losses_is_timed),
		cmocka_unit_test(without_switches_all_may_be_hit),
		cmocka_unit_test(a_loss_of_one_thread),
		cmocka_unit_test(a_thread_that_never_shows_again),
		cmocka_unit_test(losses_count_once),
		cmocka_unit_test(no_call_is_made_up),
	};

	return unit_run(tests);
}
