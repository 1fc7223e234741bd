/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters of count.h. */
#include "cmd/imbalance/count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/imbalance/count/branch_samples.h"
#include "analysis/imbalance/count/callgrind.h"
#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/counts.h"
#include "analysis/imbalance/section/parallel.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "analysis/result/result.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/memory.h"
#include "cmd/imbalance/edges.h"
#include "probes/edges/edges.h"
#include "probes/process/valgrind.h"
#include "probes/sample/hardware.h"
#include "probes/session/hardware_record.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

#define FEWER_PAUSES "for fewer pauses allow more overhead: ispot record --overhead 50"
#define AT_THE_SAME_TIME                                                           \
	"record a function that they run at the same time, ispot record -F NAME, " \
	"and take its calls as regions: ispot imbalance --section NAME"

/* Returns what to do about a recording in which no section was found. */
static char *advice(const struct parallel *p)
{
	char threads[TEXT_COUNTED];
	size_t n = p->imbalance.thread_names.n;

	if (p->paused_ns)
		return xstrdup("to keep the overhead budget, context switches were recorded in "
			       "turns; " FEWER_PAUSES);
	if (p->named)
		return xstrdup("no two threads were in what --section names at the same time; "
			       "name what several of them run at once");
	if (n < 2)
		return xstrdup("only one thread was seen, which waits for no other; ispot report "
			       "says where its time goes");
	if (meta_is_java(p->meta))
		return xasprintf("%s were seen, but no place at which they wait for each other. If "
				 "there is one (CyclicBarrier, Phaser, parallel stream), record a "
				 "method that they run at the same time, ispot record --java -F "
				 "CLASS.METHOD, and take its calls as regions: ispot imbalance "
				 "--section CLASS.METHOD",
				 text_counted(threads, n, "thread"));
	return xasprintf("%s were seen, but no place at which they wait for each other. "
			 "If there is one, record it: -F pthread_barrier_wait, OpenMP with -F "
			 "GOMP_parallel -F '*._omp_fn.*' (clang: -F __kmpc_fork_call -F "
			 "'*.omp_outlined*'). Or " AT_THE_SAME_TIME,
			 text_counted(threads, n, "thread"));
}

static bool is_barrier(const char *symbol)
{
	return symbol && !strcmp(symbol, "pthread_barrier_wait");
}

/* Returns whether threads slept in a barrier that was not traced: its regions are missing. */
static bool has_untraced_barrier(const struct meta *meta)
{
	bool waits = false;

	vec_for_each (&meta->functions, const struct meta_function, f)
		if (is_barrier(f->symbol))
			return false;
	vec_for_each (&meta->frames, const struct meta_frame, f)
		waits |= is_barrier(f->symbol);
	return waits;
}

/* Finds the notices that belong to the sections' numbers. The caller frees them. */
size_t imbalance_notices(const struct parallel *p, struct trace_reader *r, bool interrupted,
			 char **notices)
{
	const char *damage = trace_reader_damage(r);
	char number[TEXT_COUNTED];
	size_t n = 0;

	if (interrupted)
		notices[n++] = xstrdup(result_interrupted);
	if (damage)
		notices[n++] = xstrdup(damage);
	if (p->lost_records)
		notices[n++] = xasprintf("%s dropped: a thread is left out of the regions "
					 "in which it lost events",
					 text_counted(number, p->lost_records, "event"));
	if (p->sampled)
		notices[n++] = xasprintf("%s of barriers left no record, because calls were "
					 "sampled: regions are too few and too long",
					 text_counted(number, p->sampled, "call"));
	if (p->bodiless)
		notices[n++] = xasprintf("of %s no thread's part was recorded; record them with "
					 "-F GOMP_parallel -F '*._omp_fn.*' (clang: -F "
					 "__kmpc_fork_call -F '*.omp_outlined*')",
					 text_counted(number, p->bodiless, "OpenMP region"));
	if (p->paused_ns && p->imbalance.sections.n)
		notices[n++] = xasprintf(
			"to keep the overhead budget, context switches were not "
			"recorded for %s: regions of that time are missing; " FEWER_PAUSES,
			text_time(number, p->paused_ns));
	if (!p->named && has_untraced_barrier(p->meta))
		notices[n++] =
			xstrdup("threads also wait in pthread_barrier_wait, which was not traced: "
				"record it (-F pthread_barrier_wait) to see those regions");
	else if (!p->imbalance.sections.n && !p->bodiless)
		notices[n++] = advice(p);
	return n;
}

struct counting_state {
	struct lime_options lime;
	struct counted counted;
	struct counts run;	  /* counts of callgrind or of the program itself */
	struct hardware hardware; /* what the hardware supports, if that was looked for */
	struct branch_samples branch_samples;
};

static void notice(struct counting *k, char *sentence)
{
	k->notices[k->n_notices++] = sentence;
}

/* Reports that no section was found in a run with that many threads. */
static void report_no_section(struct counting *k, size_t threads)
{
	char number[TEXT_COUNTED];

	if (k->state->counted.imbalance.sections.n)
		return;
	if (threads < 2)
		notice(k, xstrdup("only one thread was counted, which waits for no other; ispot "
				  "record and ispot report say where its time goes"));
	else
		notice(k, xasprintf("%s were counted, of which no two meet. If they work at the "
				    "same time, " AT_THE_SAME_TIME,
				    text_counted(number, threads, "thread")));
}

/* Runs the command under valgrind, with its dumps in that directory. */
static int run_callgrind(struct counting *k, const char *dir, struct err *err)
{
	char **argv = k->argv;
	const char *const *const before[] = { parallel_barriers, parallel_begins, parallel_makers,
					      parallel_joins,	 parallel_births, NULL };
	struct valgrind_options vo = {
		.before = before, .after = parallel_bodies, .caches = k->caches, .dir = dir
	};
	int status = 0, rc;

	memory_unbound(); /* ispot's limit of memory is not for the command */
	rc = valgrind_run(argv, &vo, &status, err);
	memory_bound(NULL);
	if (!rc)
		rc = callgrind_read_all(&k->state->run, dir, err);
	if (!rc && !k->state->run.places.n) {
		rc = err_set(err, -ENODATA,
			     "%s ran nothing that valgrind could count (status %d); does `valgrind "
			     "%s` work?",
			     argv[0], status, argv[0]);
		err->exit_status = status == 126 || status == 127 ? status : 0;
	}
	if (rc)
		return rc;
	counted_find(&k->state->counted, &k->state->run, &k->state->lime);
	report_no_section(k, k->state->counted.imbalance.thread_names.n - 1); /* from 1 on */
	return 0;
}

static int count_callgrind(struct counting *k, struct err *err)
{
	char *dir;
	int rc = temporary_directory(&dir, "ispot-imbalance", TEMPORARY_SMALL, err);

	if (!rc)
		rc = run_callgrind(k, dir, err);
	temporary_release(dir);
	return rc;
}

static struct branch_sample_place place_of(const struct hardware_place *p)
{
	return (struct branch_sample_place){ p->dso, p->path, p->address };
}

static void on_sample(void *ctx, const struct hardware_sample *x)
{
	struct branch_sample_turn turns[HARDWARE_TURNS];
	struct branch_sample_place ip = place_of(&x->ip);
	struct counting *k = ctx;

	for (size_t i = 0; i < x->n_turns; i++)
		turns[i] = (struct branch_sample_turn){ place_of(&x->turns[i].from),
							place_of(&x->turns[i].to) };
	if (x->n_turns)
		branch_samples_turns(&k->state->branch_samples, x->time_ns, x->tid, x->period,
				     turns, x->n_turns);
	else
		branch_samples_event(&k->state->branch_samples, x->time_ns, x->tid, x->period, &ip);
}

/* Finds the sections of the recording that was made meanwhile, and the samples in them. */
static int find_branch_samples(struct counting *k, const char *file, struct err *err)
{
	struct result_options ro = { .to_ns = UINT64_MAX };
	struct trace_reader *r = NULL;
	struct parallel p = { 0 };
	struct call_visitor v;
	struct calls calls;
	int rc = trace_reader_open(&r, file, err);

	if (rc)
		return rc;
	rc = parallel_init(&p, trace_reader_meta(r), &calls, NULL, err);
	branch_samples_watch(&k->state->branch_samples, &p.imbalance);
	p.imbalance.keeps_each = k->keeps_each;
	v = parallel_visitor(&p);
	if (!rc)
		rc = result_scan(&calls, r, &ro, &v, err);
	if (!rc) {
		k->duration_ns = trace_reader_last_ns(r) - trace_reader_first_ns(r);
		k->n_notices += imbalance_notices(&p, r, ro.interrupted, k->notices + k->n_notices);
		branch_samples_find(&k->state->branch_samples, &k->state->counted, &p.imbalance,
				    &k->state->lime);
	}
	parallel_release(&p);
	trace_reader_free(r);
	return rc;
}

static void report_samples(struct counting *k)
{
	const struct hardware *h = &k->state->hardware;
	char samples[TEXT_COUNTED], within[TEXT_NUMBER];
	struct text s = { 0 };

	text_printf(&s, "counts are estimates from %s, %s in regions:",
		    text_counted(samples, k->state->branch_samples.samples.n, "sample"),
		    text_count(within, k->state->branch_samples.within));
	if (h->has_branches)
		text_add(&s, " branch records");
	else
		text_printf(&s, " no branch records (%s), so of control flow nothing is known",
			    h->why_no_branches);
	if (!h->has_event)
		text_printf(&s, "; no %s (%s)", h->event.name, h->why_no_event);
	else if (h->of_event == HARDWARE_SOURCE)
		text_add(&s, "; loads that missed the first cache, as IBS marks them");
	else if (h->precise || h->event.source != PMU_HARDWARE)
		text_printf(&s, "; %s by instruction, precise_ip %d of 3", h->event.name,
			    h->precise);
	else
		text_printf(&s, "; %s, of which this PMU tells only about where", h->event.name);
	notice(k, s.s);
	if (h->lost + h->unplaced)
		notice(k, xasprintf("%s lost, %llu in code of no file: counts are too small",
				    text_counted(samples, h->lost, "sample"),
				    (unsigned long long)h->unplaced));
}

/* Samples the command while it is recorded into the file. */
static int run_hardware(struct counting *k, const char *file, struct err *err)
{
	const struct hardware_recording r = {
		.argv = k->argv,
		.patterns = parallel_patterns,
		.output = file,
		.command = k->command,
		.version = ispot_version,
		.visit = on_sample,
		.ctx = k,
	};
	int status = 0, rc;

	branch_samples_init(&k->state->branch_samples,
			    branch_samples_kind(k->state->hardware.event.name));
	memory_unbound();
	rc = hardware_record(&k->state->hardware, &r, &status, err);
	memory_bound(NULL);
	if (!rc)
		rc = find_branch_samples(k, file, err);
	if (!rc)
		report_samples(k);
	return rc;
}

static int count_hardware(struct counting *k, struct err *err)
{
	char *dir, *file;
	int rc = temporary_directory(&dir, "ispot-imbalance", TEMPORARY_SMALL, err);

	if (rc)
		return rc;
	file = xasprintf("%s/ispot.data", dir);
	rc = run_hardware(k, file, err);
	free(file);
	temporary_release(dir);
	return rc;
}

static int count_edges(struct counting *k, struct err *err)
{
	struct counted_edges e = { .run = &k->state->run,
				   .counted = &k->state->counted,
				   .lime = &k->state->lime };
	int rc = imbalance_count_edges(&e, k->argv, err);

	k->duration_ns = e.duration_ns;
	for (char **n = e.notices; *n; n++)
		notice(k, *n);
	if (!rc)
		report_no_section(k, k->state->counted.imbalance.thread_names.n);
	return rc;
}

static const struct counting_provider providers[] = {
	{ "callgrind", "counted by callgrind", false, count_callgrind },
	{ "hardware", "sampled by the hardware", true, count_hardware },
	{ "edges", "counted by the program", true, count_edges },
};
enum { BY_CALLGRIND, BY_HARDWARE, BY_EDGES };

/*
 * Chooses the provider. A program that was compiled to count its edges does so exactly and at
 * nearly full speed. Branch records are as good and cost nothing. Otherwise valgrind runs the whole
 * program.
 */
int counting_choose(struct counting *k, const struct counting_provider **provider, struct err *err)
{
	bool is_auto = !k->how || !strcmp(k->how, "auto"), certain = false;
	const struct hardware *h;
	struct err unheard = { 0 };
	int rc;

	k->state = xcalloc(1, sizeof(*k->state));
	k->state->lime = k->lime;
	k->state->counted.imbalance.keeps_each = k->keeps_each;
	h = &k->state->hardware;
	*provider = &providers[BY_CALLGRIND];
	if (!is_auto && !strcmp(k->how, "edges")) {
		*provider = &providers[BY_EDGES];
		return edges_check(k->argv, &certain, err);
	}
	if (is_auto && !k->caches && !edges_check(k->argv, &certain, &unheard) && certain) {
		notice(k, xstrdup("counted by the program itself, because it was compiled to count "
				  "its edges"));
		*provider = &providers[BY_EDGES];
		return 0;
	}
	if ((is_auto && k->caches) || (!is_auto && strcmp(k->how, "hardware") != 0))
		return 0;
	rc = hardware_check(&k->state->hardware, k->event, err);
	if (rc)
		return rc;
	if (is_auto && (!h->has_branches || geteuid())) {
		notice(k, xasprintf("counted by valgrind, because the hardware cannot be asked: %s",
				    h->has_branches ? "its probes take root; run with sudo"
						    : h->why_no_branches));
		return 0;
	}
	if (!h->has_branches && !h->has_event)
		return err_set(err, -ENODEV,
			       "the hardware cannot count here: no branch records: %s; no %s: %s; "
			       "leave out --count, and valgrind counts",
			       h->why_no_branches, h->event.name, h->why_no_event);
	*provider = &providers[BY_HARDWARE];
	return 0;
}

const struct counted *counting_found(const struct counting *k)
{
	return &k->state->counted;
}

void counting_release(struct counting *k)
{
	counted_release(&k->state->counted);
	hardware_release(&k->state->hardware);
	branch_samples_release(&k->state->branch_samples);
	counts_release(&k->state->run);
	free(k->state);
	while (k->n_notices)
		free(k->notices[--k->n_notices]);
}
