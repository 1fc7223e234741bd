/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Screen, CSV and JSON of one trace say the same; time adds up; windows and baselines. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "dice.h"

#include "analysis/result/result.h"
#include "analysis/result/slow.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/json.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/text.h"
#include "trace/fixture/fixture.h"
#include "trace/read/reader.h"

struct loaded {
	char path[32];
	struct trace_reader *reader;
	struct result result;
	struct view view;
};

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	return dice_below(&random_state, n);
}

static const char calibration[] =
	"{\"kind\":\"calibration\",\"class\":\"nop5\",\"exit\":\"return\",\"threads\":1,"
	"\"when\":\"before\",\"inner_min_ns\":50,\"inner_p50_ns\":52,\"inner_p99_ns\":90,"
	"\"inner_mean_ns\":53.0,\"full_p50_ns\":80.0,\"calls\":1000}\n";

/* Three threads call "take(int, char)", which waits for the disk, and "a,\"b\"", for n rounds. */
static void make_text(struct text *t, unsigned n, uint64_t least)
{
	text_add(t, calibration);
	for (unsigned tid = 1; tid <= 3; tid++) {
		uint64_t now = 1000 + tid;

		for (unsigned i = 0; i < n; i++) {
			text_printf(t, "%llu %u %u/1 entry \"take(int, char)\"\n",
				    (unsigned long long)now, tid, tid);
			now += least;
			if (i % 3) {
				text_printf(t,
					    "%llu %u %u/1 switch-out sleeping next=0/0\n"
					    "+0 %u %u/1 wait kind=2 syscall=76 what=0 how=1\n",
					    (unsigned long long)now, tid, tid, tid, tid);
				now += random_below(20000);
				text_printf(t, "%llu %u %u/1 switch-in\n", (unsigned long long)now,
					    tid, tid);
			}
			now += 10;
			text_printf(t, "%llu %u %u/1 exit \"take(int, char)\"\n",
				    (unsigned long long)now, tid, tid);
			now += 100;
			text_printf(t, "%llu %u %u/1 entry \"a,b\"\n", (unsigned long long)now, tid,
				    tid);
			now += 300 + random_below(2);
			text_printf(t, "%llu %u %u/1 exit \"a,b\"\n", (unsigned long long)now, tid,
				    tid);
			now += 100;
		}
	}
}

static void load(struct loaded *l, const char *text, struct result_options *o)
{
	struct err err = { 0 };
	int fd;

	*l = (struct loaded){ .path = "/tmp/ispot-test-XXXXXX" };
	fd = mkstemp(l->path);
	assert_true(fd >= 0);
	close(fd);
	unlink(l->path); /* the writer would keep an existing file as .old */
	assert_int_equal(fixture_write_text(text, l->path, &err), 0);
	assert_int_equal(trace_reader_open(&l->reader, l->path, &err), 0);
	assert_int_equal(result_read(&l->result, l->reader, o, &err), 0);
	l->view = (struct view){ .result = &l->result,
				 .file = l->path,
				 .blocks = &l->result.blocks,
				 .all = true,
				 .width = 80 };
	view_rank(&l->view);
}

static void unload(struct loaded *l)
{
	free(l->view.rows);
	result_release(&l->result);
	trace_reader_free(l->reader);
	unlink(l->path);
}

/* The next CSV field into buf; moves *s behind its comma or newline. */
static void csv_field(const char **s, char *buf, size_t n)
{
	bool quoted = **s == '"';
	size_t used = 0;

	*s += quoted;
	while (**s && (quoted || (**s != ',' && **s != '\n'))) {
		if (quoted && **s == '"' && *++*s != '"')
			break;
		assert_true(used + 1 < n);
		buf[used++] = *(*s)++;
	}
	buf[used] = '\0';
	assert_true(**s == ',' || **s == '\n');
	(*s)++;
}

static bool same(const struct json *obj, const char *key, const struct value *v, const char *csv)
{
	double number;

	switch (v->type) {
	case VALUE_NONE:
		return json_is_null(obj, key) && !*csv;
	case VALUE_TEXT:
		return !strcmp(json_string(obj, key, ""), csv);
	case VALUE_COUNT:
	case VALUE_TIME:
		return json_u64(obj, key, UINT64_MAX) == strtoull(csv, NULL, 10);
	default:
		number = json_f64(obj, key, NAN);
		return fabs(number - strtod(csv, NULL)) <= 1e-8 * fabs(number);
	}
}

static const struct json *home(const struct json *block, const struct column *c)
{
	return c->group && !strcmp(c->group, "probe") ? json_get(block, "probe") : block;
}

static void csv_and_json_agree(void **state)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text text = { 0 }, csv = { 0 }, json = { 0 };
	struct loaded l;
	struct json *parsed;
	const char *s;
	char field[512], scratch[VALUE_SCRATCH];

	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	report_csv(&l.view, &csv);
	report_json(&l.view, &json);
	parsed = json_parse(json.s, json.n);
	assert_non_null(parsed);
	assert_int_equal(json_n(json_get(parsed, "blocks")), 2);
	s = strchr(csv.s, '\n') + 1;
	for (size_t i = 0; i < l.view.n_rows; i++) {
		const struct json *block = json_at(json_get(parsed, "blocks"), i);

		for (unsigned c = 0; c < columns_n; c++) {
			struct value v = columns[c].get(l.view.rows[i], scratch);

			csv_field(&s, field, sizeof(field));
			if (columns[c].group && strcmp(columns[c].group, "probe"))
				continue; /* not in a function's JSON */
			assert_true(same(home(block, &columns[c]), columns[c].key, &v, field));
		}
	}
	assert_int_equal(*s, '\0');
	json_free(parsed);
	text_release(&json);
	text_release(&csv);
	text_release(&text);
	unload(&l);
}

/* LOST and TIME: of what is interference. Returns what follows. */
static const char *after_lost(const struct result *res, const struct json *block, const char *row)
{
	bool is_lost = !strcmp(json_string(block, "verdict", ""), "interference");
	double ns = json_f64(block, "lost_threads", NAN) * (double)res->probed_ns;
	char cells[2][TEXT_NUMBER] = { "-", "-" };

	if (is_lost) {
		snprintf(cells[0], sizeof(cells[0]), "%.1f%%", 100 * ns / (double)res->threads_ns);
		text_time(cells[1], (uint64_t)llround(ns));
	}
	for (unsigned i = 0; i < 2; i++) {
		row += strspn(row, " ");
		assert_int_equal(strncmp(row, cells[i], strlen(cells[i])), 0);
		row += strlen(cells[i]);
	}
	return row;
}

/* Each row of the screen holds what value_print() makes of the JSON's numbers. */
static void screen_agrees_with_json(void **state)
{
	static const char *const keys[] = { "sci", "calls", "min_ns", "p50_ns", "p99_ns" };
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text text = { 0 }, screen = { 0 }, json = { 0 };
	struct loaded l;
	struct json *parsed;
	const char *line;

	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	l.view.width = 120; /* whole names */
	report_text(&l.view, &screen);
	report_json(&l.view, &json);
	parsed = json_parse(json.s, json.n);
	line = strstr(screen.s, "\n LOST ");
	assert_non_null(line);
	for (size_t i = 0; i < l.view.n_rows; i++) {
		const struct json *block = json_at(json_get(parsed, "blocks"), i);
		const char *at;

		line = strchr(line + 1, '\n') + 1;
		at = after_lost(&l.result, block, line);
		for (unsigned k = 0; k < 5; k++) {
			struct value v = { .type = k < 1   ? VALUE_RATIO
						   : k < 2 ? VALUE_COUNT
							   : VALUE_TIME,
					   .ratio = json_f64(block, keys[k], NAN),
					   .count = json_u64(block, keys[k], 0) };
			struct text cell = { 0 };

			value_print(&v, &cell);
			at += strspn(at, " ");
			assert_int_equal(strncmp(at, cell.s, cell.n), 0);
			at += cell.n;
			text_release(&cell);
		}
		at = strstr(at, json_string(block, "verdict", "?"));
		assert_non_null(at);
		line = strstr(at, json_string(block, "name", "?")); /* maybe on a line of its own */
		assert_non_null(line);
	}
	json_free(parsed);
	text_release(&json);
	text_release(&screen);
	text_release(&text);
	unload(&l);
}

static void lines_fit_80_columns(void **state)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text text = { 0 }, screen = { 0 };
	struct loaded l;

	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	report_text(&l.view, &screen);
	for (const char *s = screen.s; *s; s += strcspn(s, "\n") + 1)
		assert_true(strcspn(s, "\n") <= 80 || strstr(s, "ispot report --"));
	text_release(&screen);
	text_release(&text);
	unload(&l);
}

static void times_add_up(void **state)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text text = { 0 };
	struct loaded l;
	double by_thread = 0;

	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	assert_int_equal(l.result.working_ns + l.result.lost_ns + l.result.idle_ns,
			 l.result.threads_ns);
	assert_true(l.result.lost_ns > l.result.threads_ns / 2);
	vec_for_each (&l.result.threads, const struct result_thread, t)
		by_thread += t->sci * (double)t->observed_ns;
	assert_true(fabs(by_thread - (double)l.result.lost_ns) <= 1);
	text_release(&text);
	unload(&l);
}

/* A window holds what a recording of that time alone would. */
static void a_window_is_a_recording(void **state)
{
	struct result_options whole = { .to_ns = UINT64_MAX },
			      part = { .from_ns = 2000, .to_ns = 6000 };
	static const char text[] = "{\"kind\":\"session\",\"version\":1,\"start_ns\":1000}\n"
				   "1500 0 1/1 entry f\n2500 0 1/1 exit f\n3500 0 1/1 entry f\n"
				   "4000 0 1/1 exit f\n5000 0 1/1 entry f\n6000 0 1/1 exit f\n"
				   "6500 0 1/1 entry f\n8000 0 1/1 exit f\n";
	struct loaded l;

	load(&l, text, &whole);
	assert_int_equal(l.result.blocks.data[0].calls, 4);
	unload(&l);
	load(&l, text, &part);
	assert_int_equal(l.result.duration_ns, 4000);
	assert_int_equal(l.result.blocks.data[0].calls, 3);
	assert_int_equal(l.result.blocks.data[0].timed_calls, 2);
	assert_int_equal(l.result.blocks.data[0].open_ns, 0); /* 500 so far, the fastest took 500 */
	assert_int_equal(l.result.blocks.data[0].observed_ns, 4000);
	unload(&l);
}

static void interrupt_at_50(void *self, const struct thread *t, const struct call *c)
{
	unsigned *n = self;

	(void)t, (void)c;
	if (++*n == 50)
		raise(SIGINT);
}

/* Ctrl-C keeps what was read until then, or a few dozen records later, as if the recording ended
 * there, and says so. */
static void an_interrupt_ends_the_reading(void **state)
{
	unsigned n = 0;
	struct result_options o = {
		.to_ns = UINT64_MAX,
		.visitors = { { .self = &n, .call = interrupt_at_50 } },
	};
	struct text text = { 0 };
	struct loaded l;

	signal(SIGINT, SIG_DFL); /* ignored in what a shell runs in the background */
	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	assert_in_range(l.result.calls.entries, 50, 50 + 32);
	assert_true(l.result.windowed);
	assert_true(l.result.duration_ns > 0);
	assert_int_equal(l.result.end_ns, l.result.start_ns + l.result.duration_ns);
	assert_non_null(strstr(l.result.notices.data[0].text, "interrupted"));
	unload(&l);
	text_release(&text);
}

/* What is learnt in a first pass that Ctrl-C ends is of the same part as what the next one reads.
 */
static void an_interrupt_ends_the_next_reading_there(void **state)
{
	unsigned n = 0;
	struct result_options o = { .to_ns = UINT64_MAX };
	struct call_visitor v = { .self = &n, .call = interrupt_at_50 };
	struct text text = { 0 };
	struct result again;
	struct calls calls;
	struct loaded l;

	signal(SIGINT, SIG_DFL);
	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	trace_reader_rewind(l.reader);
	assert_int_equal(result_scan(&calls, l.reader, &o, &v, NULL), 0);
	assert_true(o.interrupted);
	assert_in_range(n, 50, 50 + 32); /* with those that were open */
	trace_reader_rewind(l.reader);
	assert_int_equal(result_read(&again, l.reader, &o, NULL), 0);
	assert_in_range(again.calls.entries, 50, 50 + 32);
	assert_true(again.interrupted);
	assert_string_equal(again.notices.data[0].text, result_interrupted);
	result_release(&again);
	unload(&l);
	text_release(&text);
}

/* Every call took 1000 at least; the baseline knows that 100 would do. */
static void a_baseline_lowers_the_minimum(void **state)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text fast = { 0 }, slow = { 0 };
	struct loaded base, l;
	double without;

	make_text(&fast, 200, 100);
	make_text(&slow, 200, 1000);
	load(&base, fast.s, &o);
	load(&l, slow.s, &o);
	assert_int_equal(l.result.blocks.data[0].min_ns, 1010);
	without = (double)l.result.blocks.data[0].excess_ns;
	unload(&l);
	o.baseline = base.path;
	load(&l, slow.s, &o);
	assert_int_equal(l.result.blocks.data[0].min_ns, 110);
	assert_true(fabs((double)l.result.blocks.data[0].excess_ns - without - 600.0 * 900) < 1);
	unload(&l);
	unload(&base);
	text_release(&fast);
	text_release(&slow);
}

/* The groups of --slow hold every timed call once, its threads and callers too. */
static void slow_accounts_for_every_call(void **state)
{
	struct result_options o = { .to_ns = UINT64_MAX };
	struct text text = { 0 };
	struct slow slow = { 0 };
	struct err err = { 0 };
	struct loaded l;
	uint64_t by_thread = 0;

	make_text(&text, 200, 100);
	load(&l, text.s, &o);
	assert_int_equal(slow_read(&slow, &l.result, l.reader, &o, "take(int, char)", &err), 0);
	assert_int_equal(slow.fast.calls + slow.rest.calls + slow.slow.calls, 600);
	assert_int_equal(slow.fast.ns + slow.rest.ns + slow.slow.ns, slow.block->total_ns);
	vec_for_each (&slow.by_thread, const struct slow_group, g)
		by_thread += g->calls;
	assert_int_equal(by_thread, 600);
	assert_int_equal(slow.by_caller.data[0].calls, 600);
	assert_int_equal(slow.n_top, SLOW_TOP);
	assert_int_equal(slow.top[0].duration_ns, slow.block->max_ns);
	for (unsigned i = 1; i < SLOW_TOP; i++)
		assert_true(slow.top[i - 1].duration_ns >= slow.top[i].duration_ns);
	slow_release(&slow);
	text_release(&text);
	unload(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_and_json_agree),
		cmocka_unit_test(screen_agrees_with_json),
		cmocka_unit_test(lines_fit_80_columns),
		cmocka_unit_test(times_add_up),
		cmocka_unit_test(a_window_is_a_recording),
		cmocka_unit_test(a_baseline_lowers_the_minimum),
		cmocka_unit_test(an_interrupt_ends_the_reading),
		cmocka_unit_test(an_interrupt_ends_the_next_reading_there),
		cmocka_unit_test(slow_accounts_for_every_call),
	};

	return unit_run(tests);
}
