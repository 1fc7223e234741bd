/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes of ispot's own: they wait for a word, and end with the one that forked them. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/given.h"
#include "probes/process/child.h"

static int status_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void it_goes_on_when_told(void **state)
{
	int go_fd, status;
	pid_t pid = child_fork_held(&go_fd, -1);

	if (!pid)
		_exit(3);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_true(child_go(go_fd));
	status = status_of(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	close(go_fd);
}

static void it_ends_when_it_is_never_to_be_told(void **state)
{
	int go_fd, status;
	pid_t pid = child_fork_held(&go_fd, -1);

	if (!pid)
		_exit(3);
	close(go_fd);
	status = status_of(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 125);
}

/* Where the pipe has taken the last descriptors; an alarm ends the test that waits for ever. */
static void it_ends_without_a_free_descriptor(void **state)
{
	struct rlimit before, low;
	int last = dup(STDOUT_FILENO), go_fd, status;
	pid_t pid;

	close(last);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = (struct rlimit){ .rlim_cur = (rlim_t)last + 2, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	pid = child_fork_held(&go_fd, -1);
	if (!pid)
		_exit(3);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(pid > 0);
	close(go_fd);
	alarm(20);
	status = status_of(pid);
	alarm(0);
	assert_int_equal(WEXITSTATUS(status), 125);
}

/* Forks one that is held, and one that has a copy of what that one waits on; says both numbers. */
static void recorder(int pids_fd)
{
	pid_t pids[2];
	int go_fd;

	pids[0] = child_fork_held(&go_fd, -1);
	if (!pids[0])
		_exit(3);
	pids[1] = fork();
	while (!pids[1])
		pause();
	if (write(pids_fd, pids, sizeof(pids)) != sizeof(pids))
		_exit(1);
	for (;;)
		pause();
}

static void it_ends_with_a_killed_recorder(void **state)
{
	pid_t killed, other, pids[2];
	int fds[2], status;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(fds), 0);
	killed = fork();
	if (!killed)
		recorder(fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], pids, sizeof(pids)), sizeof(pids));
	close(fds[0]);
	kill(killed, SIGKILL);
	status_of(killed);
	status = status_of(pids[0]); /* waits for ever where it is left */
	other = waitpid(pids[1], NULL, WNOHANG);
	kill(pids[1], SIGKILL);
	status_of(pids[1]);
	assert_int_equal(other, 0); /* it had its copy still */
	/* By the signal, or by itself where it was killed before that was set. */
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 125);
}

static void own_one(int pid_fd, int wait_fd)
{
	pid_t own;
	char word;

	child_becomes_own();
	own = getpid();
	if (write(pid_fd, &own, sizeof(own)) != sizeof(own))
		_exit(1);
	_exit(read(wait_fd, &word, 1) == 1 ? 7 : 1);
}

static void who_becomes_its_own_lives_on(void **state)
{
	int pids[2], words[2], go_fd;
	pid_t killed, own;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(pids), 0);
	assert_int_equal(pipe(words), 0);
	killed = fork();
	if (!killed) {
		if (!child_fork_held(&go_fd, -1))
			own_one(pids[1], words[0]);
		child_go(go_fd);
		for (;;)
			pause();
	}
	assert_int_equal(read(pids[0], &own, sizeof(own)), sizeof(own));
	kill(killed, SIGKILL);
	status_of(killed);
	assert_int_equal(write(words[1], "w", 1), 1);
	assert_int_equal(status_of(own), 7 << 8);
	close(pids[0]);
	close(pids[1]);
	close(words[0]);
	close(words[1]);
}

/* What the recorder closes is closed, while it waits as well as when it has been told. */
static void it_has_only_what_it_was_given(void **state)
{
	int fds[2], go_fd, plain, status;
	pid_t pid;
	char word;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	plain = dup(STDIN_FILENO); /* as a shell's 3<file */
	pid = child_fork_held(&go_fd, fds[0]);
	if (!pid)
		_exit(fcntl(fds[1], F_GETFD) < 0 && fcntl(fds[0], F_GETFD) >= 0 &&
				      fcntl(plain, F_GETFD) >= 0
			      ? 3
			      : 1);
	close(fds[1]);
	alarm(60); /* where it holds the other end there is none */
	assert_int_equal(read(fds[0], &word, 1), 0);
	alarm(0);
	assert_true(child_go(go_fd));
	status = status_of(pid);
	assert_int_equal(status, 3 << 8);
	close(go_fd);
	close(fds[0]);
	close(plain);
}

/* Libraries open files that an exec inherits. */
static void it_has_nothing_that_a_library_opened(void **state)
{
	int before = dup(STDIN_FILENO), since, go_fd;
	pid_t pid;

	given_note();
	since = dup(STDIN_FILENO);
	pid = child_fork_held(&go_fd, -1);
	if (!pid)
		_exit(fcntl(since, F_GETFD) < 0 && fcntl(before, F_GETFD) >= 0 ? 3 : 1);
	assert_true(child_go(go_fd));
	assert_int_equal(status_of(pid), 3 << 8);
	close(go_fd);
	close(before);
	close(since);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on_when_told),
		cmocka_unit_test(it_ends_when_it_is_never_to_be_told),
		cmocka_unit_test(it_ends_without_a_free_descriptor),
		cmocka_unit_test(it_ends_with_a_killed_recorder),
		cmocka_unit_test(who_becomes_its_own_lives_on),
		cmocka_unit_test(it_has_only_what_it_was_given),
		cmocka_unit_test(it_has_nothing_that_a_library_opened), /* last: it notes */
	};

	return unit_run(tests);
}
