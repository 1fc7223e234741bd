/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of processes that were born, mapped files, ended, and whose numbers became others'. */
#include "unit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/process/spaces.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

#define CHILD 4194303 /* the largest number that a process can have: nobody's here */
#define BASE  0x100000000000ull

struct scene {
	struct dso_cache *dsos;
	struct spaces spaces;
};

static void begin(struct scene *s)
{
	s->dsos = dso_cache_new();
	spaces_init(&s->spaces, s->dsos);
}

static void end(struct scene *s)
{
	spaces_release(&s->spaces);
	dso_cache_free(s->dsos);
}

/* This program, as if the process had mapped it at BASE. */
static void map_this(struct scene *s, pid_t pid)
{
	char path[4096];
	struct stat st;
	struct mapping m = { .start = BASE, .end = BASE + 0x1000, .path = path };
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(stat(path, &st), 0);
	m.inode = st.st_ino;
	m.device = st.st_dev;
	spaces_map(&s->spaces, pid, &m);
}

static bool knows(struct scene *s, pid_t pid, uint64_t address)
{
	struct place place;

	return spaces_find(&s->spaces, pid, address, &place);
}

static void a_child_has_its_parents_places(void **state)
{
	uint64_t here = (uintptr_t)a_child_has_its_parents_places;
	struct scene s;

	begin(&s);
	assert_true(knows(&s, getpid(), here));
	spaces_fork(&s.spaces, getpid(), CHILD, UINT64_MAX);
	assert_true(knows(&s, CHILD, here));
	assert_false(knows(&s, CHILD, BASE));
	map_this(&s, CHILD);
	assert_true(knows(&s, CHILD, BASE + 8));
	assert_false(knows(&s, getpid(), BASE + 8));
	end(&s);
}

/* Late records still find the process that has ended; then it is forgotten. */
static void what_ended_is_dropped_later(void **state)
{
	uint64_t here = (uintptr_t)what_ended_is_dropped_later;
	struct scene s;

	begin(&s);
	assert_true(knows(&s, getpid(), here));
	for (pid_t pid = CHILD - 100; pid < CHILD; pid++)
		spaces_fork(&s.spaces, getpid(), pid, UINT64_MAX);
	for (pid_t pid = CHILD - 100; pid < CHILD; pid++)
		spaces_end(&s.spaces, pid);
	spaces_drop(&s.spaces);
	assert_true(knows(&s, CHILD - 50, here));
	spaces_drop(&s.spaces);
	assert_int_equal(s.spaces.all.n, 1);
	assert_true(knows(&s, getpid(), here));
	assert_false(knows(&s, CHILD - 50, here));
	end(&s);
}

static void a_number_used_again_is_another_process(void **state)
{
	uint64_t here = (uintptr_t)a_number_used_again_is_another_process;
	struct scene s;
	unsigned before;

	begin(&s);
	assert_true(knows(&s, getpid(), here));
	spaces_fork(&s.spaces, getpid(), CHILD, UINT64_MAX);
	map_this(&s, CHILD);
	before = spaces_get(&s.spaces, CHILD, here)->changes;
	spaces_end(&s.spaces, CHILD);
	spaces_drop(&s.spaces);
	spaces_fork(&s.spaces, getpid(), CHILD, UINT64_MAX);
	assert_false(knows(&s, CHILD, BASE));
	assert_true(knows(&s, CHILD, here));
	assert_int_not_equal(spaces_get(&s.spaces, CHILD, here)->changes, before);
	/* it has not ended */
	spaces_drop(&s.spaces);
	spaces_drop(&s.spaces);
	assert_true(knows(&s, CHILD, here));
	end(&s);
}

/* Where nothing is mapped as far as is known, a look at the process after the time tells. */
static void what_is_mapped_later_is_not_settled(void **state)
{
	uint64_t here = (uintptr_t)what_is_mapped_later_is_not_settled;
	const struct space *own, *child;
	struct scene s;

	begin(&s);
	own = spaces_get(&s.spaces, getpid(), here);
	assert_true(space_settled(own, here, UINT64_MAX));
	assert_true(space_settled(own, own->maps.vdso_start, UINT64_MAX));
	assert_true(space_settled(own, BASE, own->read_ns - 1));
	assert_false(space_settled(own, BASE, own->read_ns));
	assert_true(space_settled(own, BASE, own->changed_ns + 2000000000)); /* it maps no more */

	/* A child's are known from its parent: nobody looked at it. */
	usleep(1000);
	spaces_fork(&s.spaces, getpid(), CHILD, UINT64_MAX);
	own = spaces_get(&s.spaces, getpid(), here);
	child = spaces_get(&s.spaces, CHILD, here);
	assert_false(space_settled(child, BASE, own->read_ns));
	map_this(&s, CHILD);
	assert_true(space_settled(child, BASE, UINT64_MAX));
	/* The parent was looked at after it: nobody knows what it has mapped itself. */
	spaces_fork(&s.spaces, getpid(), CHILD - 1, 5);
	assert_int_equal(spaces_get(&s.spaces, CHILD - 1, here)->read_ns, 5);
	end(&s);
}

/* A program may map a file as often as it likes and have any number of processes. */
static void mappings_have_room_and_no_more(void **state)
{
	struct mapping m = { .path = "/nowhere/library.so", .inode = 1 };
	struct scene s;
	uint64_t most;

	begin(&s);
	map_this(&s, CHILD);
	most = s.spaces.bytes_max = 100 * s.spaces.bytes;
	for (uint64_t i = 1; i <= 1000; i++) {
		m.start = BASE + 0x1000 * i;
		m.end = m.start + 0x1000;
		spaces_map(&s.spaces, CHILD, &m);
	}
	for (pid_t child = CHILD - 1; child > CHILD - 100; child--)
		spaces_fork(&s.spaces, CHILD, child, 1);
	assert_in_range(s.spaces.bytes, most / 2, most);
	assert_true(knows(&s, CHILD, BASE));
	spaces_end(&s.spaces, CHILD);
	for (int i = 0; i < 2; i++)
		spaces_drop(&s.spaces);
	map_this(&s, CHILD - 200); /* there is room again */
	assert_true(knows(&s, CHILD - 200, BASE));
	end(&s);
	assert_int_equal(s.spaces.bytes, 0);
}

/* A program decides how long reading its mappings takes: it has a part of the time, and little once
 * the recording is over. */
static void reading_waits_its_turn(void **state)
{
	struct space *space;
	uint64_t read_ns;
	struct scene s;

	(void)state;
	begin(&s);
	assert_true(knows(&s, getpid(), (uintptr_t)reading_waits_its_turn));
	space = &s.spaces.all.data[0];
	read_ns = space->read_ns;
	space->read_again_ns = UINT64_MAX;
	spaces_reread(&s.spaces);
	assert_int_equal(space->read_ns, read_ns);
	space->read_again_ns = 0; /* what may have been missed is looked for then */
	assert_true(knows(&s, getpid(), (uintptr_t)reading_waits_its_turn));
	assert_true(space->read_ns > read_ns);
	read_ns = space->read_ns;
	space->read_again_ns = 0;
	s.spaces.closed_ns = 1;
	spaces_reread(&s.spaces);
	assert_int_equal(space->read_ns, read_ns);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_has_its_parents_places),
		cmocka_unit_test(what_ended_is_dropped_later),
		cmocka_unit_test(a_number_used_again_is_another_process),
		cmocka_unit_test(what_is_mapped_later_is_not_settled),
		cmocka_unit_test(mappings_have_room_and_no_more),
		cmocka_unit_test(reading_waits_its_turn),
	};

	return unit_run(tests);
}
