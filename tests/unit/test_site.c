/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places where threads wait outside of every recorded call. */
#include "unit.h"
#include "calls_scene.h"

#include "analysis/site/site.h"

static void fall_asleep(struct scene *s, uint64_t time)
{
	uint64_t stack[RECORD_VALUES_MIN] = { 1 };
	struct record r = { .time_ns = time, .kind = REC_BLOCK_STACK, .cpu = 1, .tid = 1 };

	r.tgid = 1;
	r.values = stack;
	r.n_values = 1;
	other(s, REC_SWITCH_OUT, time, 1, 1, SWITCH_SLEEPING, 0);
	calls_record(&s->calls, &r);
}

static void wake_up(struct scene *s, uint64_t time)
{
	other(s, REC_WAKING, time, 2, 2, 1, 0);
	other(s, REC_SWITCH_IN, time, 1, 1, 0, 0);
}

static void begin_sites(struct scene *s, struct sites *sites)
{
	struct call_visitor v;

	sites_init(sites, &s->calls);
	v = sites_visitor(sites);
	calls_add_visitor(&s->calls, &v);
}

/* Of a recording that lasted so long. */
static void end_sites(struct scene *s, struct sites *sites, uint64_t duration_ns)
{
	static double lost[2];

	sites_end(sites);
	sites_build(sites, &(struct block_options){ .duration_ns = duration_ns, .period = 1 },
		    &s->blocks, lost);
}

/* 200 short waits with one stack, outside of every recorded call. */
static void wait_outside(struct scene *s, struct sites *sites)
{
	uint64_t t = 1000;

	begin_sites(s, sites);
	for (unsigned i = 0; i < 200; i++, t += 100000) {
		fall_asleep(s, t);
		wake_up(s, t + 100 + i % 2 * 200);
	}
	scene_finish(s, t);
	end_sites(s, sites, t);
}

static void begin_with_stack(struct scene *s, const char *outer)
{
	static uint32_t frames[2] = { 0, 1 };

	begin(s);
	(void)vec_add(&s->meta.stacks);
	*vec_add(&s->meta.stacks) = (struct meta_stack){ .id = 1, .n_frames = 2, .frames = frames };
	*vec_add(&s->meta.frames) =
		(struct meta_frame){ .file = "", .symbol = "futex", .object = "libc", .calls = "" };
	*vec_add(&s->meta.frames) =
		(struct meta_frame){ .file = "", .symbol = outer, .object = "app", .calls = "" };
}

static void end_with_stack(struct scene *s, struct sites *sites)
{
	sites_release(sites);
	vec_release(&s->meta.stacks);
	vec_release(&s->meta.frames);
	scene_release(s);
}

/* A place where threads wait has no probe: a short wait now and then is judged all the same. */
static void a_wait_of_little_is_judged(void **state)
{
	struct sites sites;
	struct scene s;

	begin_with_stack(&s, "f");
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 1);
	assert_true(s.blocks.data[0].sci > 0 && s.blocks.data[0].sci < SCI_SMALL);
	assert_int_equal(s.blocks.data[0].verdict, VERDICT_INTERFERENCE);
	end_with_stack(&s, &sites);
}

/* Thread tid sleeps for ns, with or without a stack. Returns when it is awake. */
static uint64_t sleep_in(struct scene *s, uint64_t t, uint32_t tid,
			 const uint64_t wait[RECORD_VALUES_MIN], bool has_stack, uint64_t ns)
{
	const uint64_t stack[] = { 1, 0, 0, 0 };
	struct record r = { .time_ns = t, .cpu = tid, .tid = tid, .tgid = 1 };

	other(s, REC_SWITCH_OUT, t, tid, tid, SWITCH_SLEEPING, 0);
	r.kind = REC_WAIT;
	r.values = wait;
	r.n_values = 4;
	calls_record(&s->calls, &r);
	r.kind = REC_BLOCK_STACK;
	r.values = stack;
	r.n_values = 1;
	if (has_stack)
		calls_record(&s->calls, &r);
	other(s, REC_WAKING, t + ns, 9, 9, tid, 0);
	other(s, REC_SWITCH_IN, t + ns, tid, tid, 0, 0);
	return t + ns + 100;
}

static uint64_t sleep_at(struct scene *s, uint64_t t, uint32_t tid, uint64_t futex, bool has_stack,
			 uint64_t ns)
{
	const uint64_t wait[RECORD_VALUES_MIN] = { WAIT_FUTEX, 0, futex, 0 };

	return sleep_in(s, t, tid, wait, has_stack, ns);
}

/* Not every wait has a stack: one without is where the futex was waited for before, by whoever. */
static void a_wait_without_a_stack_is_where_others_were(void **state)
{
	struct sites sites;
	struct scene s;
	uint64_t t = 1000;

	begin_with_stack(&s, "f");
	begin_sites(&s, &sites);
	t = sleep_at(&s, t, 1, 0x100, true, 500);
	t = sleep_at(&s, t, 1, 0x100, false, 700);
	t = sleep_at(&s, t, 2, 0x100, false, 900);
	t = sleep_at(&s, t, 1, 0x200, false, 1100); /* nobody was seen at this one */
	scene_finish(&s, t);
	end_sites(&s, &sites, t);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].timed_calls, 3);
	assert_int_equal(s.blocks.data[0].total_ns, 500 + 700 + 900);
	assert_int_equal(s.blocks.data[0].threads, 2);
	end_with_stack(&s, &sites);
}

/* Of waits at no futex one without is where the thread waited in the same system call. */
static void a_wait_without_a_stack_is_in_the_same_call(void **state)
{
	const uint64_t poll[RECORD_VALUES_MIN] = { WAIT_POLL, 7, 0, 0 },
		       read[RECORD_VALUES_MIN] = { WAIT_SOCKET, 1, 0x100, 0 },
		       fault[RECORD_VALUES_MIN] = { WAIT_PAGE_FAULT, 0, 0, 0 };
	struct sites sites;
	struct scene s;
	uint64_t t = 1000;

	begin_with_stack(&s, "f");
	begin_sites(&s, &sites);
	t = sleep_in(&s, t, 1, poll, true, 500);
	t = sleep_in(&s, t, 1, poll, false, 700);
	t = sleep_in(&s, t, 2, poll, false, 900);  /* another thread's may be anywhere */
	t = sleep_in(&s, t, 1, read, false, 1100); /* and so may one in another call */
	t = sleep_in(&s, t, 1, fault, true, 1300);
	t = sleep_in(&s, t, 1, fault, false, 1500); /* or a page fault */
	scene_finish(&s, t);
	end_sites(&s, &sites, t);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].timed_calls, 3);
	assert_int_equal(s.blocks.data[0].total_ns, 500 + 700 + 1300);
	end_with_stack(&s, &sites);
}

/* Where calls are left out it may have been in one of them. */
static void nor_where_calls_are_left_out(void **state)
{
	struct sites sites;
	struct scene s;
	uint64_t t = 1000;

	begin_with_stack(&s, "elsewhere");
	s.meta.session.period = 7;
	begin_sites(&s, &sites);
	t = sleep_at(&s, t, 1, 0x100, true, 500);
	t = sleep_at(&s, t, 1, 0x100, false, 700);
	scene_finish(&s, t);
	end_sites(&s, &sites, t);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].timed_calls, 1);
	end_with_stack(&s, &sites);
}

/* Between two bursts nobody knows what is outside: a wait is seen until the probes go. */
static void a_wait_between_bursts_is_not_seen(void **state)
{
	struct sites sites;
	struct scene s;

	begin_with_stack(&s, "elsewhere");
	begin_sites(&s, &sites);
	other(&s, REC_SET_ON, 1000, 0, 0, 1, 0);
	other(&s, REC_SET_ON, 1000, 0, 0, 2, 0);
	fall_asleep(&s, 2000);
	wake_up(&s, 3000);
	fall_asleep(&s, 4000);
	other(&s, REC_SET_OFF, 4500, 0, 0, 1, 0);
	other(&s, REC_SET_OFF, 4500, 0, 0, 2, 0);
	wake_up(&s, 6000);
	fall_asleep(&s, 7000);
	wake_up(&s, 8000);
	other(&s, REC_SET_ON, 9000, 0, 0, 1, 0);
	fall_asleep(&s, 9500);
	wake_up(&s, 9600);
	scene_finish(&s, 10000);
	end_sites(&s, &sites, 9000);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].calls, 3);
	assert_int_equal(s.blocks.data[0].timed_calls, 2);
	assert_int_equal(s.blocks.data[0].total_ns, 1000 + 100);
	assert_int_equal(s.blocks.data[0].open_ns, 500 - 100);
	end_with_stack(&s, &sites);
}

/* A recorder that begins without a function, and adds some later: what was before is not outside.
 */
static void a_wait_before_the_first_probe_is_not_seen(void **state)
{
	struct sites sites;
	struct scene s;

	begin_with_stack(&s, "elsewhere");
	begin_sites(&s, &sites);
	other(&s, REC_SET_ON, 1000, 0, 0, 9, 0); /* of no function */
	fall_asleep(&s, 2000);
	wake_up(&s, 3000);
	fall_asleep(&s, 4000);
	other(&s, REC_SET_ON, 5000, 0, 0, 1, 0);
	wake_up(&s, 5300);
	fall_asleep(&s, 6000);
	wake_up(&s, 6500);
	scene_finish(&s, 10000);
	end_sites(&s, &sites, 5000);
	assert_int_equal(s.blocks.n, 1);
	assert_int_equal(s.blocks.data[0].calls, 2);
	assert_int_equal(s.blocks.data[0].total_ns, 300 + 500);
	end_with_stack(&s, &sites);
}

/* Under sampling, waits in calls that were left out are not outside of their function. */
static void a_wait_in_a_call_left_out_is_no_place(void **state)
{
	struct sites sites;
	struct scene s;

	begin_with_stack(&s, "f");
	s.meta.session.period = 7;
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 0);
	end_with_stack(&s, &sites);
	begin_with_stack(&s, "elsewhere");
	s.meta.session.period = 7;
	wait_outside(&s, &sites);
	assert_int_equal(s.blocks.n, 1);
	end_with_stack(&s, &sites);
}

#define FRAMES_MAX 6

static const struct {
	const char *name;
	struct meta_frame frames[FRAMES_MAX];
} called_rows[] = {
	{ "pthread_cond_wait in queue_pop in worker",
	  { { .symbol = "futex_wait", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "__pthread_cond_wait", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "queue_pop", .object = "/bin/app", .calls = "pthread_cond_wait" },
	    { .symbol = "worker", .object = "/bin/app", .calls = "" },
	    { .symbol = "start_thread", .object = "/lib/libc.so.6", .calls = "" } } },
	{ "sem_wait in app+0x1234 in app+0x2345",
	  { { .symbol = "", .object = "/lib/libc.so.6", .offset = 0x10, .calls = "" },
	    { .symbol = "", .object = "/bin/app", .offset = 0x1234, .calls = "sem_wait" },
	    { .symbol = "", .object = "/bin/app", .offset = 0x2345, .calls = "" } } },
	/* a function that the program called last, in place of its own end */
	{ "usleep in worker",
	  { { .symbol = "clock_nanosleep", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "nanosleep", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "usleep", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "worker", .object = "/bin/app", .calls = "" },
	    { .symbol = "start_thread", .object = "/lib/libc.so.6", .calls = "" } } },
	/* how it came there is not known, and what is known is said */
	{ "futex_wait in worker",
	  { { .symbol = "futex_wait", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "worker", .object = "/bin/app", .calls = "" },
	    { .symbol = "start_thread", .object = "/lib/libc.so.6", .calls = "" } } },
	{ "my_wait in ?", /* and not as the function itself is called */
	  { { .symbol = "my_wait", .object = "/bin/app", .calls = "" },
	    { .symbol = "", .object = "", .calls = "" } } },
	{ "my_wait in pop in main",
	  { { .symbol = "my_wait", .object = "/bin/app", .calls = "" },
	    { .symbol = "pop", .object = "/bin/app", .calls = "" },
	    { .symbol = "main", .object = "/bin/app", .calls = "" } } },
	/* a system header's wrapper is not the reader's */
	{ "pthread_mutex_lock in add in worker",
	  { { .symbol = "pthread_mutex_lock", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "__gthread_mutex_lock",
	      .object = "/bin/app",
	      .file = "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h",
	      .inlined = true,
	      .calls = "pthread_mutex_lock" },
	    { .symbol = "std::mutex::lock()",
	      .object = "/bin/app",
	      .file = "/usr/include/c++/12/bits/std_mutex.h",
	      .calls = "" },
	    { .symbol = "add", .object = "/bin/app", .calls = "" },
	    { .symbol = "worker", .object = "/bin/app", .calls = "" } } },
	/* nor are those of a standard library that is compiled into the program */
	{ "std::sys::Mutex::lock_contended in app::transfer",
	  { { .symbol = "syscall", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "std::sys::futex::futex_wait", .object = "/bin/app", .calls = "" },
	    { .symbol = "std::sys::Mutex::lock_contended", .object = "/bin/app", .calls = "" },
	    { .symbol = "app::transfer", .object = "/bin/app", .calls = "" },
	    { .symbol = "std::sys::backtrace::__rust_begin_short_backtrace",
	      .object = "/bin/app",
	      .calls = "" },
	    { .symbol = "start_thread", .object = "/lib/libc.so.6", .calls = "" } } },
	{ "<std::sync::Channel<u64>>::recv in app::main::{closure#1}",
	  { { .symbol = "syscall", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "<std::sys::Parker>::park", .object = "/bin/app", .calls = "" },
	    { .symbol = "<std::sync::Channel<u64>>::recv", .object = "/bin/app", .calls = "" },
	    { .symbol =
		      "std::sys::backtrace::__rust_begin_short_backtrace::<app::main::{closure#1}, u64>",
	      .object = "/bin/app",
	      .calls = "" },
	    { .symbol = "<std::sys::Thread>::new::thread_start",
	      .object = "/bin/app",
	      .calls = "" } } },
	{ "pthread_cond_wait in Queue::pop() in work()",
	  { { .symbol = "pthread_cond_wait", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
	      .object = "/lib/libstdc++.so.6",
	      .calls = "pthread_cond_wait" },
	    { .symbol = "Queue::pop()", .object = "/bin/app", .calls = "" },
	    { .symbol = "void std::__invoke_impl<void, void (*)()>(std::__invoke_other)",
	      .object = "/bin/app",
	      .calls = "" },
	    { .symbol = "work()", .object = "/bin/app", .calls = "" } } },
	/* functions of a stripped library say nothing where one further out does */
	{ "nanosleep in db_step in insert",
	  { { .symbol = "nanosleep", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "", .object = "/lib/libdb.so", .offset = 0x10, .calls = "nanosleep" },
	    { .symbol = "", .object = "/lib/libdb.so", .offset = 0x20, .calls = "" },
	    { .symbol = "", .object = "/lib/libdb.so", .offset = 0x30, .calls = "" },
	    { .symbol = "db_step", .object = "/lib/libdb.so", .calls = "" },
	    { .symbol = "insert", .object = "/bin/app", .calls = "" } } },
	/* where none does they are all that is known */
	{ "nanosleep in libdb.so+0x10 in libdb.so+0x20",
	  { { .symbol = "nanosleep", .object = "/lib/libc.so.6", .calls = "" },
	    { .symbol = "", .object = "/lib/libdb.so", .offset = 0x10, .calls = "nanosleep" },
	    { .symbol = "", .object = "/lib/libdb.so", .offset = 0x20, .calls = "" },
	    { .symbol = "start_thread", .object = "/lib/libc.so.6", .calls = "" } } },
};

/* A library's parts are not what the program called, nor is its start of the thread. */
static void a_place_has_the_name_that_was_called(void **state)
{
	for (unsigned i = 0; i < sizeof(called_rows) / sizeof(*called_rows); i++) {
		static uint32_t ids[FRAMES_MAX];
		struct meta_stack stack = { .id = 1, .frames = ids };
		struct sites sites;
		struct scene s;

		begin(&s);
		while (stack.n_frames < FRAMES_MAX &&
		       called_rows[i].frames[stack.n_frames].object) {
			struct meta_frame *f = vec_add(&s.meta.frames);

			*f = called_rows[i].frames[stack.n_frames];
			f->file = f->file ? f->file : "";
			ids[stack.n_frames] = stack.n_frames;
			stack.n_frames++;
		}
		(void)vec_add(&s.meta.stacks);
		*vec_add(&s.meta.stacks) = stack;
		wait_outside(&s, &sites);
		assert_int_equal(s.blocks.n, 1);
		assert_string_equal(s.blocks.data[0].name, called_rows[i].name);
		end_with_stack(&s, &sites);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_has_the_name_that_was_called),
		cmocka_unit_test(a_wait_of_little_is_judged),
		cmocka_unit_test(a_wait_before_the_first_probe_is_not_seen),
		cmocka_unit_test(a_wait_in_a_call_left_out_is_no_place),
		cmocka_unit_test(a_wait_between_bursts_is_not_seen),
		cmocka_unit_test(a_wait_without_a_stack_is_where_others_were),
		cmocka_unit_test(a_wait_without_a_stack_is_in_the_same_call),
		cmocka_unit_test(nor_where_calls_are_left_out),
	};

	return unit_run(tests);
}
