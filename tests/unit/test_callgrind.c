/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/imbalance/count/callgrind.h"
#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/count/counted.h"
#include "base/err.h"

static const struct lime_options paper = LIME_DEFAULTS;

static int read_text(struct counts *c, const char *text)
{
	char path[] = "/tmp/ispot_callgrind.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct err err = { 0 };
	int rc;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	rc = callgrind_read(c, path, &err);
	unlink(path);
	return rc;
}

static const char *name(const struct counts *c, uint32_t number)
{
	return strtab_get(&c->names, number);
}

/* As valgrind 3.19 writes it: a jump's source is the next line, and a call's too, with its
 * inclusive cost, which is not the call instruction's own. */
static void a_dump_is_read(void **state)
{
	static const char text[] =
		"# callgrind format\npart: 7\nthread: 2\n"
		"desc: Trigger: --dump-before=pthread_barrier_wait@@GLIBC_2.34\n"
		"positions: instr line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n\n"
		"ob=/bin/lu\nfl=/src/lu.c\nfn=work\n"
		"0x10 18 210 5 0 0 3 0 0 1\n"
		"jcnd=160/210 0x40 17 \n0x10 18 \n"
		"fi=/src/lu.h\n0x12 3 50\nfe=/src/lu.c\n"
		"cob=/lib/libm.so\ncfi=m.c\ncfn=sin\ncalls=50 0x900 7 \n0x14 20 40300\n"
		"0x14 20 50\njump=50 0x10 18 \n0x16 20 \n\ntotals: 310\n";
	struct counts c = { 0 };
	const struct counts_row *k;

	assert_int_equal(read_text(&c, text), 0);
	assert_int_equal(c.dumps.n, 1);
	assert_int_equal(c.dumps.data[0].thread, 2);
	assert_int_equal(c.dumps.data[0].part, 7);
	assert_string_equal(name(&c, c.dumps.data[0].trigger),
			    "--dump-before=pthread_barrier_wait@@GLIBC_2.34");
	assert_true(c.caches);
	assert_int_equal(c.dumps.data[0].counts.n, 6);
	k = c.dumps.data[0].counts.data;
	assert_int_equal(k[0].kind, COUNTS_RUN);
	assert_int_equal(k[0].count, 210);
	assert_int_equal(k[0].l1_misses, 3);
	assert_int_equal(k[0].ll_misses, 1);
	assert_int_equal(k[1].kind, COUNTS_COND);
	assert_int_equal(k[1].count, 160);
	assert_int_equal(c.places.data[k[1].to].address, 0x40);
	assert_true(c.places.data[k[1].from].cond);
	assert_string_equal(name(&c, c.places.data[k[2].from].file), "/src/lu.h");
	assert_int_equal(k[3].kind, COUNTS_CALL);
	assert_int_equal(k[3].count, 50);
	assert_string_equal(name(&c, c.places.data[k[3].to].object), "/lib/libm.so");
	assert_string_equal(name(&c, c.places.data[k[3].to].function), "sin");
	assert_int_equal(k[4].count, 50);
	assert_int_equal(k[5].kind, COUNTS_JUMP);
	assert_string_equal(name(&c, c.places.data[k[5].to].object), "/bin/lu");
	counts_release(&c);
}

/* As of clang's programs; but a path that is there with two slashes is left. */
static void a_path_from_the_root_stays_one(void **state)
{
	struct counts c = { 0 };

	assert_int_equal(read_text(&c,
				   "part: 1\nevents: Ir\nob=/bin/lu\nfl=/build//etc/passwd\nfn=f\n"
				   "0x10 1 1\nfe=/usr//nowhere.h\n0x14 2 1\n"),
			 0);
	assert_string_equal(name(&c, c.places.data[0].file), "/etc/passwd");
	assert_string_equal(name(&c, c.places.data[1].file), "/usr//nowhere.h");
	counts_release(&c);
}

static void what_is_no_dump_is_refused(void **state)
{
	struct counts c = { 0 };

	assert_int_equal(read_text(&c, ""), -EINVAL);
	assert_int_equal(read_text(&c, "jcnd=9\ncalls=\n0x\nfn=\nthread: x\n"), -EINVAL);
	assert_int_equal(callgrind_read(&c, "/nowhere", NULL), -ENOENT);
	counts_release(&c);
}

/* Four threads, a branch at line 18 whose one side, lines 19 and 20, costs. */
static void add_thread(struct counts *c, unsigned thread, unsigned taken)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "part: %u\nthread: %u\ndesc: Trigger: Program termination\nevents: Ir\n"
		 "ob=/nowhere/lu\nfl=/src/lu.c\nfn=work\n0x08 17 100\n"
		 "0x10 18 100\njcnd=%u/100 0x40 30 \n0x10 18 \n"
		 "0x12 19 %u\njump=%u 0x50 31 \n0x12 19 \n"
		 "0x40 30 100\n0x50 31 100\njcnd=99/100 0x08 17 \n0x50 31 \n0x60 40 1\n",
		 thread, thread, 100 - taken, 1000 * taken, taken);
	assert_int_equal(read_text(c, text), 0);
}

/* The rows of threads are as many as the highest number: one in a damaged file is no thread's. */
static void a_thread_beyond_all_is_refused(void **state)
{
	struct counts c = { 0 };

	assert_int_equal(read_text(&c, "events: Ir\nfn=work\n0x1 18 7\nthread: -931\n"), -EINVAL);
	assert_int_equal(c.dumps.data[0].thread, 0);
	counts_release(&c);
	assert_int_equal(read_text(&c, "events: Ir\nfn=work\n0x1 18 7\nthread: 3\n"), 0);
	counts_release(&c);
}

static void the_uneven_branch_is_named(void **state)
{
	const struct counted_section *s;
	struct counts run = { 0 };
	struct counted c = { 0 };

	add_thread(&run, 1, 0);
	for (unsigned t = 2; t <= 5; t++)
		add_thread(&run, t, t * t);
	counted_find(&c, &run, &paper);
	assert_int_equal(c.imbalance.sections.n, 1);
	assert_int_equal(c.imbalance.sections.data[0].kind, SECTION_JOIN);
	assert_int_equal(c.imbalance.sections.data[0].threads.n, 4);
	s = &c.sections.data[0];
	assert_int_equal(s->answer, LIME_FOUND);
	assert_int_equal(s->causes.n, 1);
	assert_int_equal(run.places.data[s->causes.data[0].place].line, 18);
	assert_string_equal(s->causes.data[0].what, "branch");
	assert_true(s->causes.data[0].score > 0.99);
	/* not taken: as often as it was executed and not taken */
	for (unsigned t = 0; t < 4; t++)
		assert_true(s->causes.data[0].counts[t] == (t + 2) * (t + 2));
	counted_release(&c);
	counts_release(&run);
}

/* A branch of a library's, whose source is not here, in a function that another one of it calls,
 * which the program calls from line 20, a little unevenly, and more often but evenly from 30. The
 * two also call each other through a third, most unevenly; and a fourth returns into the middle of
 * one. */
static void add_library_thread(struct counts *c, unsigned thread, unsigned taken, const char *file)
{
	char text[1024];

	snprintf(
		text, sizeof(text),
		"part: %u\nthread: %u\ndesc: Trigger: Program termination\nevents: Ir\n"
		"ob=/bin/lu\nfl=%s\nfn=work\n0x10 20 9\ncob=/nowhere/c\ncfn=search\n"
		"calls=%u 0x100 3\n0x10 20 9\nfn=setup\n0x30 30 9\ncob=/nowhere/c\ncfn=search\n"
		"calls=500 0x100 3\n0x30 30 9\n"
		"ob=/nowhere/c\nfl=/nowhere/c.c\nfn=search\n0x100 5 600\n0x104 6 600\n"
		"cfn=compare\ncalls=600 0x200 3\n0x104 6 9\n"
		"fn=compare\n0x200 8 600\njcnd=%u/600 0x240 9\n0x200 8 \n0x210 9 %u\n"
		"jump=%u 0x248 11\n0x210 9 \n0x240 10 %u\njump=%u 0x248 11\n0x240 10 \n0x248 11 600\n"
		"fn=again\n0x300 12 9\ncfn=search\ncalls=%u 0x100 3\n0x300 12 9\n"
		"fn=compare\n0x250 13 9\ncfn=again\ncalls=%u 0x300 3\n0x250 13 9\n"
		"fn=tail\n0x400 14 9\ncfn=search\ncalls=%u 0x104 3\n0x400 14 9\n",
		thread, thread, file, 100 + thread % 2, taken, 600 - taken, 600 - taken,
		1000 * taken, taken, 100 * thread, 100 * thread, 1000 * thread);
	assert_int_equal(read_text(c, text), 0);
}

/* Also a branch of the program's, which is taken as often: on line 40. */
static void add_own_branch(struct counts *c, unsigned thread, unsigned taken, const char *file)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "part: %u\nthread: %u\ndesc: Trigger: Program termination\nevents: Ir\n"
		 "ob=/nowhere/c\nfl=/nowhere/c.c\nfn=compare\n0x200 8 600\njcnd=%u/600 0x240 9\n"
		 "0x200 8 \n0x210 9 %u\njump=%u 0x248 11\n0x210 9 \n0x240 10 %u\n"
		 "jump=%u 0x248 11\n0x240 10 \n0x248 11 600\n"
		 "ob=/bin/lu\nfl=%s\nfn=work\n0x10 20 9\ncob=/nowhere/c\ncfn=compare\n"
		 "calls=600 0x200 3\n0x10 20 9\n"
		 "0x40 40 600\njcnd=%u/600 0x60 42\n0x40 40 \n0x48 41 %u\njump=%u 0x70 43\n"
		 "0x48 41 \n0x60 42 %u\njump=%u 0x70 43\n0x60 42 \n0x70 43 600\n",
		 thread, thread, taken, 600 - taken, 600 - taken, 1000 * taken, taken, file, taken,
		 600 - taken, 600 - taken, 1000 * taken, taken);
	assert_int_equal(read_text(c, text), 0);
}

static void of_equal_lines_the_programs_is_first(void **state)
{
	char file[] = "/tmp/ispot_callgrind.XXXXXX";
	struct counts run = { 0 };
	struct counted c = { 0 };

	close(mkstemp(file));
	add_own_branch(&run, 1, 0, file);
	for (unsigned t = 2; t <= 5; t++)
		add_own_branch(&run, t, t * t, file);
	counted_find(&c, &run, &paper);
	assert_int_equal(c.sections.data[0].causes.n, 2);
	assert_int_equal(run.places.data[c.sections.data[0].causes.data[0].place].line, 40);
	assert_int_equal(run.places.data[c.sections.data[0].causes.data[1].place].line, 8);
	counted_release(&c);
	unlink(file);
	/* without its source it is as any other */
	counted_find(&c, &run, &paper);
	assert_int_equal(run.places.data[c.sections.data[0].causes.data[0].place].line, 8);
	counted_release(&c);
	counts_release(&run);
}

static void a_library_line_has_a_caller(void **state)
{
	char file[] = "/tmp/ispot_callgrind.XXXXXX";
	const struct counted_cause *cause;
	struct counts run = { 0 };
	struct counted c = { 0 };

	close(mkstemp(file));
	add_library_thread(&run, 1, 0, file);
	for (unsigned t = 2; t <= 5; t++)
		add_library_thread(&run, t, t * t, file);
	counted_find(&c, &run, &paper);
	assert_int_equal(c.sections.data[0].answer, LIME_FOUND);
	cause = &c.sections.data[0].causes.data[0];
	assert_int_equal(run.places.data[cause->place].line, 8);
	assert_int_not_equal(cause->caller, MAP_NONE);
	assert_int_equal(run.places.data[cause->caller].line, 20);
	unlink(file);
	counted_release(&c);
	/* nor is the program's source here now */
	counted_find(&c, &run, &paper);
	assert_int_equal(c.sections.data[0].causes.data[0].caller, MAP_NONE);
	counted_release(&c);
	counts_release(&run);
}

/* A dump of a thread, at the end of a region's body, in which it did so much. */
static void add_body(struct counts *c, unsigned thread, unsigned part, unsigned body, unsigned work)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "part: %u\nthread: %u\ndesc: Trigger: --dump-after=main._omp_fn.%u\nevents: Ir\n"
		 "ob=/nowhere/omp\nfl=/src/omp.c\nfn=main._omp_fn.%u\n0x%u 17 %u\n",
		 part, thread, body, body, 10 + body, work);
	assert_int_equal(read_text(c, text), 0);
}

/* Three threads, and of the one region between the others but two. */
static void a_region_of_fewer_threads_shifts_no_other(void **state)
{
	struct counts run = { 0 };
	struct counted c = { 0 };

	for (unsigned t = 1; t <= 3; t++) {
		unsigned part = 1;

		add_body(&run, t, part++, 0, 100);
		if (t < 3)
			add_body(&run, t, part++, 1, 1000 * t);
		add_body(&run, t, part++, 0, 100 * t);
	}
	counted_find(&c, &run, &paper);
	assert_int_equal(c.imbalance.sections.n, 2);
	assert_int_equal(c.imbalance.sections.data[0].threads.n, 2);
	assert_true(c.imbalance.sections.data[0].lost == 1000);
	assert_int_equal(c.imbalance.sections.data[1].threads.n, 3);
	assert_int_equal(c.imbalance.sections.data[1].instances, 2);
	assert_string_equal(c.imbalance.sections.data[1].name, "main._omp_fn.0 (/src/omp.c:17)");
	assert_true(c.imbalance.sections.data[1].lost == 300);
	counted_release(&c);
	counts_release(&run);
}

/* before NULL: the end of the run. */
static void add_dump(struct counts *c, unsigned thread, unsigned part, const char *before,
		     unsigned work)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "part: %u\nthread: %u\ndesc: Trigger: %s%s\nevents: Ir\n"
		 "ob=/nowhere/lu\nfl=/src/lu.c\nfn=work\n0x10 17 %u\n",
		 part, thread, before ? "--dump-before=" : "",
		 before ? before : "Program termination", work);
	assert_int_equal(read_text(c, text), 0);
}

/* Threads 1 and 2 make others: the first before there are any, and both on their way to the
 * barrier, which all reach twice. */
static void what_is_before_the_first_thread_is_no_part(void **state)
{
	static const char maker[] = "pthread_create@@GLIBC_2.34",
			  barrier[] = "pthread_barrier_wait";
	struct counts run = { 0 };
	struct counted c = { 0 };

	add_dump(&run, 1, 1, maker, 90000);
	add_dump(&run, 1, 2, maker, 50);
	add_dump(&run, 1, 3, barrier, 100);
	add_dump(&run, 1, 4, maker, 30);
	add_dump(&run, 1, 5, barrier, 70);
	add_dump(&run, 2, 6, maker, 60);
	add_dump(&run, 2, 7, barrier, 40);
	add_dump(&run, 2, 8, barrier, 100);
	counted_find(&c, &run, &paper);
	assert_int_equal(c.imbalance.sections.n, 1);
	assert_int_equal(c.imbalance.sections.data[0].instances, 2);
	assert_true(c.imbalance.sections.data[0].lost == 0);
	assert_true(c.imbalance.sections.data[0].duration == 200);
	counted_release(&c);
	counts_release(&run);
}

/*
 * Two rounds of three threads, of which the first two have ended when the next one is made: number
 * 2 is each time the next one's. The last thread of each has most to do. A thread that begins has
 * what its number's former thread did.
 */
static void add_round(struct counts *c, unsigned part, unsigned before)
{
	static const char maker[] = "pthread_create@@GLIBC_2.34", birth[] = "__ctype_init";

	add_dump(c, 1, part, maker, 10);
	add_dump(c, 2, part + 1, birth, before);
	add_dump(c, 1, part + 2, maker, 10);
	add_dump(c, 2, part + 3, birth, 100);
	add_dump(c, 1, part + 4, maker, 10);
	add_dump(c, 2, part + 5, birth, 200);
	add_dump(c, 1, part + 6, "pthread_join@@GLIBC_2.34", 10);
}

static void a_number_that_is_used_again_is_another_thread(void **state)
{
	struct counts run = { 0 };
	struct counted c = { 0 };
	const struct parallel_section *s;

	add_round(&run, 1, 3);
	add_round(&run, 11, 900);
	add_dump(&run, 1, 20, NULL, 5);
	add_dump(&run, 2, 20, NULL, 600);
	counted_find(&c, &run, &paper);
	assert_int_equal(c.imbalance.sections.n, 1);
	s = &c.imbalance.sections.data[0];
	assert_int_equal(s->kind, SECTION_JOIN);
	assert_int_equal(s->instances, 2);
	assert_int_equal(s->threads.n, 3);
	assert_int_equal(section_worst(s)->thread, 2);
	assert_int_equal(s->threads.data[0].time, 200);
	assert_int_equal(s->threads.data[1].time, 400);
	assert_int_equal(s->threads.data[2].time, 1500);
	assert_int_equal(c.imbalance.thread_names.n, 8); /* 0 is nobody, 1 the main thread */
	counted_release(&c);
	counts_release(&run);
}

/* Threads of a second round meet at the same barrier as those of the first, not with them. */
static void later_threads_meet_later(void **state)
{
	static const char maker[] = "pthread_create", birth[] = "__ctype_init",
			  barrier[] = "pthread_barrier_wait";
	struct counts run = { 0 };
	struct counted c = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		unsigned part = 20 * round;

		add_dump(&run, 1, part + 1, maker, 10);
		add_dump(&run, 1, part + 2, maker, 10);
		add_dump(&run, 2 + 2 * round, part + 3, birth, 1);
		add_dump(&run, 3 + 2 * round, part + 4, birth, 1);
		for (unsigned time = 0; time < 2; time++) {
			add_dump(&run, 2 + 2 * round, part + 5 + 2 * time, barrier, 100);
			add_dump(&run, 3 + 2 * round, part + 6 + 2 * time, barrier, 150);
		}
		add_dump(&run, 1, part + 10, "pthread_join", 10);
	}
	counted_find(&c, &run, &paper);
	assert_int_equal(c.imbalance.sections.n, 1);
	assert_int_equal(c.imbalance.sections.data[0].instances, 4);
	assert_int_equal(c.imbalance.sections.data[0].threads.n, 4);
	assert_true(c.imbalance.sections.data[0].lost == 4 * 50);
	counted_release(&c);
	counts_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_is_read),
		cmocka_unit_test(a_path_from_the_root_stays_one),
		cmocka_unit_test(what_is_no_dump_is_refused),
		cmocka_unit_test(a_thread_beyond_all_is_refused),
		cmocka_unit_test(the_uneven_branch_is_named),
		cmocka_unit_test(a_library_line_has_a_caller),
		cmocka_unit_test(of_equal_lines_the_programs_is_first),
		cmocka_unit_test(what_is_before_the_first_thread_is_no_part),
		cmocka_unit_test(a_number_that_is_used_again_is_another_thread),
		cmocka_unit_test(later_threads_meet_later),
		cmocka_unit_test(a_region_of_fewer_threads_shifts_no_other),
	};

	return unit_run(tests);
}
