/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

#if defined(__x86_64__)
#define CPUID_POWER    0x80000007u
#define INVARIANT_TSC  (1u << 8)
#define KERNELS_CLOCKS "/sys/devices/system/clocksource/clocksource0/available_clocksource"

static bool goes_at_one_speed(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && d & INVARIANT_TSC;
}

static void read_clocks(char *words, int room)
{
	FILE *f = fopen(KERNELS_CLOCKS, "re");

	if (!f || !fgets(words, room, f))
		*words = '\0';
	if (f)
		fclose(f);
}
#endif

static bool names_tsc(const char *words)
{
	for (const char *at = words; (at = strstr(at, "tsc")); at++)
		if ((at == words || at[-1] == ' ') && (!at[3] || strchr(" \n", at[3])))
			return true;
	return false;
}

const char *clock_unstable_by(bool constant, const char *available)
{
	if (!constant)
		return "the processor does not promise a TSC of constant speed";
	/*
	 * The kernel removes the TSC from its list if CPUs disagree, or if the TSC stops or drifts.
	 */
	return names_tsc(available) ? NULL : "the kernel found the TSC to be unstable";
}

const char *clock_cycles_unstable(void)
{
#if defined(__x86_64__)
	char available[256];

	read_clocks(available, sizeof(available));
	return clock_unstable_by(goes_at_one_speed(), available);
#elif defined(__aarch64__)
	return NULL; /* the architecture's system counter */
#else
	return "this processor has no counter that ispot reads";
#endif
}
