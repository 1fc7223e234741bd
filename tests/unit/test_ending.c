/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a recording ends that signals ask to end, and what its command hears of them. */
#include "unit.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/process/child.h"
#include "probes/process/ending.h"
#include "probes/process/target.h"

/* Ends of any signal that it gets, also where nohup(1) or a shell's & has had them ignored. */
static struct launch start(void)
{
	static const int passed[] = { SIGHUP, SIGINT, SIGTERM };
	void (*before[3])(int);
	struct launch l = { .go_fd = -1, .status_fd = -1 };

	for (size_t i = 0; i < 3; i++)
		before[i] = signal(passed[i], SIG_DFL);
	l.pid = child_fork();
	while (!l.pid)
		pause();
	for (size_t i = 0; i < 3; i++)
		signal(passed[i], before[i]);
	assert_true(l.pid > 0);
	return l;
}

static int end(struct launch *l)
{
	int status = 0;

	kill(l->pid, SIGKILL);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	return WTERMSIG(status);
}

static void a_signal_is_passed_on(void **state)
{
	struct launch l = start();
	struct ending e = { 0 };
	int status;

	ending_signal(&e, &l, SIGHUP, SI_USER);
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_int_equal(WTERMSIG(status), SIGHUP);
}

static void one_from_the_terminal_is_not(void **state)
{
	struct launch l = start();
	struct ending e = { 0 };

	ending_signal(&e, &l, SIGHUP, SI_KERNEL);
	assert_int_equal(e.signals, 1);
	assert_int_equal(end(&l), SIGKILL);
}

static void a_stop_for_its_tracer_is_no_end(void **state)
{
	struct launch l = start();
	siginfo_t stopped;
	int status;

	if (ptrace(PTRACE_SEIZE, l.pid, NULL, NULL)) {
		end(&l);
		skip(); /* by a container's rules, or another tracer's */
	}
	assert_int_equal(ptrace(PTRACE_INTERRUPT, l.pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)l.pid, &stopped, WEXITED | WSTOPPED | WNOWAIT), 0);
	assert_false(launch_poll(&l));
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid); /* it is there for the tracer */
	assert_true(WIFSTOPPED(status));
	assert_int_equal(end(&l), SIGKILL);
}

static void it_is_due(void **state)
{
	struct launch none = { 0 };
	struct ending e = { 0 };

	assert_false(ending_is_due(&e, false));
	ending_signal(&e, &none, SIGINT, SI_USER);
	assert_true(ending_is_due(&e, false)); /* nobody to wait for */
	e.signals = 2;
	assert_true(ending_is_due(&e, true)); /* whoever asks twice means it */
	e = (struct ending){ .signals = 1 };
	assert_true(ending_is_due(&e, true)); /* it has had its second */
}

static void a_command_that_a_signal_ended_did_not_end_by_itself(void **state)
{
	struct launch none = { 0 };
	struct ending e = { 0 };

	assert_string_equal(ending_reason(&e), "command ended");
	ending_signal(&e, &none, SIGTERM, SI_USER);
	assert_string_equal(ending_reason(&e), "interrupted");
}

struct waiting {
	struct ending *e;
	struct launch *l;
	unsigned turns, signal_at;
};

static void turn(void *ctx)
{
	struct waiting *w = ctx;

	usleep(1000);
	if (++w->turns == w->signal_at)
		ending_signal(w->e, w->l, SIGINT, SI_KERNEL);
}

static void who_is_told_ends(void **state)
{
	struct launch l = start();
	struct ending e = { 0 };
	struct waiting w = { &e, &l, 0, 0 };

	ending_wait(&e, &l, true, turn, &w);
	assert_true(l.ended);
	assert_int_equal(launch_exit_status(&l), 128 + SIGTERM);
}

static void one_that_lives_with_the_signal_is_told(void **state)
{
	struct launch l = start();
	struct ending e = { .signals = 1 }; /* long ago */
	struct waiting w = { &e, &l, 0, 0 };

	ending_wait(&e, &l, false, turn, &w);
	assert_true(l.ended);
	assert_int_equal(launch_exit_status(&l), 128 + SIGTERM);
}

static void one_that_lives_with_both_is_left(void **state)
{
	struct launch l = start();
	struct ending e = { .signals = 1, .told = true };
	struct waiting w = { &e, &l, 0, 0 };

	ending_wait(&e, &l, false, turn, &w);
	assert_false(l.ended);
	assert_int_equal(end(&l), SIGKILL);
}

static void the_second_signal_does_not_wait(void **state)
{
	struct launch l = start();
	struct ending e = { 0 };
	struct waiting w = { &e, &l, 0, 3 };

	ending_signal(&e, &l, SIGINT, SI_KERNEL);
	ending_wait(&e, &l, false, turn, &w);
	assert_int_equal(w.turns, 3);
	assert_false(l.ended);
	assert_int_equal(end(&l), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_is_passed_on),
		cmocka_unit_test(one_from_the_terminal_is_not),
		cmocka_unit_test(a_stop_for_its_tracer_is_no_end),
		cmocka_unit_test(it_is_due),
		cmocka_unit_test(a_command_that_a_signal_ended_did_not_end_by_itself),
		cmocka_unit_test(who_is_told_ends),
		cmocka_unit_test(one_that_lives_with_the_signal_is_told),
		cmocka_unit_test(one_that_lives_with_both_is_left),
		cmocka_unit_test(the_second_signal_does_not_wait),
	};

	return unit_run(tests);
}
