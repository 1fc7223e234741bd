// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/meta/meta.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "trace/format.h"
#include "trace/meta/fields.h"

static int name_index(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

static int read_u32(const struct json *line, const char *name, uint32_t *value)
{
	uint64_t v = json_u64(line, name, 0);

	if (v > UINT32_MAX)
		return -EINVAL;
	*value = (uint32_t)v;
	return 0;
}

/*
 * Reads one of names; an absent member means the first. A name that only a later version knows
 * makes the line malformed, as any name taken in its place would be wrong.
 */
static int read_name(const struct json *line, const char *name, const char *const *names, size_t n,
		     void *value)
{
	int i = name_index(names, n, json_string(line, name, names[0]));

	if (i < 0)
		return -EINVAL;
	*(unsigned *)value = (unsigned)i;
	return 0;
}

/*
 * Reads a signed integer. Negative integers in a trace are small, so a double holds them exactly.
 */
static int64_t read_i64(const struct json *line, const char *name)
{
	double v = json_f64(line, name, -1);

	return v >= -9e15 && v <= 9e15 ? (int64_t)v : -1;
}

static int read_field(const struct field *f, const struct json *line, struct arena *arena,
		      void *item)
{
	void *at = (char *)item + f->offset;

	switch (f->type) {
	case FIELD_STRING:
		*(const char **)at = arena_strdup(arena, json_string(line, f->name, ""));
		return 0;
	case FIELD_U32:
		return read_u32(line, f->name, at);
	case FIELD_U64:
		*(uint64_t *)at = json_u64(line, f->name, META_UNKNOWN);
		return 0;
	case FIELD_COUNT:
		*(uint64_t *)at = json_u64(line, f->name, 0);
		return 0;
	case FIELD_I64:
		*(int64_t *)at = read_i64(line, f->name);
		return 0;
	case FIELD_F64:
		*(double *)at = json_f64(line, f->name, NAN);
		return 0;
	case FIELD_BOOL:
		*(bool *)at = json_bool(line, f->name, false);
		return 0;
	case FIELD_CLASS:
		return read_name(line, f->name, meta_class_names, CLASS_N, at);
	case FIELD_EXIT:
		return read_name(line, f->name, meta_exit_names, EXIT_NONE + 1, at);
	case FIELD_ARGUMENT_CLASS:
		return read_name(line, f->name, meta_argument_names, ARGUMENT_N, at);
	}
	return -EINVAL;
}

static int read_fields(const struct field *fields, const struct json *line, struct arena *arena,
		       void *item)
{
	for (; fields->name; fields++)
		if (read_field(fields, line, arena, item))
			return -EINVAL;
	return 0;
}

/*
 * Returns the element of a table indexed by id, or NULL for an id out of bounds. The table grows
 * with calloc(), not realloc(), so that pages in gaps between ids take no memory.
 */
static void *slot_of_id(void **data, size_t *n, size_t *room, size_t size, uint64_t id)
{
	if (id >= META_IDS_MAX || id > *n + (uint64_t)META_IDS_GAP)
		return NULL;
	if (id >= *room) {
		size_t want = id + id / 2 + 16;
		void *grown = xcalloc(want, size);

		if (*n)
			memcpy(grown, *data, *n * size);
		free(*data);
		*data = grown;
		*room = want;
	}
	if (id >= *n)
		*n = id + 1;
	return (char *)*data + id * size;
}

#define SLOT(v, id) slot_of_id((void **)&(v)->data, &(v)->n, &(v)->room, sizeof(*(v)->data), (id))

static uint64_t line_id(const struct json *line)
{
	return json_u64(line, "id", UINT64_MAX);
}

static int read_session(struct meta *meta, const struct json *line)
{
	struct meta_session s = { 0 };
	int ret = read_fields(meta_session_fields, line, &meta->arena, &s);

	if (ret)
		return ret;
	if (s.period == 0)
		s.period = 1;
	meta->session = s;
	return 0;
}

static int read_end(struct meta *meta, const struct json *line)
{
	struct meta_end e = { .present = true };
	int ret = read_fields(meta_end_fields, line, &meta->arena, &e);

	if (!ret)
		meta->end = e;
	return ret;
}

static int read_object(struct meta *meta, const struct json *line)
{
	struct meta_object o = { 0 }, *slot;

	if (read_fields(meta_object_fields, line, &meta->arena, &o))
		return -EINVAL;
	slot = SLOT(&meta->objects, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = o;
	return 0;
}

/* Skips arguments whose bit this version does not know or has already seen. */
static int read_arguments(const struct json *list, struct arena *arena, struct meta_function *f)
{
	struct meta_argument *all;
	uint32_t seen = 0;

	if (!json_n(list))
		return 0;
	all = arena_alloc(arena, ARG_BITS * sizeof(*all));
	f->arguments = all;
	for (size_t i = 0; i < json_n(list); i++) {
		struct meta_argument a = { 0 };

		if (read_fields(meta_argument_fields, json_at(list, i), arena, &a))
			return -EINVAL;
		if (a.bit >= ARG_BITS || seen & 1u << a.bit)
			continue;
		seen |= 1u << a.bit;
		all[f->n_arguments++] = a;
	}
	return 0;
}

static int read_prototype(const struct json *list, struct arena *arena, struct meta_function *f)
{
	struct meta_parameter *all;

	if (!json_n(list))
		return 0;
	all = arena_alloc(arena, json_n(list) * sizeof(*all));
	f->prototype = all;
	for (size_t i = 0; i < json_n(list); i++)
		if (read_fields(meta_parameter_fields, json_at(list, i), arena, &all[i]))
			return -EINVAL;
	f->n_prototype = (uint32_t)json_n(list);
	return 0;
}

bool meta_calibration_fits(const struct meta_calibration *c, enum probe_class class,
			   enum exit_mech exit, bool only_jumps)
{
	return c->class == class && c->exit == exit && c->only_jumps == only_jumps;
}

bool meta_not_traced_is(const struct meta_not_traced *n, const char *name, const char *object,
			uint64_t address)
{
	return (!n->address || !address || n->address == address) && n->name && name && n->object &&
	       object && !strcmp(n->name, name) && !strcmp(n->object, object);
}

uint64_t meta_gone_ns(const struct meta *meta, const struct meta_function *f)
{
	vec_for_each (&meta->not_traced, const struct meta_not_traced, n)
		if (n->traced_until_ns && !n->traced_again_ns &&
		    meta_not_traced_is(n, f->name, meta_object(meta, f->object)->path, f->address))
			return n->traced_until_ns;
	return UINT64_MAX;
}

/* Removes the "not traced" row of a function that was skipped at first and is traced now. */
static void drop_left_out(struct meta *meta, const struct meta_function *f)
{
	const char *object = meta_object(meta, f->object)->path;
	size_t kept = 0;

	vec_for_each (&meta->not_traced, const struct meta_not_traced, n)
		if (n->traced_until_ns || !meta_not_traced_is(n, f->name, object, f->address))
			meta->not_traced.data[kept++] = *n;
	meta->not_traced.n = kept;
}

static int read_function(struct meta *meta, const struct json *line)
{
	struct meta_function f = { 0 }, *slot;

	if (read_fields(meta_function_fields, line, &meta->arena, &f) ||
	    read_arguments(json_get(line, "args"), &meta->arena, &f) ||
	    read_prototype(json_get(line, "prototype"), &meta->arena, &f))
		return -EINVAL;
	if (!*f.block)
		f.block = "function";
	slot = SLOT(&meta->functions, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = f;
	drop_left_out(meta, &f);
	return 0;
}

static int read_frame(struct meta *meta, const struct json *line)
{
	struct meta_frame f = { 0 }, *slot;

	if (read_fields(meta_frame_fields, line, &meta->arena, &f))
		return -EINVAL;
	slot = SLOT(&meta->frames, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = f;
	return 0;
}

static int read_counter(struct meta *meta, const struct json *line)
{
	struct meta_counter c = { 0 }, *slot;

	if (read_fields(meta_counter_fields, line, &meta->arena, &c))
		return -EINVAL;
	if (c.id >= META_COUNTERS_MAX)
		return -EINVAL;
	slot = SLOT(&meta->counters, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = c;
	return 0;
}

static int read_stack(struct meta *meta, const struct json *line)
{
	const struct json *frames = json_get(line, "frames");
	struct meta_stack s = { 0 }, *slot;
	uint32_t *ids;

	if (read_fields(meta_stack_fields, line, &meta->arena, &s))
		return -EINVAL;
	s.n_frames = (uint32_t)json_n(frames);
	ids = arena_alloc(&meta->arena, (s.n_frames + 1) * sizeof(*ids));
	for (uint32_t i = 0; i < s.n_frames; i++) {
		uint64_t id = json_u64_at(frames, i, UINT64_MAX);

		if (id >= META_IDS_MAX)
			return -EINVAL;
		ids[i] = (uint32_t)id;
	}
	s.frames = ids;
	slot = SLOT(&meta->stacks, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = s;
	return 0;
}

static int read_site(struct meta *meta, const struct json *line)
{
	struct meta_site s = { 0 };

	if (read_fields(meta_site_fields, line, &meta->arena, &s) || s.id < SITE_ID_FIRST ||
	    s.id - SITE_ID_FIRST >= SITES_MAX)
		return -EINVAL;
	while (meta->sites.n <= s.id - SITE_ID_FIRST)
		(void)vec_add(&meta->sites);
	meta->sites.data[s.id - SITE_ID_FIRST] = s;
	return 0;
}

/* A row: read it whole, then add it, so that a malformed line leaves no half of it behind. */
#define READ_ROW(kind, table)                                                          \
	static int read_##kind(struct meta *meta, const struct json *line)             \
	{                                                                              \
		struct meta_##kind row = { 0 };                                        \
		int ret = read_fields(meta_##kind##_fields, line, &meta->arena, &row); \
                                                                                       \
		if (!ret)                                                              \
			*vec_add(&meta->table) = row;                                  \
		return ret;                                                            \
	}

/*
 * A later line about the same function replaces the earlier one: more is known, or it is traced
 * again.
 */
static int read_not_traced(struct meta *meta, const struct json *line)
{
	struct meta_not_traced row = { 0 };

	if (read_fields(meta_not_traced_fields, line, &meta->arena, &row))
		return -EINVAL;
	vec_for_each (&meta->not_traced, struct meta_not_traced, n)
		if (n->traced_until_ns == row.traced_until_ns && n->address == row.address &&
		    meta_not_traced_is(n, row.name, row.object, row.address)) {
			row.traced_again_ns =
				row.traced_again_ns ? row.traced_again_ns : n->traced_again_ns;
			*n = row;
			return 0;
		}
	*vec_add(&meta->not_traced) = row;
	return 0;
}

READ_ROW(calibration, calibrations)
READ_ROW(thread, threads)
READ_ROW(process, processes)
READ_ROW(clocks, clocks)
READ_ROW(solo, solos)
READ_ROW(notice, notices)
READ_ROW(address, addresses)

static const struct {
	const char *kind;
	int (*read)(struct meta *meta, const struct json *line);
} kinds[] = {
	{ "session", read_session },
	{ "object", read_object },
	{ "function", read_function },
	{ "not_traced", read_not_traced },
	{ "calibration", read_calibration },
	{ "thread", read_thread },
	{ "process", read_process },
	{ "clocks", read_clocks },
	{ "solo", read_solo },
	{ "notice", read_notice },
	{ "counter", read_counter },
	{ "stack", read_stack },
	{ "frame", read_frame },
	{ "site", read_site },
	{ "address", read_address },
	{ "end", read_end },
};

static int read_kind(struct meta *meta, const struct json *line)
{
	const char *kind = json_string(line, "kind", "");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].read(meta, line);
	return -EINVAL;
}

int meta_read_line(struct meta *meta, const char *text, size_t n)
{
	struct json *line = json_parse(text, n);
	int ret = line ? read_kind(meta, line) : -EINVAL;

	json_free(line);
	if (ret)
		meta->skipped_lines++;
	return ret;
}

struct meta_end meta_end_unknown(void)
{
	return (struct meta_end){
		.end_ns = META_UNKNOWN,
		.made_records = META_UNKNOWN,
		.lost_records = META_UNKNOWN,
		.recorder_cpu_ns = META_UNKNOWN,
		.target_cpu_ns = META_UNKNOWN,
		.counting_cost_ns = META_UNKNOWN,
		.scheduling_cost_ns = META_UNKNOWN,
		.sampling_cost_ns = META_UNKNOWN,
		.sample_ns = META_UNKNOWN,
		.after_cost_ns = META_UNKNOWN,
		.probes_cost_ns = META_UNKNOWN,
		.cpus_busy_ns = META_UNKNOWN,
		.cpus_steal_ns = META_UNKNOWN,
		.probed_ns = META_UNKNOWN,
		.usable_cpus = NAN,
		.exit_status = -1,
		.reason = "",
	};
}

void meta_init(struct meta *meta)
{
	*meta = (struct meta){ 0 };
	meta->session = (struct meta_session){
		.ispot_version = "",
		.command = "",
		.pid = META_UNKNOWN,
		.start_unix_ns = META_UNKNOWN,
		.clock = "",
		.cycles_per_ns = NAN,
		.hostname = "",
		.kernel = "",
		.machine = "",
		.pmu = "",
		.producer = "",
		.period = 1,
		.options = "",
	};
	meta->end = meta_end_unknown();
}

static void fill_strings(const struct field *fields, void *item)
{
	for (; fields->name; fields++) {
		const char **at = (const char **)((char *)item + fields->offset);

		if (fields->type == FIELD_STRING && !*at)
			*at = "";
	}
}

void meta_finish(struct meta *meta)
{
	vec_for_each (&meta->objects, struct meta_object, o)
		fill_strings(meta_object_fields, o);
	vec_for_each (&meta->counters, struct meta_counter, c)
		fill_strings(meta_counter_fields, c);
	vec_for_each (&meta->frames, struct meta_frame, f)
		fill_strings(meta_frame_fields, f);
	vec_for_each (&meta->addresses, struct meta_address, a)
		fill_strings(meta_address_fields, a);
	vec_for_each (&meta->functions, struct meta_function, f) {
		bool is_gap = !f->symbol;

		fill_strings(meta_function_fields, f);
		if (is_gap)
			f->symbol = NULL;
	}
}

const struct meta_object *meta_object(const struct meta *meta, uint32_t id)
{
	static const struct meta_object unknown = { .path = "", .build_id = "" };

	return id < meta->objects.n ? &meta->objects.data[id] : &unknown;
}

const char *meta_process_comm(const struct meta *meta, uint32_t pid)
{
	vec_for_each (&meta->processes, const struct meta_process, p)
		if (p->pid == pid)
			return *p->comm ? p->comm : NULL;
	return NULL;
}

static double rate_between(const struct meta_clocks *a, const struct meta_clocks *b)
{
	return clock_pair_rate(&(struct clock_pair){ .ns = a->at_ns, .cycles = a->cycles },
			       &(struct clock_pair){ .ns = b->at_ns, .cycles = b->cycles });
}

/* Returns why the pairs of clocks cannot be used, or "". */
static const char *unstable_clocks(const struct meta *meta)
{
	if (!meta->clocks.n)
		return "the recording has no reading of the cycle counter";
	vec_for_each (&meta->clocks, const struct meta_clocks, c)
		if (*c->unstable)
			return c->unstable;
	return "";
}

double meta_cycles_per_ns(const struct meta *meta, const char **why)
{
	const char *unstable = unstable_clocks(meta);
	double rate = NAN;

	if (!*unstable && meta->clocks.n > 1)
		rate = rate_between(meta->clocks.data, &meta->clocks.data[meta->clocks.n - 1]);
	else if (!*unstable)
		rate = meta->session.cycles_per_ns;
	if (!*unstable && !(rate > 0))
		unstable = "the cycle counter did not go forward";
	if (why)
		*why = unstable;
	return *unstable ? NAN : rate;
}

bool meta_has_option(const struct meta *meta, const char *option)
{
	return meta->session.options && strstr(meta->session.options, option);
}

bool meta_has_notice(const struct meta *meta, const char *code)
{
	vec_for_each (&meta->notices, const struct meta_notice, n)
		if (n->code && !strcmp(n->code, code))
			return true;
	return false;
}

uint64_t meta_period(const struct meta *meta)
{
	uint64_t period = meta->session.period;

	return period == META_UNKNOWN ? 1 : period;
}

const struct meta_function *meta_function(const struct meta *meta, uint32_t id)
{
	if (id >= meta->functions.n || !meta->functions.data[id].symbol)
		return NULL;
	return &meta->functions.data[id];
}

void meta_release(struct meta *meta)
{
	vec_release(&meta->objects);
	vec_release(&meta->functions);
	vec_release(&meta->not_traced);
	vec_release(&meta->calibrations);
	vec_release(&meta->threads);
	vec_release(&meta->processes);
	vec_release(&meta->clocks);
	vec_release(&meta->solos);
	vec_release(&meta->notices);
	vec_release(&meta->stacks);
	vec_release(&meta->sites);
	vec_release(&meta->counters);
	vec_release(&meta->addresses);
	vec_release(&meta->frames);
	arena_release(&meta->arena);
}

double meta_overhead(double cpu_ns, double cost_ns)
{
	double own_ns = cpu_ns - cost_ns;

	if (!(cpu_ns > 0))
		return NAN;
	/* the cost is an estimate: own_ns may come out too small to divide by */
	return cost_ns >= META_OVERHEAD_MOST * own_ns ? META_OVERHEAD_MOST : cost_ns / own_ns;
}

bool meta_recorders_estimate(const struct meta *m, double *cpu_ns, double *cost_ns)
{
	const struct meta_end *end = &m->end;

	*cpu_ns = (double)end->target_cpu_ns;
	*cost_ns = (double)end->probes_cost_ns;
	return end->present && end->probes_cost_ns != META_UNKNOWN &&
	       end->target_cpu_ns != META_UNKNOWN && end->target_cpu_ns;
}

bool meta_hardly_runs(double cpu_ns, double cost_ns, double span_ns)
{
	return cpu_ns - cost_ns < META_BUSY_LEAST * span_ns &&
	       cost_ns < META_PROBES_LEAST * span_ns;
}

bool meta_has_both_engines(const struct meta *m)
{
	if (!m->session.producer || strcmp(m->session.producer, "bpf") != 0)
		return false;
	vec_for_each (&m->functions, const struct meta_function, f)
		if (f->in_process)
			return true;
	return false;
}

bool meta_is_java(const struct meta *m)
{
	return m->session.producer && !strcmp(m->session.producer, "java");
}

char *meta_cost_words(char *buf, double cpu_ns, double cost_ns, double span_ns)
{
	double share = meta_overhead(cpu_ns, cost_ns);
	char number[TEXT_NUMBER];

	if (meta_hardly_runs(cpu_ns, cost_ns, span_ns))
		snprintf(buf, META_COST_WORDS, "probes took %s",
			 text_of_cpu(number, cost_ns / span_ns));
	else
		snprintf(buf, META_COST_WORDS, "overhead %s%s",
			 share >= META_OVERHEAD_MOST ? "" : "~",
			 text_overhead(number, share, share >= META_OVERHEAD_MOST));
	return buf;
}

const char *probe_class_name(enum probe_class c)
{
	return c < CLASS_N ? meta_class_names[c] : "unknown";
}

const char *exit_mech_name(enum exit_mech m)
{
	return m <= EXIT_NONE ? meta_exit_names[m] : "unknown";
}

const char *argument_class_name(enum argument_class c)
{
	return c < ARGUMENT_N ? meta_argument_names[c] : "unknown";
}
