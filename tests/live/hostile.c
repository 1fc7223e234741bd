/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that probes could break, one per case, beside microbench/harm: each prints what it saw,
 * the same traced or not, and how often it called what is traced.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "microbench/common.h"

static uint64_t count = 10; /* -n; what it counts is the case's */
static char **arguments;

TRACED uint64_t one_step(uint64_t x)
{
	return churn(3, x);
}

static void steps(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		one_step(i);
}

/* ---- frames that are left otherwise ---- */

static atomic_ulong cleanups;

static void clean_up(void *arg)
{
	(void)arg;
	cleanups++;
}

TRACED void leave_thread(uint64_t depth)
{
	pthread_cleanup_push(clean_up, NULL);
	if (!depth)
		pthread_exit(NULL);
	if (count)
		leave_thread(depth - 1);
	pthread_cleanup_pop(1);
}

static void *leaving_thread(void *arg)
{
	one_step(0);
	leave_thread(4);
	return arg;
}

static void join_new(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if ((errno = pthread_create(&thread, NULL, run, arg)))
		bench_die("pthread_create");
	pthread_join(thread, NULL);
}

static void case_thread_exit(void)
{
	for (uint64_t i = 0; i < count; i++)
		join_new(leaving_thread, NULL);
	printf("cleanups %lu\n", cleanups);
	expect_calls("one_step", count);
	expect_calls("leave_thread", 5 * count);
}

static pthread_barrier_t ready;
static int blocking_pipe[2];

TRACED void block_in_read(void)
{
	char c;

	pthread_cleanup_push(clean_up, NULL);
	pthread_barrier_wait(&ready);
	if (read(blocking_pipe[0], &c, 1) >= 0)
		abort();
	pthread_cleanup_pop(1);
}

TRACED void spin_until_cancelled(void)
{
	pthread_cleanup_push(clean_up, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_barrier_wait(&ready);
	for (;;)
		churn(100, 1);
	pthread_cleanup_pop(1);
}

static void *cancelled_thread(void *arg)
{
	if (arg)
		spin_until_cancelled();
	else
		block_in_read();
	return NULL;
}

static void case_cancel_blocked(void)
{
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, 2);
	if (pipe(blocking_pipe))
		bench_die("pipe");
	for (uint64_t i = 0; i < count; i++) {
		void *kind = i % 2 ? &ready : NULL;

		if ((errno = pthread_create(&thread, NULL, cancelled_thread, kind)))
			bench_die("pthread_create");
		pthread_barrier_wait(&ready);
		one_step(i);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	printf("cleanups %lu\n", cleanups);
	expect_calls("block_in_read", (count + 1) / 2);
	expect_calls("spin_until_cancelled", count / 2);
	expect_calls("one_step", count);
}

static sigjmp_buf jump;

TRACED void jump_from_handler(int signal)
{
	siglongjmp(jump, signal);
}

TRACED void raise_and_jump(void)
{
	raise(SIGUSR1);
	abort();
}

static void case_signal_jump(void)
{
	volatile uint64_t jumps = 0;

	signal(SIGUSR1, jump_from_handler);
	for (volatile uint64_t i = 0; i < count; i++) {
		if (!sigsetjmp(jump, 1))
			raise_and_jump();
		jumps++;
		one_step(i);
	}
	printf("jumps %" PRIu64 "\n", jumps);
	expect_calls("raise_and_jump", count);
	expect_calls("jump_from_handler", count);
	expect_calls("one_step", count);
}

/* At any instruction, also one of what a traced call runs beside the program's own. */
static void *step_until_cancelled(void *arg)
{
	pthread_cleanup_push(clean_up, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_barrier_wait(&ready);
	for (uint64_t i = 0;; i++)
		one_step(i);
	pthread_cleanup_pop(1);
	return arg;
}

static void case_cancel_anywhere(void)
{
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, 2);
	for (uint64_t i = 0; i < count; i++) {
		void *value;

		if ((errno = pthread_create(&thread, NULL, step_until_cancelled, NULL)))
			bench_die("pthread_create");
		pthread_barrier_wait(&ready);
		sleep_ns(20000 + i * 1009 % 50000);
		pthread_cancel(thread);
		pthread_join(thread, &value);
		if (value != PTHREAD_CANCELED)
			abort();
	}
	printf("cleanups %lu\n", cleanups);
}

/* ---- other stacks ---- */

#define COROUTINES   4
#define STACK_BYTES  65536
#define SIGNAL_PAUSE 20000 /* ns: 50,000 a second */

static ucontext_t scheduler, coroutines[COROUTINES];
static uint64_t coroutine_sum;

TRACED void yield_in(int which)
{
	swapcontext(&coroutines[which], &scheduler);
}

/* Each of its calls goes on in turn with those of the others. */
TRACED void run_coroutine(int which)
{
	for (uint64_t i = 0; i < count; i++) {
		coroutine_sum += one_step(i) + (uint64_t)which;
		yield_in(which);
	}
}

static void case_coroutines(void)
{
	static char stacks[COROUTINES][STACK_BYTES] __attribute__((aligned(16)));

	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = STACK_BYTES;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))(uintptr_t)run_coroutine, 1, i);
	}
	for (uint64_t k = 0; k <= count; k++)
		for (int i = 0; i < COROUTINES; i++)
			swapcontext(&scheduler, &coroutines[i]);
	printf("sum %" PRIu64 "\n", coroutine_sum);
	expect_calls("one_step", COROUTINES * count);
	expect_calls("run_coroutine", COROUTINES);
	expect_calls("yield_in", COROUTINES * count);
}

static atomic_ulong handled;

TRACED void handle_aside(int signal)
{
	char here;
	stack_t now;

	(void)signal;
	sigaltstack(NULL, &now);
	if (!(now.ss_flags & SS_ONSTACK) || &here < (char *)now.ss_sp ||
	    &here >= (char *)now.ss_sp + now.ss_size)
		abort();
	one_step(1);
	handled++;
}

static void handle_on_own_stack(void)
{
	static char stack[STACK_BYTES];
	const stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = handle_aside, .sa_flags = SA_ONSTACK };

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static void case_own_stack(void)
{
	handle_on_own_stack();
	for (uint64_t i = 0; i < count; i++) {
		one_step(i);
		raise(SIGUSR1);
	}
	printf("handled %lu\n", handled);
	expect_calls("one_step", 2 * count);
	expect_calls("handle_aside", count);
}

static atomic_int is_over;

static void *send_often(void *to)
{
	const struct timespec pause = { .tv_nsec = SIGNAL_PAUSE };

	while (!is_over) {
		pthread_kill(*(pthread_t *)to, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Handlers run between any two instructions of a thread that does nothing but make calls. */
static void case_signals(void)
{
	pthread_t me = pthread_self(), sender;
	uint64_t sum = 0;

	handle_on_own_stack();
	if ((errno = pthread_create(&sender, NULL, send_often, &me)))
		bench_die("pthread_create");
	while (handled < count)
		for (uint64_t i = 0; i < 1000; i++)
			sum += one_step(i) != one_step(i);
	is_over = 1;
	pthread_join(sender, NULL);
	printf("wrong %" PRIu64 "\n", sum);
}

/* ---- frames that are looked at ---- */

static void *callers[2];

TRACED void *who_called(void)
{
	__asm__ volatile("" ::: "memory");
	return __builtin_return_address(0);
}

TRACED void note_callers(void)
{
	callers[0] = who_called();
	__asm__ volatile("" ::: "memory");
	callers[1] = who_called();
	__asm__ volatile("" ::: "memory");
}

static void case_return_address(void)
{
	Dl_info info;

	for (uint64_t i = 0; i < count; i++)
		note_callers();
	printf("called from %s, %ld bytes apart\n",
	       dladdr(callers[0], &info) && info.dli_fname ? "the program" : "nowhere",
	       (long)((char *)callers[1] - (char *)callers[0]));
	expect_calls("note_callers", count);
	expect_calls("who_called", 2 * count);
}

/* ---- frames that are many, or none ---- */

TRACED uint64_t descend(uint64_t depth)
{
	uint64_t below = depth > 1 ? descend(depth - 1) : 0;

	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static void case_deep(void)
{
	uint64_t depth = 0;

	for (uint64_t i = 0; i < count; i++)
		depth += descend(10000);
	printf("depth %" PRIu64 "\n", depth);
	expect_calls("descend", depth);
}

static volatile uint64_t bounces;

TRACED void ping(uint64_t n);

TRACED __attribute__((optimize("O2"))) void pong(uint64_t n)
{
	bounces++;
	if (n)
		ping(n - 1);
}

TRACED __attribute__((optimize("O2"))) void ping(uint64_t n)
{
	bounces++;
	if (n)
		pong(n - 1);
}

static void case_tail(void)
{
	for (uint64_t i = 0; i < count; i++)
		ping(1000);
	printf("bounces %" PRIu64 "\n", bounces);
	expect_calls("ping", 501 * count);
	expect_calls("pong", 500 * count);
}

/* ---- threads and processes ---- */

static void *short_thread(void *arg)
{
	one_step(1);
	return arg;
}

static void case_threads(void)
{
	pthread_t threads[8];

	for (uint64_t i = 0; i < count; i += 8) {
		for (int k = 0; k < 8; k++)
			if ((errno = pthread_create(&threads[k], NULL, short_thread, NULL)))
				bench_die("pthread_create");
		for (int k = 0; k < 8; k++)
			pthread_join(threads[k], NULL);
	}
	expect_calls("one_step", (count + 7) / 8 * 8);
}

static uint64_t reaped;

static void reap(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bench_die("fork");
	reaped += WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void case_forks(void)
{
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid) {
			steps(3);
			_exit(7);
		}
		steps(2);
		reap(pid);
	}
	printf("reaped %" PRIu64 "\n", reaped);
	expect_calls("one_step", 5 * count);
}

/* The child runs on the parent's memory until it execs or ends. */
static void case_vforks(void)
{
	for (volatile uint64_t i = 0; i < count; i++) {
		pid_t pid = vfork();

		if (!pid) {
			one_step(i);
			if (i % 2)
				execl("/bin/sh", "sh", "-c", "exit 7", NULL);
			_exit(7);
		}
		steps(2);
		reap(pid);
	}
	printf("reaped %" PRIu64 "\n", reaped);
	expect_calls("one_step", 3 * count);
}

/* Execs itself; the last one says what all of them did. */
static void case_execs(void)
{
	const char *all = arguments[3] ? arguments[3] : arguments[2];
	char left[24];

	steps(3);
	if (count > 1) {
		snprintf(left, sizeof(left), "%" PRIu64, count - 1);
		execl("/proc/self/exe", arguments[0], arguments[1], left, all, NULL);
		bench_die("exec");
	}
	expect_calls("one_step", 3 * strtoull(all, NULL, 10));
}

/* For so many seconds: programs that live for milliseconds, their children and threads. */
static void case_programs(void)
{
	static const char *const runs[][2] = {
		{ "threads", "100" }, { "forks", "50" }, { "vforks", "20" }, { "execs", "5" }
	};
	time_t end = time(NULL) + (time_t)count;

	for (size_t i = 0; time(NULL) < end; i++) {
		const char *const *run = runs[i % (sizeof(runs) / sizeof(*runs))];
		pid_t pid = fork();

		if (!pid) {
			execl("/proc/self/exe", arguments[0], run[0], run[1], NULL);
			_exit(127);
		}
		if (waitpid(pid, NULL, 0) != pid)
			bench_die("waitpid");
	}
}

/* ---- objects ---- */

static void case_reload(void)
{
	const char *names[] = { "libz.so.1", "crc32" };
	unsigned long (*crc)(unsigned long, const unsigned char *, unsigned) = NULL;
	unsigned long sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		void *library = dlopen(names[0], RTLD_NOW | RTLD_LOCAL);

		if (!library || !(*(void **)&crc = dlsym(library, names[1])))
			bench_die("dlopen");
		/* The recorder hears of the mapping a moment after it was made. */
		if (!i)
			sleep_ns(2000000000);
		sum += crc(0, (const unsigned char *)"ispot", 5);
		one_step(i);
		dlclose(library);
	}
	printf("sum %lx\n", sum);
	expect_calls("one_step", count);
	expect_calls("crc32", count);
}

/* ---- sandboxes ---- */

static void case_strict(void)
{
	printf("strict\n");
	expect_calls("one_step", count);
	fflush(stdout);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		bench_die("prctl");
	steps(count);
	syscall(SYS_exit, 5);
}

static void case_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	printf("filter\n");
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		bench_die("prctl");
	steps(count);
	expect_calls("one_step", count);
	fflush(stdout);
	_exit(5);
}

/* ---- plain ones ---- */

static void case_steps(void)
{
	steps(count);
	expect_calls("one_step", count);
}

/* For -p: waits for a line, then works. */
static void case_waiting(void)
{
	int c;

	printf("waiting\n");
	fflush(stdout);
	while ((c = getchar()) != '\n' && c != EOF)
		;
	case_steps();
}

/*
 * Calls as fast as it can for COUNT seconds, on COUNT-OF-ALL (6) threads, more than CPUs, which
 * change them. The stamps are taken around a call: no recorded call can be longer than the longest
 * by them.
 */
static atomic_ulong flooded, longest_ns;
static volatile bool flood_ends;

TRACED void flood_call(uint64_t i)
{
	if (i % 64 == 0)
		sched_yield();
	churn(50, i);
}

static void *flood(void *arg)
{
	uint64_t n = 0, longest = 0, seen;

	for (; !flood_ends; n++) {
		uint64_t before = now_ns(), taken;

		flood_call(n);
		taken = now_ns() - before;
		if (taken > longest)
			longest = taken;
		if (n % 512 == 0)
			sleep_ns(100000);
	}
	flooded += n;
	seen = longest_ns;
	while (seen < longest && !atomic_compare_exchange_weak(&longest_ns, &seen, longest))
		;
	return arg;
}

static void case_flood(void)
{
	uint64_t n = arguments[2] && arguments[3] ? strtoull(arguments[3], NULL, 10) : 6;
	pthread_t *threads = calloc(n, sizeof(*threads));

	for (uint64_t k = 0; k < n; k++)
		if ((errno = pthread_create(&threads[k], NULL, flood, NULL)))
			bench_die("pthread_create");
	sleep_ns(count * 1000000000);
	flood_ends = true;
	for (uint64_t k = 0; k < n; k++)
		pthread_join(threads[k], NULL);
	free(threads);
	printf("longest_ns %lu\n", longest_ns);
	expect_calls("flood_call", flooded);
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "thread_exit", case_thread_exit },
	{ "cancel_blocked", case_cancel_blocked },
	{ "signal_jump", case_signal_jump },
	{ "cancel_anywhere", case_cancel_anywhere },
	{ "coroutines", case_coroutines },
	{ "own_stack", case_own_stack },
	{ "signals", case_signals },
	{ "return_address", case_return_address },
	{ "deep", case_deep },
	{ "tail", case_tail },
	{ "threads", case_threads },
	{ "forks", case_forks },
	{ "vforks", case_vforks },
	{ "execs", case_execs },
	{ "programs", case_programs },
	{ "reload", case_reload },
	{ "strict", case_strict },
	{ "filter", case_filter },
	{ "steps", case_steps },
	{ "waiting", case_waiting },
	{ "flood", case_flood },
};

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc > 2)
		count = strtoull(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	fprintf(stderr, "usage: hostile CASE [COUNT [COUNT-OF-ALL]]\n");
	return 2;
}
