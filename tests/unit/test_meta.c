// SPDX-License-Identifier: GPL-3.0-or-later
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

static int read_line(struct meta *meta, const char *line)
{
	return meta_read_line(meta, line, strlen(line));
}

/* One line of each kind with every member; printed from what was read it is the same line. */
static const char *const lines[] = {
	"{\"kind\":\"session\",\"version\":1,\"ispot_version\":\"0.1\",\"command\":\"./a 'b c'\","
	"\"program\":\"a\",\"pid\":7,\"start_ns\":10,\"start_unix_ns\":1700000000000000000,\"clock\":\"monotonic\","
	"\"cycles_per_ns\":2.5,\"cpus\":4,\"hostname\":\"h\",\"kernel\":\"6.18\",\"machine\":\"x86_64\","
	"\"pmu\":\"none\",\"producer\":\"bpf\",\"period\":3,\"attached\":true,\"options\":\"-c 3\",\"uprobe_sessions\":true}",
	"{\"kind\":\"object\",\"id\":0,\"path\":\"/bin/\xc3\xa4\",\"build_id\":\"00ff\"}",
	"{\"kind\":\"function\",\"id\":0,\"object\":0,\"set\":2,\"name\":\"f(int)\",\"symbol\":\"_Z1fi\","
	"\"address\":4096,\"size_bytes\":32,\"probe_offset\":4,\"class\":\"single-step\","
	"\"exit\":\"ret-sites\",\"file\":\"f.c\",\"line\":12,\"block\":\"marker\",\"blocking\":true,"
	"\"chosen\":false,\"period\":100,\"parameters\":3,\"holds_lock\":true,"
	"\"only_jumps\":true,\"contended_only\":true,\"in_process\":true,"
	"\"args\":[{\"bit\":2,\"name\":\"count\",\"type\":\"size_t\","
	"\"class\":\"size\",\"is_signed\":false,\"key\":true,\"occasional\":false},{\"bit\":9,\"name\":\"ret\","
	"\"type\":\"\",\"class\":\"value\",\"is_signed\":true,\"key\":false,\"occasional\":false}],"
	"\"prototype\":[{\"number\":3,\"name\":\"count\",\"why\":\"\"},"
	"{\"number\":0,\"name\":\"ret\",\"why\":\"it returns nothing\"}]}",
	"{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"libc.so.6\",\"reason\":\"it is hot\","
	"\"address\":4096,\"traced_until_ns\":77,"
	"\"cpu_share\":0.14,\"calls_per_s\":6000000,\"cost_share\":0.65,\"traced_again_ns\":99}",
	"{\"kind\":\"calibration\",\"class\":\"emulated\",\"exit\":\"none\",\"only_jumps\":true,\"threads\":2,"
	"\"when\":\"after\",\"inner_min_ns\":500,\"inner_p50_ns\":550,\"inner_p99_ns\":1100,"
	"\"inner_mean_ns\":612.5,\"full_p50_ns\":900.5,\"calls\":20000}",
	"{\"kind\":\"thread\",\"tid\":8,\"tgid\":7,\"comm\":\"w\",\"seen_ns\":99}",
	"{\"kind\":\"notice\",\"code\":\"zero-calls\",\"text\":\"no call\"}",
	"{\"kind\":\"stack\",\"id\":1,\"frames\":[2,0,2]}",
	"{\"kind\":\"frame\",\"id\":0,\"symbol\":\"main\",\"object\":\"/bin/a\",\"file\":\"a.c\","
	"\"line\":3,\"offset\":17,\"inlined\":true,\"calls\":\"poll\",\"spins\":true,\"loop\":1,\"inner_loop\":2}",
	"{\"kind\":\"counter\",\"id\":0,\"name\":\"cycles\",\"event\":\"skx::CYCLES:u\",\"role\":\"cycles\","
	"\"unit\":\"cycles\",\"source\":\"hardware\",\"user_only\":true,\"period\":8,\"on_change\":false,\"by_default\":false,"
	"\"empty_mean\":1.5,\"why\":\"\"}",
	"{\"kind\":\"address\",\"address\":94514279522600,\"symbol\":\"locks\",\"object\":\"/bin/a\","
	"\"offset\":40}",
	"{\"kind\":\"clocks\",\"at_ns\":10,\"cycles\":26,\"width_ns\":1,\"unstable\":\"\"}",
	"{\"kind\":\"solo\",\"begin_ns\":20,\"end_ns\":30,\"cpu\":1,\"waited_ns\":8}",
	"{\"kind\":\"end\",\"end_ns\":5,\"made_records\":10,\"lost_records\":0,"
	"\"recorder_cpu_ns\":4,\"target_cpu_ns\":6,\"counting_cost_ns\":2,\"scheduling_cost_ns\":3,"
	"\"sampling_cost_ns\":7,\"sample_ns\":8,\"after_cost_ns\":9,\"probes_cost_ns\":5,\"cpus_busy_ns\":10,\"cpus_steal_ns\":11,\"probed_ns\":12,\"usable_cpus\":1.5,\"exit_status\":-1,\"reason\":\"interrupted\"}",
};

static void print_all(const struct meta *m, struct text out[14])
{
	meta_print_session(&m->session, &out[0]);
	meta_print_object(&m->objects.data[0], &out[1]);
	meta_print_function(&m->functions.data[0], &out[2]);
	meta_print_not_traced(&m->not_traced.data[0], &out[3]);
	meta_print_calibration(&m->calibrations.data[0], &out[4]);
	meta_print_thread(&m->threads.data[0], &out[5]);
	meta_print_notice(&m->notices.data[0], &out[6]);
	meta_print_stack(&m->stacks.data[1], &out[7]);
	meta_print_frame(&m->frames.data[0], &out[8]);
	meta_print_counter(&m->counters.data[0], &out[9]);
	meta_print_address(&m->addresses.data[0], &out[10]);
	meta_print_clocks(&m->clocks.data[0], &out[11]);
	meta_print_solo(&m->solos.data[0], &out[12]);
	meta_print_end(&m->end, &out[13]);
}

static void every_member_goes_both_ways(void **state)
{
	struct meta m;
	struct text out[14] = { 0 };

	(void)state;
	meta_init(&m);
	for (int i = 0; i < 14; i++)
		assert_int_equal(read_line(&m, lines[i]), 0);
	meta_finish(&m);
	print_all(&m, out);
	for (int i = 0; i < 14; i++) {
		assert_string_equal(out[i].s, lines[i]);
		text_release(&out[i]);
	}
	assert_int_equal(m.skipped_lines, 0);
	meta_release(&m);
}

static void what_is_absent_is_unknown(void **state)
{
	struct meta m;
	struct text out = { 0 };

	(void)state;
	meta_init(&m);
	assert_int_equal(m.session.pid, META_UNKNOWN);
	assert_string_equal(m.session.command, "");
	assert_int_equal(read_line(&m, "{\"kind\":\"session\"}"), 0);
	assert_int_equal(m.session.pid, META_UNKNOWN);
	assert_true(isnan(m.session.cycles_per_ns));
	assert_int_equal(m.session.period, 1);
	assert_int_equal(read_line(&m, "{\"kind\":\"end\"}"), 0);
	assert_true(m.end.present);
	assert_int_equal(m.end.made_records, META_UNKNOWN);
	meta_print_end(&m.end, &out);
	assert_string_equal(out.s, "{\"kind\":\"end\",\"exit_status\":-1,\"reason\":\"\"}");
	text_release(&out);
	meta_release(&m);
}

static double rate_of(const char *const *texts, size_t n, const char **why)
{
	static char clause[128];
	struct meta m;
	double rate;

	meta_init(&m);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(read_line(&m, texts[i]), 0);
	rate = meta_cycles_per_ns(&m, why);
	if (why)
		snprintf(clause, sizeof(clause), "%s", *why);
	if (why)
		*why = clause;
	meta_release(&m);
	return rate;
}

/* The pairs at the ends decide, not what 5 ms at the beginning measured. */
static void cycles_are_calibrated_at_both_ends(void **state)
{
	static const char *const texts[] = {
		"{\"kind\":\"session\",\"cycles_per_ns\":2.5}",
		"{\"kind\":\"clocks\",\"at_ns\":1000,\"cycles\":4000,\"unstable\":\"\"}",
		"{\"kind\":\"clocks\",\"at_ns\":1500,\"cycles\":5000,\"unstable\":\"\"}",
		"{\"kind\":\"clocks\",\"at_ns\":2000,\"cycles\":6000,\"unstable\":\"it stops\"}",
	};
	const char *const back[] = { texts[2], texts[1] };
	const char *why;

	(void)state;
	assert_true(isnan(rate_of(texts, 1, &why)));
	assert_string_equal(why, "the recording has no reading of the cycle counter");
	assert_float_equal(rate_of(texts, 2, &why), 2.5, 0); /* it did not end in order */
	assert_string_equal(why, "");
	assert_float_equal(rate_of(texts, 3, NULL), 2.0, 1e-12);
	assert_true(isnan(rate_of(texts, 4, &why)));
	assert_string_equal(why, "it stops");
	assert_true(isnan(rate_of(back, 2, &why)));
	assert_string_equal(why, "the cycle counter did not go forward");
}

static void what_joins_was_not_left_out(void **state)
{
	struct meta m;

	(void)state;
	meta_init(&m);
	read_line(&m, "{\"kind\":\"object\",\"id\":0,\"path\":\"/bin/a\",\"build_id\":\"\"}");
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/b\"}");
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\"}");
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\","
		      "\"traced_until_ns\":5}");
	assert_int_equal(m.not_traced.n, 3);
	read_line(&m,
		  "{\"kind\":\"function\",\"id\":1,\"object\":0,\"name\":\"g\",\"symbol\":\"g\"}");
	assert_int_equal(m.skipped_lines, 0);
	assert_int_equal(m.not_traced.n, 2);
	assert_string_equal(m.not_traced.data[0].object, "/bin/b");
	assert_int_equal(m.not_traced.data[1].traced_until_ns, 5);
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\","
		      "\"traced_until_ns\":5,\"traced_again_ns\":9}");
	assert_int_equal(m.not_traced.n, 2);
	assert_int_equal(m.not_traced.data[1].traced_again_ns, 9);
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\","
		      "\"traced_until_ns\":12}");
	assert_int_equal(m.not_traced.n, 3); /* taken out once more */
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\","
		      "\"traced_until_ns\":5,\"cpu_share\":0.5}");
	assert_int_equal(m.not_traced.n, 3); /* its share is known now */
	assert_float_equal(m.not_traced.data[1].cpu_share, 0.5, 0);
	assert_int_equal(m.not_traced.data[1].traced_again_ns, 9);
	read_line(&m, "{\"kind\":\"not_traced\",\"name\":\"g\",\"object\":\"/bin/a\","
		      "\"traced_until_ns\":5,\"address\":64}");
	assert_int_equal(m.not_traced.n, 4); /* another of that name */
	read_line(&m,
		  "{\"kind\":\"not_traced\",\"name\":\"h\",\"object\":\"/bin/a\",\"address\":64}");
	read_line(&m, "{\"kind\":\"object\",\"id\":7,\"path\":\"/bin/a\"}");
	read_line(
		&m,
		"{\"kind\":\"function\",\"id\":7,\"object\":7,\"name\":\"h\",\"symbol\":\"h\",\"address\":80}");
	assert_int_equal(m.not_traced.n, 5);
	read_line(
		&m,
		"{\"kind\":\"function\",\"id\":8,\"object\":7,\"name\":\"h\",\"symbol\":\"h\",\"address\":64}");
	assert_int_equal(m.not_traced.n, 4); /* that one is traced after all */
	meta_release(&m);
}

static void later_lines_replace_earlier(void **state)
{
	struct meta m;

	(void)state;
	meta_init(&m);
	read_line(&m, "{\"kind\":\"function\",\"id\":0,\"symbol\":\"a\"}");
	read_line(&m, "{\"kind\":\"function\",\"id\":0,\"symbol\":\"b\",\"line\":5}");
	assert_int_equal(m.functions.n, 1);
	assert_string_equal(m.functions.data[0].symbol, "b");
	assert_int_equal(m.functions.data[0].line, 5);
	meta_release(&m);
}

/* Ids with a gap: what no line described has strings, but is not a function. */
static void gaps_are_filled(void **state)
{
	struct meta m;

	(void)state;
	meta_init(&m);
	read_line(&m, "{\"kind\":\"function\",\"id\":3,\"symbol\":\"d\",\"object\":900}");
	read_line(&m, "{\"kind\":\"frame\",\"id\":2}");
	meta_finish(&m);
	assert_null(meta_function(&m, 1));
	assert_null(meta_function(&m, 4));
	assert_null(meta_function(&m, UINT32_MAX));
	assert_string_equal(meta_function(&m, 3)->name, "");
	assert_string_equal(meta_object(&m, 900)->path, "");
	assert_string_equal(m.functions.data[1].name, "");
	assert_string_equal(m.frames.data[0].symbol, "");
	meta_release(&m);
}

static void malformed_lines_are_counted(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"[]",
		"7",
		"{}",
		"{\"kind\":7}",
		"{\"kind\":\"later\"}",
		"{\"kind\":\"function\"}",
		"{\"kind\":\"function\",\"id\":-1}",
		"{\"kind\":\"function\",\"id\":\"0\"}",
		"{\"kind\":\"function\",\"id\":16777216}",
		"{\"kind\":\"function\",\"id\":70000}",
		"{\"kind\":\"function\",\"id\":18446744073709551615}",
		"{\"kind\":\"function\",\"id\":0,\"class\":\"warp\"}",
		"{\"kind\":\"function\",\"id\":0,\"args\":[{\"bit\":0,\"class\":\"warp\"}]}",
		"{\"kind\":\"function\",\"id\":0,\"line\":4294967296}",
		"{\"kind\":\"stack\",\"id\":1,\"frames\":[99999999]}",
		"{\"kind\":\"stack\",\"id\":1,\"frames\":[-1]}",
		"{\"kind\":\"thread\",\"tid\":1,",
	};
	const uint32_t n = sizeof(bad) / sizeof(bad[0]);
	struct meta m;

	(void)state;
	meta_init(&m);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(read_line(&m, bad[i]), -EINVAL);
	assert_int_equal(m.skipped_lines, n);
	assert_int_equal(m.functions.n, 0);
	assert_int_equal(m.stacks.n, 0);
	assert_int_equal(m.threads.n, 0);
	meta_release(&m);
}

/* An estimate of the cost that is near to all of the CPU time, or above it, gives no figure. */
static void overhead_is_bounded(void **state)
{
	(void)state;
	assert_true(isnan(meta_overhead(0, 0)));
	assert_true(meta_overhead(1e9, 0) == 0);
	assert_true(fabs(meta_overhead(1e9, 5e8) - 1) < 1e-9);
	assert_true(fabs(meta_overhead(1e9, 8e8) - 4) < 1e-9);
	assert_true(meta_overhead(1e9, 9.2e8) == META_OVERHEAD_MOST);
	assert_true(meta_overhead(1e9, 9.9e8) == META_OVERHEAD_MOST);
	assert_true(meta_overhead(1e9, 3e9) == META_OVERHEAD_MOST);
}

static void a_program_hardly_runs_under_a_twentieth_of_a_cpu(void **state)
{
	(void)state;
	assert_true(meta_hardly_runs(4e7, 0, 1e9));
	assert_true(meta_hardly_runs(8e7, 4e7, 1e9));
	assert_false(meta_hardly_runs(6e7, 0, 1e9));
	assert_false(meta_hardly_runs(9.9e8, 9.6e8, 1e9));  /* it would run, but for its probes */
	assert_false(meta_hardly_runs(2.2e8, 1.76e8, 1e9)); /* and so it may beside others */
	assert_false(meta_hardly_runs(2e9, 1e9, 1e9));
}

static void what_it_cost_is_told_by_what_it_used(void **state)
{
	char words[META_COST_WORDS];

	(void)state;
	assert_string_equal(meta_cost_words(words, 1e9, 5e8, 1e9), "overhead ~100.0%");
	assert_string_equal(meta_cost_words(words, 1e9, 9.9e8, 1e9), "overhead over 900%");
	assert_string_equal(meta_cost_words(words, 1e7, 4e6, 1e9), "probes took 0.4% of a CPU");
}

static void without_a_period_every_call_is_recorded(void **state)
{
	struct meta m = { .session.period = META_UNKNOWN };

	(void)state;
	assert_int_equal(meta_period(&m), 1);
	m.session.period = 10;
	assert_int_equal(meta_period(&m), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_goes_both_ways),
		cmocka_unit_test(what_is_absent_is_unknown),
		cmocka_unit_test(cycles_are_calibrated_at_both_ends),
		cmocka_unit_test(what_joins_was_not_left_out),
		cmocka_unit_test(later_lines_replace_earlier),
		cmocka_unit_test(gaps_are_filled),
		cmocka_unit_test(malformed_lines_are_counted),
		cmocka_unit_test(overhead_is_bounded),
		cmocka_unit_test(a_program_hardly_runs_under_a_twentieth_of_a_cpu),
		cmocka_unit_test(what_it_cost_is_told_by_what_it_used),
		cmocka_unit_test(without_a_period_every_call_is_recorded),
	};

	return unit_run(tests);
}
