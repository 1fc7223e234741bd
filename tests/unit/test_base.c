/* SPDX-License-Identifier: GPL-3.0-or-later */
/* err, mem, vec, hash, clock, cpus; text and json have tests of their own. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"

static void errors_know_their_hint(void **state)
{
	struct err err = { 0 }, other = { 0 };

	err_set(&err, -EIO, "cannot read '%s': x; y; free some room", "a; b");
	assert_string_equal(err.text + err.hint, "free some room");
	err_prefix(&err, "report");
	assert_string_equal(err.text + err.hint, "free some room");
	err_set(&err, -EIO, "%s: no such thing", "a; b");
	assert_int_equal(err.hint, 0);
	err_set(&err, -EIO, "%s in %s is not traced", "\001name", "lib");
	assert_int_equal(err.hint, 0);
	err_set(&err, -EIO, "%s is not traced; name another", "\001na\001me");
	assert_string_equal(err.text + err.hint, "name another");
	err_set(&err, -EIO, "%s", "no function matches; name another");
	assert_string_equal(err.text + err.hint, "name another");
	assert_int_equal(err_take(&other, &err), -EIO);
	assert_string_equal(other.text + other.hint, "name another");
}

static void errors_keep_their_sentence(void **state)
{
	struct err err = { 0 };
	char long_text[2000];

	assert_int_equal(err_set(&err, -EACCES, "no %s;\nrun with %s", "rights", "sudo"), -EACCES);
	assert_string_equal(err.text, "no rights; run with sudo");
	assert_int_equal(err_prefix(&err, "open %d", 7), -EACCES);
	assert_string_equal(err.text, "open 7: no rights; run with sudo");
	assert_int_equal(err_set(NULL, -EIO, "nobody listens"), -EIO);
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	err_set(&err, -EIO, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_prefix(&err, "a");
	assert_memory_equal(err.text, "a: xxx", 6);
	err_prefix(&err, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void arenas_give_aligned_zeroed_memory(void **state)
{
	struct arena arena = { 0 };
	size_t total = 0;

	for (size_t size = 0; size < 300000; size = size * 2 + 7) {
		unsigned char *p = arena_alloc(&arena, size);

		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, size);
		total += size;
	}
	assert_true(arena.used_bytes >= total);
	assert_string_equal(arena_strdup(&arena, "name"), "name");
	arena_release(&arena);
	arena_release(&arena);
	assert_int_equal(arena.used_bytes, 0);
}

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

static void vectors_grow_and_sort(void **state)
{
	struct {
		VEC(int)
	} v = { 0 };
	int sum = 0;

	vec_sort(&v, descending);
	vec_for_each (&v, int, it)
		sum++;
	assert_int_equal(sum, 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(*vec_add(&v), 0);
		*vec_last(&v) = i;
	}
	vec_sort(&v, descending);
	vec_for_each (&v, int, it)
		sum += *it;
	assert_int_equal(sum, 499500);
	assert_int_equal(v.data[0], 999);
	vec_release(&v);
	assert_null(v.data);
}

#define KEYS 20000

static uint64_t key_of(uint32_t i)
{
	/* Runs of neighbours and of multiples of a large power of two: where bad hashes cluster. */
	return i % 2 ? i : (uint64_t)i << 40;
}

static void maps_find_what_was_put(void **state)
{
	struct map map = { 0 };

	assert_int_equal(map_get(&map, 1), MAP_NONE);
	assert_false(map_remove(&map, 1));
	for (uint32_t i = 0; i < KEYS; i++)
		map_put(&map, key_of(i), i);
	map_put(&map, key_of(5), 500);
	assert_int_equal(map.n, KEYS);
	assert_int_equal(map_get(&map, key_of(5)), 500);
	assert_int_equal(map_add(&map, key_of(5), 501), 500);
	assert_int_equal(map_add(&map, key_of(KEYS), 7), 7);
	assert_int_equal(map_get(&map, key_of(KEYS)), 7);
	assert_true(map_remove(&map, key_of(KEYS)));
	for (uint32_t i = 0; i < KEYS; i += 3)
		assert_true(map_remove(&map, key_of(i)));
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(map_get(&map, key_of(i)), i % 3 == 0 ? MAP_NONE
							   : i == 5   ? 500
								      : i);
	assert_false(map_remove(&map, key_of(0)));
	map_release(&map);
}

static void equal_strings_have_equal_numbers(void **state)
{
	struct strtab tab = { 0 };
	char name[32];

	assert_int_equal(strtab_find(&tab, "f0"), MAP_NONE);
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(strtab_add(&tab, name), i);
	}
	assert_int_equal(strtab_add(&tab, "f77"), 77);
	assert_int_equal(strtab_find(&tab, "f4999"), 4999);
	assert_string_equal(strtab_get(&tab, 4999), "f4999");
	assert_string_equal(strtab_get(&tab, 5000), "");
	assert_int_equal(strtab_add(&tab, ""), 5000);
	strtab_release(&tab);
}

static void hashes_differ(void **state)
{
	const char bytes[17] = "0123456789abcdef";
	uint64_t seen[18];

	for (size_t n = 0; n <= 17; n++) {
		seen[n] = hash_bytes(bytes, n);
		for (size_t i = 0; i < n; i++)
			assert_true(seen[i] != seen[n]);
	}
	assert_true(hash_bytes("\0", 1) != hash_bytes("\0\0", 2));
}

static void clocks_advance(void **state)
{
	uint64_t now = clock_now_ns(), cpu = clock_cpu_ns(), cycles = clock_cycles();

	clock_sleep_ns(2000000);
	assert_true(clock_now_ns() >= now + 2000000);
	assert_true(clock_cpu_ns() >= cpu);
	assert_true(!cycles || clock_cycles() > cycles);
}

static void pairs_of_clocks_have_a_rate(void **state)
{
	const struct clock_pair a = { .ns = 1000, .cycles = 5000 };
	const struct clock_pair b = { .ns = 3000, .cycles = 10000 };
	const struct clock_pair none = { .ns = 4000 };

	assert_float_equal(clock_pair_rate(&a, &b), 2.5, 1e-12);
	assert_true(isnan(clock_pair_rate(&b, &a)));
	assert_true(isnan(clock_pair_rate(&a, &a)));
	assert_true(isnan(clock_pair_rate(&a, &none)));
	assert_true(isnan(clock_pair_rate(&none, &b)));
}

static void a_pair_is_one_moment(void **state)
{
	struct clock_pair a = clock_pair_now(), b;
	uint64_t before, after;

	if (!a.cycles)
		skip();
	clock_sleep_ns(2000000);
	before = clock_now_ns();
	b = clock_pair_now();
	after = clock_now_ns();
	assert_in_range(b.ns, before, after);
	assert_true(b.width_ns <= after - before);
	assert_true(clock_pair_rate(&a, &b) > 0);
}

static void unstable_counters_are_told(void **state)
{
	const bool yes = true;

	assert_null(clock_unstable_by(true, "tsc kvm-clock acpi_pm\n", NULL));
	assert_null(clock_unstable_by(true, "hpet tsc\n", NULL));
	assert_non_null(strstr(clock_unstable_by(false, "tsc\n", NULL), "constant speed"));
	assert_non_null(strstr(clock_unstable_by(false, "kvm-clock\n", &yes), "constant speed"));
	assert_non_null(
		strstr(clock_unstable_by(true, "hpet acpi_pm\n", NULL), "the kernel found"));
	assert_non_null(clock_unstable_by(true, "tsc-early hyperv_clocksource_tsc_page\n", NULL));
	assert_non_null(clock_unstable_by(true, "", NULL));
}

static void clocks_of_hypervisors_are_compared(void **state)
{
	const bool yes = true, no = false;

	assert_null(clock_unstable_by(true, "kvm-clock\n", &yes));
	assert_non_null(strstr(clock_unstable_by(true, "kvm-clock\n", &no), "do not agree"));
	assert_true(clock_is_from_tsc("kvm-clock\n"));
	assert_true(clock_is_from_tsc("hyperv_clocksource_tsc_page\n"));
	assert_false(clock_is_from_tsc("hpet\n"));
	assert_false(clock_is_from_tsc(""));
}

/* Three readings at 2.5 cycles per ns, each known to 20 ns. */
static void counters_that_disagree_are_seen(void **state)
{
	const struct clock_pair before = { 1000, 2500, 20 }, after = { 9000, 22500, 20 };
	const struct clock_pair same = { 5000, 12500, 20 }, near = { 5060, 12500, 20 };
	const struct clock_pair behind = { 5000, 12500 - 2500, 20 };
	const struct clock_pair ahead = { 5000, 12500 + 2500, 20 };

	assert_float_equal(clock_pair_off_ns(&before, &same, &after), 0, 0);
	assert_float_equal(clock_pair_off_ns(&before, &near, &after), 0, 0);
	assert_float_equal(clock_pair_off_ns(&before, &behind, &after), 1000 - 60, 1e-9);
	assert_float_equal(clock_pair_off_ns(&before, &ahead, &after), 1000 - 60, 1e-9);
	assert_true(isinf(clock_pair_off_ns(&after, &same, &before)));
}

static void cpus_agree_with_the_scheduler(void **state)
{
	static struct cpus cpus;

	assert_int_equal(cpus_read(&cpus), 0);
	assert_int_equal(cpus.n, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(cpus.n_possible >= cpus.n);
	for (uint32_t i = 0; i < cpus.n; i++)
		assert_true(cpus.online[i] < cpus.n_possible);
}

/* What allocates in vain ends the process: with which status, and what it says. */
static int status_of_exhaustion(const char *line, int exit_status, char *said, size_t room)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		if (line)
			mem_exhausted_says(line, exit_status);
		mem_exhausted();
	}
	assert_true(pid > 0);
	close(fds[1]);
	n = read(fds[0], said, room - 1);
	said[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void exhausted_memory_is_said(void **state)
{
	char said[200];

	assert_int_equal(status_of_exhaustion(NULL, 0, said, sizeof(said)), 1);
	assert_non_null(strstr(said, "shorter recording"));
	assert_int_equal(status_of_exhaustion("ispot: no memory\n", 125, said, sizeof(said)), 125);
	assert_string_equal(said, "ispot: no memory\n");
}

/* Sets a limit on its memory and uses all; returns the status, with blocks made after the limit. */
static int use_all_memory(size_t reserved)
{
	struct rlimit limit = { 64u << 20, 64u << 20 };

	mem_exhausted_says("", 3);
	if (reserved)
		mem_reserve(reserved);
	setrlimit(RLIMIT_DATA, &limit);
	while (!mem_is_short())
		memset(xmalloc(1u << 20), 1, 1u << 20);
	return xcalloc(4, 1u << 20) && xasprintf("%d", 1) ? 0 : 1;
}

static int status_of_child(int (*run)(size_t arg), size_t arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run(arg));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The sanitizers' malloc() ends the process itself, and has no limit on its data. */
static void a_reserve_is_used_where_memory_ends(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return;
#endif
#endif
	assert_int_equal(status_of_child(use_all_memory, 0), 3);
	assert_int_equal(status_of_child(use_all_memory, 16u << 20), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_keep_their_sentence),
		cmocka_unit_test(errors_know_their_hint),
		cmocka_unit_test(exhausted_memory_is_said),
		cmocka_unit_test(a_reserve_is_used_where_memory_ends),
		cmocka_unit_test(arenas_give_aligned_zeroed_memory),
		cmocka_unit_test(vectors_grow_and_sort),
		cmocka_unit_test(maps_find_what_was_put),
		cmocka_unit_test(equal_strings_have_equal_numbers),
		cmocka_unit_test(hashes_differ),
		cmocka_unit_test(clocks_advance),
		cmocka_unit_test(pairs_of_clocks_have_a_rate),
		cmocka_unit_test(a_pair_is_one_moment),
		cmocka_unit_test(unstable_counters_are_told),
		cmocka_unit_test(clocks_of_hypervisors_are_compared),
		cmocka_unit_test(counters_that_disagree_are_seen),
		cmocka_unit_test(cpus_agree_with_the_scheduler),
	};

	return unit_run(tests);
}
