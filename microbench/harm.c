/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What return probes are known to break: each case prints what it saw, and must print the same
 * when it is traced. A traced function is on the stack while the thread is cancelled, a coroutine
 * switches, a handler runs on an alternate stack, longjmp leaves, dlsym looks up RTLD_NEXT. And no
 * call of it may be missing.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleanups;
static jmp_buf jump;

static void unlock(void *arg)
{
	cleanups++;
	pthread_mutex_unlock(arg);
}

TRACED void wait_to_be_cancelled(void)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	for (;;)
		sleep_ns(1000000);
	pthread_cleanup_pop(1);
}

static void *cancelled_thread(void *arg)
{
	wait_to_be_cancelled();
	return arg;
}

static void case_cancel(void)
{
	pthread_t thread;

	if ((errno = pthread_create(&thread, NULL, cancelled_thread, NULL)))
		bench_die("pthread_create");
	sleep_ns(20000000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	printf("cancel: cleanups %d, mutex %s\n", cleanups,
	       pthread_mutex_trylock(&lock) ? "left locked" : "free");
	expect_calls("wait_to_be_cancelled", 1);
}

#define STEPS 5

static ucontext_t main_context, coroutines[2];
static int switches;

TRACED void coroutine_step(int me)
{
	switches++;
	swapcontext(&coroutines[me], &coroutines[1 - me]);
	switches++;
}

static void coroutine(int me)
{
	for (int i = 0; i < STEPS; i++)
		coroutine_step(me);
	swapcontext(&coroutines[me], &main_context);
}

static void case_coroutine(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = malloc(256 << 10);
		coroutines[i].uc_stack.ss_size = 256 << 10;
		coroutines[i].uc_link = &main_context;
		makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&main_context, &coroutines[0]);
	printf("coroutine: switches %d\n", switches);
	expect_calls("coroutine_step", 2 * STEPS);
	for (int i = 0; i < 2; i++)
		free(coroutines[i].uc_stack.ss_sp);
}

#define SIGNALS 10

static volatile sig_atomic_t handled;

TRACED void handle_signal(int number)
{
	handled += number == SIGUSR1;
}

TRACED void raise_signal(void)
{
	raise(SIGUSR1);
}

static void *altstack_thread(void *area)
{
	stack_t stack = { .ss_sp = area, .ss_size = 64 << 10 };
	struct sigaction action = { .sa_handler = handle_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < SIGNALS; i++)
		raise_signal();
	return NULL;
}

/* The alternate stack lies above the thread's: return probes take lower ones for left. */
static void case_altstack(void)
{
	size_t half = 256 << 10;
	char *area = aligned_alloc(4096, 2 * half);
	pthread_attr_t attr;
	pthread_t thread;

	if (!area)
		bench_die("aligned_alloc");
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, area, half);
	if ((errno = pthread_create(&thread, &attr, altstack_thread, area + half)))
		bench_die("pthread_create");
	pthread_join(thread, NULL);
	printf("altstack: handled %d\n", (int)handled);
	expect_calls("raise_signal", SIGNALS);
	expect_calls("handle_signal", SIGNALS);
	free(area);
}

#define JUMPS	   100
#define JUMP_DEPTH 5

TRACED void jump_out(int depth)
{
	if (!depth)
		longjmp(jump, 1);
	if (depth > 0)
		jump_out(depth - 1);
	__asm__ volatile("");
}

TRACED int after_jump(int x)
{
	return x + 1;
}

static void case_longjmp(void)
{
	volatile int jumps = 0;

	for (volatile int i = 0; i < JUMPS; i++) {
		if (!setjmp(jump))
			jump_out(JUMP_DEPTH);
		jumps = after_jump(jumps);
	}
	printf("longjmp: jumps %d\n", jumps);
	expect_calls("jump_out", JUMPS * (JUMP_DEPTH + 1));
	expect_calls("after_jump", JUMPS);
}

TRACED void *look_up(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void case_dlsym(void)
{
	printf("dlsym: RTLD_NEXT %s\n", look_up("malloc") ? "found" : "missing");
	expect_calls("look_up", 1);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { { "cancel", case_cancel },
	      { "coroutine", case_coroutine },
	      { "altstack", case_altstack },
	      { "longjmp", case_longjmp },
	      { "dlsym", case_dlsym } };

int main(int argc, char **argv)
{
	const char *only = "";
	const struct bench_extra extras[] = {
		{ "case", "NAME", "cancel, coroutine, altstack, longjmp, or dlsym (all)", NULL,
		  &only },
		{ 0 }
	};
	struct bench_options o = { .name = "harm",
				   .what = "What return probes are known to break.",
				   .threads = 1,
				   .iterations = 1,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!*only || !strcmp(only, cases[i].name))
			cases[i].run();
	return 0;
}
