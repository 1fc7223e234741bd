/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What clocks gained since a mark, against a copy of all of them that was made at the mark. */
#include <string.h>

#include "unit.h"

#include "analysis/evidence/clocks.h"

enum { CLOCKS = 200, MARKS = 12, STEPS = 200000 };

struct copy {
	uint32_t mark; /* 0: not set */
	uint64_t ns[CLOCKS];
};

struct model {
	struct clocks *clocks;
	struct gains gains;
	int n[CLOCKS];
	uint64_t ns[CLOCKS], now, random;
	struct copy copies[MARKS];
};

static uint64_t below(struct model *m, uint64_t n)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random % n;
}

static void begin(struct model *m)
{
	*m = (struct model){ .clocks = clocks_new(CLOCKS), .random = 88172645463325252ull };
	gains_init(&m->gains, CLOCKS);
}

static void end(struct model *m)
{
	clocks_free(m->clocks);
	gains_release(&m->gains);
}

static void pass(struct model *m, uint64_t ns)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		m->ns[i] += (uint64_t)m->n[i] * ns;
	m->now += ns;
}

static void move(struct model *m, uint32_t clock, int by)
{
	clocks_move(m->clocks, clock, by, m->now);
	m->n[clock] += by;
}

/* Few of the clocks move often, and those that do begin and end. */
static void move_some(struct model *m)
{
	uint32_t clock = (uint32_t)below(m, 1 + below(m, CLOCKS));

	move(m, clock, m->n[clock] > 2 || (m->n[clock] && below(m, 2)) ? -1 : 1);
	if (below(m, 50) == 0) {
		clocks_add(m->clocks, clock, 17);
		m->ns[clock] += 17;
	}
}

static void set(struct model *m, struct copy *c)
{
	c->mark = clocks_mark(m->clocks, m->now);
	memcpy(c->ns, m->ns, sizeof(c->ns));
}

static uint64_t gained(const struct model *m, uint32_t clock)
{
	for (uint32_t i = 0; i < m->gains.n; i++)
		if (m->gains.list[i] == clock)
			return m->gains.of[clock].ns;
	return 0;
}

static void agree(struct model *m, const struct copy *c)
{
	gains_add(&m->gains, m->clocks, c->mark, m->now);
	assert_in_range(m->gains.n, 0, CLOCKS);
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_int_equal(gained(m, i), m->ns[i] - c->ns[i]);
	gains_clear(&m->gains);
}

/* Marks that stay for long and for short, forgotten in any order. */
static void gains_are_those_of_all_clocks(void **state)
{
	struct model m;

	begin(&m);
	for (unsigned step = 0; step < STEPS; step++) {
		struct copy *c = &m.copies[below(&m, 1 + below(&m, MARKS))];

		pass(&m, below(&m, 100));
		move_some(&m);
		if (below(&m, 20))
			continue;
		if (!c->mark) {
			set(&m, c);
			continue;
		}
		agree(&m, c);
		clocks_forget(m.clocks, c->mark);
		c->mark = 0;
	}
	end(&m);
}

/* One mark that stays while others come and go: what is put down stays bounded. */
static void the_log_is_bounded(void **state)
{
	struct model m;

	begin(&m);
	set(&m, &m.copies[0]);
	for (unsigned step = 0; step < STEPS; step++) {
		set(&m, &m.copies[1]);
		pass(&m, 10);
		move_some(&m);
		clocks_forget(m.clocks, m.copies[1].mark);
	}
	assert_in_range(m.clocks->log.room, 1, 4096);
	agree(&m, &m.copies[0]);
	end(&m);
}

/* A clock that has stood still is not looked at, whatever the others do. */
static void only_what_moved_is_listed(void **state)
{
	struct model m;

	begin(&m);
	for (uint32_t i = 0; i < CLOCKS; i++) {
		move(&m, i, 1);
		pass(&m, 5);
		move(&m, i, -1);
	}
	move(&m, 7, 1);
	set(&m, &m.copies[0]);
	move(&m, 50, 1);
	pass(&m, 10);
	move(&m, 50, -1);
	gains_add(&m.gains, m.clocks, m.copies[0].mark, m.now);
	assert_int_equal(m.gains.n, 2);
	gains_clear(&m.gains);
	agree(&m, &m.copies[0]);
	end(&m);
}

static void taken_away_is_nothing(void **state)
{
	struct model m;

	begin(&m);
	set(&m, &m.copies[0]);
	for (unsigned i = 0; i < 1000; i++) {
		move_some(&m);
		pass(&m, 3);
	}
	gains_add(&m.gains, m.clocks, m.copies[0].mark, m.now);
	gains_take(&m.gains, m.clocks, m.copies[0].mark, m.now);
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_int_equal(gained(&m, i), 0);
	gains_clear(&m.gains);
	assert_int_equal(m.gains.n, 0);
	end(&m);
}

static void cleared_is_as_new(void **state)
{
	struct model m;

	begin(&m);
	for (unsigned round = 0; round < 50; round++) {
		memset(m.n, 0, sizeof(m.n));
		memset(m.ns, 0, sizeof(m.ns));
		set(&m, &m.copies[0]);
		for (unsigned i = 0; i < 300; i++) {
			move_some(&m);
			pass(&m, 3);
		}
		agree(&m, &m.copies[0]);
		clocks_forget(m.clocks, m.copies[0].mark);
		clocks_clear(m.clocks);
	}
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_int_equal(m.clocks->all[i].n, 0);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gains_are_those_of_all_clocks),
		cmocka_unit_test(the_log_is_bounded),
		cmocka_unit_test(only_what_moved_is_listed),
		cmocka_unit_test(taken_away_is_nothing),
		cmocka_unit_test(cleared_is_as_new),
	};

	return unit_run(tests);
}
