/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/cpus.h"
#include "base/mem.h"

#define NS_PER_S 1000000000ull

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_cycles(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return 0;
#endif
}

/* Signals do not end the sleep: a caller that wants to be woken uses poll() instead. */
void clock_sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NS_PER_S),
			       .tv_nsec = (long)(ns % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

#define PAIR_TRIES 16

struct clock_pair clock_pair_now(void)
{
	struct clock_pair best = { .width_ns = UINT64_MAX };

	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = clock_now_ns(), cycles = clock_cycles(), after = clock_now_ns();

		if (after - before >= best.width_ns)
			continue;
		best = (struct clock_pair){ .ns = before + (after - before) / 2,
					    .cycles = cycles,
					    .width_ns = after - before };
	}
	return best;
}

double clock_pair_rate(const struct clock_pair *a, const struct clock_pair *b)
{
	if (!a->cycles || b->cycles <= a->cycles || b->ns <= a->ns)
		return NAN;
	return (double)(b->cycles - a->cycles) / (double)(b->ns - a->ns);
}

double clock_pair_off_ns(const struct clock_pair *before, const struct clock_pair *between,
			 const struct clock_pair *after)
{
	const double rate = clock_pair_rate(before, after);
	const double ns = (double)(int64_t)(between->cycles - before->cycles) / rate;
	const double off = fabs(ns - (double)(int64_t)(between->ns - before->ns));
	const double known_to = (double)(before->width_ns + between->width_ns + after->width_ns);

	return off > known_to ? off - known_to : off <= known_to ? 0 : INFINITY;
}

#if defined(__x86_64__)
#define CPUID_POWER   0x80000007u
#define INVARIANT_TSC (1u << 8)
#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/"

#define WIDTH_MAX_NS 2000 /* of readings that CPUs are compared by: wider ones prove nothing */
#define WIDTH_TRIES  8

static bool goes_at_one_speed(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && d & INVARIANT_TSC;
}

static void read_words(const char *path, char *words, int room)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(words, room, f))
		*words = '\0';
	if (f)
		fclose(f);
}

static bool read_pair(struct clock_pair *pair)
{
	for (int i = 0; i < WIDTH_TRIES; i++) {
		*pair = clock_pair_now();
		if (pair->width_ns <= WIDTH_MAX_NS)
			return true;
	}
	return false;
}

/*
 * Compares each CPU that this thread may use with the first, by a reading of it between two of the
 * first. True: they agree as exactly as they can be read.
 */
static bool agree(const struct cpus *cpus)
{
	struct clock_pair before = { 0 }, between, after;
	uint32_t first = cpus->n;

	for (uint32_t i = 0; i < cpus->n; i++) {
		if (!cpus_visit(cpus->online[i]))
			continue;
		if (!read_pair(first < cpus->n ? &between : &before))
			return false;
		if (first == cpus->n) {
			first = i;
			continue;
		}
		if (!cpus_visit(cpus->online[first]) || !read_pair(&after) ||
		    clock_pair_off_ns(&before, &between, &after) > 0)
			return false;
		before = after;
	}
	return first < cpus->n;
}

static bool cpus_agree(void)
{
	struct cpus *cpus = xcalloc(1, sizeof(*cpus));
	struct cpus_own *own = cpus_own();
	const bool ret = own && !cpus_read(cpus) && agree(cpus);

	cpus_return(own);
	free(cpus);
	return ret;
}
#endif

static bool names_tsc(const char *words)
{
	for (const char *at = words; (at = strstr(at, "tsc")); at++)
		if ((at == words || at[-1] == ' ') && (!at[3] || strchr(" \n", at[3])))
			return true;
	return false;
}

bool clock_is_from_tsc(const char *source)
{
	static const char *const SOURCES[] = { "kvm-clock\n", "hyperv_clocksource_tsc_page\n" };

	for (size_t i = 0; i < sizeof(SOURCES) / sizeof(*SOURCES); i++)
		if (!strcmp(source, SOURCES[i]))
			return true;
	return false;
}

const char *clock_unstable_by(bool constant, const char *available, const bool *agreeing)
{
	if (!constant)
		return "the processor does not promise a TSC of constant speed";
	/*
	 * The kernel removes the TSC from its list if CPUs disagree, or if the TSC stops or drifts;
	 * of a virtual machine also because the hypervisor's clock is said to be better, although
	 * that is computed from the same TSC.
	 */
	if (names_tsc(available) || (agreeing && *agreeing))
		return NULL;
	return agreeing ? "the TSCs of this virtual machine's CPUs do not agree"
			: "the kernel found the TSC to be unstable";
}

#if defined(__x86_64__)
static const char *find_unstable(void)
{
	char available[256], current[64];
	bool constant = goes_at_one_speed(), agreeing = false, compared = false;

	read_words(CLOCK_SOURCES "available_clocksource", available, sizeof(available));
	read_words(CLOCK_SOURCES "current_clocksource", current, sizeof(current));
	if (constant && !names_tsc(available) && clock_is_from_tsc(current)) {
		compared = true;
		agreeing = cpus_agree();
	}
	return clock_unstable_by(constant, available, compared ? &agreeing : NULL);
}
#endif

const char *clock_cycles_unstable(void)
{
#if defined(__x86_64__)
	static const char *unstable;
	static bool is_known;

	if (!is_known)
		unstable = find_unstable();
	is_known = true;
	return unstable;
#elif defined(__aarch64__)
	return NULL; /* the architecture's system counter */
#else
	return "this processor has no counter that ispot reads";
#endif
}
