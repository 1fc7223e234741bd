/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processes of a machine are called, on one where many programs run. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "elf_fixture.h"
#include "probes/process/application.h"
#include "probes/process/child.h"

#define PROGRAMS 8

static struct applications apps;

/* A process of the program that only waits; it runs when the other end of the pipe is closed. */
static pid_t run(const char *program)
{
	int running[2];
	pid_t pid;
	char word;

	assert_int_equal(pipe2(running, O_CLOEXEC), 0);
	pid = child_fork();
	if (!pid) {
		execl(fixture_path(program), program, (char *)NULL);
		_exit(127);
	}
	close(running[1]);
	assert_int_equal(read(running[0], &word, 1), 0);
	close(running[0]);
	application_forget(&apps, pid);
	return pid;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static const char *name_of(pid_t pid)
{
	return strtab_get(&apps.names, application_of(&apps, pid));
}

static const char *program(int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "waits%d", i);
	return name;
}

static int open_setup(void **state)
{
	struct err err = { 0 };
	char command[64];

	fixture_write("waits.c", "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n");
	fixture_run(
		"gcc -Wl,--build-id=0x1234567890abcdef1234567890abcdef12345678 -o waits0 waits.c");
	for (int i = 1; i < PROGRAMS; i++) {
		snprintf(command, sizeof(command), "cp waits0 waits%d", i);
		fixture_run(command);
	}
	return applications_init(&apps, "executable", &err);
}

static int close_setup(void **state)
{
	applications_release(&apps);
	return 0;
}

static void a_program_is_its_name_and_build_id(void **state)
{
	pid_t pid = run(program(0)), second = run(program(0));

	assert_string_equal(name_of(pid), "waits0@1234567890ab");
	assert_int_equal(application_of(&apps, second), application_of(&apps, pid));
	end(pid);
	end(second);
}

static int first_free(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

/* One that is out of descriptors would call half of them by their name alone. */
static void no_program_takes_a_descriptor(void **state)
{
	int before = first_free();

	for (int i = 0; i < PROGRAMS; i++) {
		char wanted[64];
		pid_t pid = run(program(i));

		snprintf(wanted, sizeof(wanted), "%s@1234567890ab", program(i));
		assert_string_equal(name_of(pid), wanted);
		end(pid);
	}
	assert_int_equal(first_free(), before);
}

static void one_that_was_built_again_is_another(void **state)
{
	pid_t pid = run(program(0));
	uint32_t before = application_of(&apps, pid);

	end(pid);
	fixture_run(
		"gcc -Wl,--build-id=0xfedcba09876543210fedcba098765432fedcba09 -o again waits.c && "
		"mv -f again waits0");
	pid = run(program(0));
	assert_int_not_equal(application_of(&apps, pid), before);
	assert_string_equal(name_of(pid), "waits0@fedcba098765");
	end(pid);
}

/* A number that comes back. */
static void another_program_is_looked_at_anew(void **state)
{
	pid_t pid = run(program(1));

	application_of(&apps, pid);
	end(pid);
	assert_string_equal(name_of(pid), "waits1@1234567890ab");
	application_forget(&apps, pid);
	assert_string_equal(name_of(pid), "(gone)");
}

/* Such have no program, as the kernel's threads have none: it is none of those. */
static void one_that_has_ended_is_gone(void **state)
{
	pid_t pid = run(program(1));
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_string_equal(name_of(pid), "(gone)");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The same process by whom it belongs to: of another user where this one may be another. */
static void a_user_is_its_account(void **state)
{
	struct passwd *account = getpwuid(getuid());
	struct applications users = { 0 };
	struct err err = { 0 };
	pid_t pid;

	assert_int_equal(applications_init(&users, "user", &err), 0);
	if (account)
		assert_string_equal(strtab_get(&users.names, application_of(&users, getpid())),
				    account->pw_name);
	if (!getuid()) {
		pid = child_fork();
		if (!pid) {
			if (setuid(4294967))
				_exit(1);
			for (;;)
				pause();
		}
		while (strcmp(strtab_get(&users.names, application_of(&users, pid)), "4294967")) {
			assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
			application_forget(&users, pid);
		}
		end(pid);
	}
	applications_release(&users);
}

/* As its own file in /proc has it. */
static void a_cgroup_is_its_path(void **state)
{
	struct applications cgroups = { 0 };
	struct err err = { 0 };
	char command[256];
	const char *name;

	assert_int_equal(applications_init(&cgroups, "cgroup", &err), 0);
	name = strtab_get(&cgroups.names, application_of(&cgroups, getpid()));
	if (access("/proc/self/cgroup", F_OK)) {
		assert_string_equal(name, "(gone)");
	} else {
		assert_int_equal(name[0], '/');
		snprintf(command, sizeof(command), "grep -q ':%.200s$' /proc/%d/cgroup", name,
			 (int)getpid());
		assert_int_equal(system(command), 0);
	}
	applications_release(&cgroups);
	assert_int_equal(applications_init(&cgroups, "colour", &err), -EINVAL);
}

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_container_is_called_as_its_runtime_does(void **state)
{
	static const struct {
		const char *cgroup, *name;
	} in[] = {
		{ "/system.slice/docker-" NUMBER ".scope", "0123456789ab" },
		{ "/docker/" NUMBER, "0123456789ab" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
		  "cri-containerd-" NUMBER ".scope",
		  "0123456789ab" },
		{ "/machine.slice/libpod-" NUMBER ".scope/container", "0123456789ab" },
		{ "/lxc.payload.web/system.slice/nginx.service", "web" },
		{ "/machine.slice/machine-web.scope/payload", "web" },
		{ "/machine.slice/machine-web.scope/docker/" NUMBER, "0123456789ab" },
	};
	static const char *const none[] = { "",
					    "/",
					    "/user.slice/user-0.slice/session-1.scope",
					    "/system.slice/docker.service",
					    "/docker/" NUMBER "0",
					    "/docker/0123456789ab",
					    "/machine-" };
	char name[64] = "";

	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++) {
		assert_true(application_container(in[i].cgroup, name, sizeof(name)));
		assert_string_equal(name, in[i].name);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(application_container(none[i], name, sizeof(name)));
}

/* A user can have any number of programs: their names are bounded. */
static void names_are_bounded(void **state)
{
	struct applications full = { .by = BY_EXECUTABLE };
	char name[32];
	pid_t pid;

	for (unsigned i = 0; i < APPLICATIONS_MAX; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		strtab_add(&full.names, name);
	}
	pid = run(program(0));
	assert_string_equal(strtab_get(&full.names, application_of(&full, pid)), "(others)");
	assert_int_equal(full.names.n, APPLICATIONS_MAX + 1);
	end(pid);
	applications_release(&full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_its_name_and_build_id),
		cmocka_unit_test(no_program_takes_a_descriptor),
		cmocka_unit_test(one_that_was_built_again_is_another),
		cmocka_unit_test(another_program_is_looked_at_anew),
		cmocka_unit_test(one_that_has_ended_is_gone),
		cmocka_unit_test(a_user_is_its_account),
		cmocka_unit_test(a_cgroup_is_its_path),
		cmocka_unit_test(a_container_is_called_as_its_runtime_does),
		cmocka_unit_test(names_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_setup, close_setup);
}
