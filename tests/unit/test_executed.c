// SPDX-License-Identifier: GPL-3.0-or-later
/* What is said of a process with patches that executes another program, and that nothing is said of
 * one that has only got its number. */
#include "unit.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/inject/processes.h"
#include "probes/inproc/drain.h"
#include "probes/process/child.h"
#include "probes/process/target.h"
#include "trace/write/writer.h"

static char path[] = "/tmp/ispot-unit.XXXXXX";
static struct inproc_drain drain;
static struct trace_writer *writer;
static struct processes processes;
static pid_t child;

static int begin(void **state)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, 4096, writer);
	child = child_fork();
	while (!child)
		pause();
	return child < 0;
}

static int end(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	inproc_drain_release(&drain);
	trace_writer_close(writer, NULL);
	return unlink(path);
}

/* Returns what p, a process that was patched, has become by one look at the child. */
static struct patched look(struct patched p)
{
	struct patched now;

	processes = (struct processes){ .drain = &drain, .is_alone = true };
	*vec_add(&processes.patched) = p;
	processes_check(&processes, UINT64_MAX);
	now = *vec_last(&processes.patched);
	vec_release(&processes.patched);
	return now;
}

static struct patched as_it_is(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	return (struct patched){ .pid = child,
				 .region = PATCHED_NONE,
				 .injection.region_fd = -1,
				 .start_ticks = target_start_ticks(child),
				 .program = { st.st_ino, st.st_dev } };
}

static void the_same_program_is_none_other(void **state)
{
	const struct patched p = look(as_it_is());

	(void)state;
	assert_false(p.has_executed || p.has_ended);
}

static void another_file_is_another_program(void **state)
{
	struct patched p = as_it_is();

	(void)state;
	p.program.inode++;
	p = look(p);
	assert_true(p.has_executed);
	assert_false(p.has_ended);
}

static void a_file_of_its_number_elsewhere_is_another_program(void **state)
{
	struct patched p = as_it_is();

	(void)state;
	p.program.device++;
	assert_true(look(p).has_executed);
}

static void another_process_of_its_number_has_executed_nothing(void **state)
{
	struct patched p = as_it_is();

	(void)state;
	p.program.inode++;
	p.start_ticks--;
	p = look(p);
	assert_false(p.has_executed);
	assert_true(p.has_ended);
}

static void nothing_is_said_where_its_program_is_not_known(void **state)
{
	struct patched p = as_it_is();

	(void)state;
	p.program = (struct patched_program){ 0 };
	assert_false(look(p).has_executed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_is_none_other),
		cmocka_unit_test(another_file_is_another_program),
		cmocka_unit_test(a_file_of_its_number_elsewhere_is_another_program),
		cmocka_unit_test(another_process_of_its_number_has_executed_nothing),
		cmocka_unit_test(nothing_is_said_where_its_program_is_not_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
