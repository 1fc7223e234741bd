// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One table of fields per kind of line; reading and printing both walk it, so that they cannot
 * disagree.
 */
#include "trace/meta.h"

#include <errno.h>
#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/format.h"

enum field_type {
	FIELD_STRING,
	FIELD_U32,
	FIELD_U64,
	FIELD_COUNT, /* u64 that is 0 where nothing is said, not unknown */
	FIELD_I64,   /* -1 where nothing is said */
	FIELD_F64,
	FIELD_BOOL,
	FIELD_CLASS,
	FIELD_EXIT,
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
};

#define F(kind, type, member)                                               \
	{                                                                   \
#member, FIELD_##type, offsetof(struct meta_##kind, member) \
	}

static const struct field session_fields[] = {
	F(session, U32, version),    F(session, STRING, ispot_version),
	F(session, STRING, command), F(session, U64, pid),
	F(session, COUNT, start_ns), F(session, U64, start_unix_ns),
	F(session, STRING, clock),   F(session, F64, cycles_per_ns),
	F(session, U32, cpus),	     F(session, STRING, hostname),
	F(session, STRING, kernel),  F(session, STRING, machine),
	F(session, STRING, pmu),     F(session, STRING, producer),
	F(session, COUNT, period),   F(session, BOOL, attached),
	F(session, STRING, options), { 0 },
};

static const struct field object_fields[] = {
	F(object, U32, id),
	F(object, STRING, path),
	F(object, STRING, build_id),
	{ 0 },
};

static const struct field function_fields[] = {
	F(function, U32, id),		F(function, U32, object),
	F(function, U32, set),		F(function, STRING, name),
	F(function, STRING, symbol),	F(function, COUNT, address),
	F(function, COUNT, size_bytes), F(function, COUNT, probe_offset),
	F(function, CLASS, class),	F(function, EXIT, exit),
	F(function, STRING, file),	F(function, U32, line),
	F(function, STRING, block),	F(function, BOOL, blocking),
	F(function, BOOL, chosen),	{ 0 },
};

static const struct field not_traced_fields[] = {
	F(not_traced, STRING, name),
	F(not_traced, STRING, object),
	F(not_traced, STRING, reason),
	F(not_traced, F64, cpu_share),
	F(not_traced, F64, calls_per_s),
	F(not_traced, F64, cost_share),
	{ 0 },
};

static const struct field calibration_fields[] = {
	F(calibration, CLASS, class),
	F(calibration, EXIT, exit),
	F(calibration, U32, threads),
	F(calibration, STRING, when),
	F(calibration, U64, inner_min_ns),
	F(calibration, U64, inner_p50_ns),
	F(calibration, U64, inner_p99_ns),
	F(calibration, F64, inner_mean_ns),
	F(calibration, F64, full_p50_ns),
	F(calibration, COUNT, calls),
	{ 0 },
};

static const struct field thread_fields[] = {
	F(thread, U32, tid),
	F(thread, U32, tgid),
	F(thread, STRING, comm),
	F(thread, COUNT, seen_ns),
	{ 0 },
};

static const struct field notice_fields[] = {
	F(notice, STRING, code),
	F(notice, STRING, text),
	{ 0 },
};

static const struct field stack_fields[] = {
	F(stack, U32, id), /* and "frames", an array: the one member without a row */
	{ 0 },
};

static const struct field frame_fields[] = {
	F(frame, U32, id),	  F(frame, STRING, symbol),
	F(frame, STRING, object), F(frame, STRING, file),
	F(frame, U32, line),	  F(frame, COUNT, offset),
	F(frame, BOOL, inlined),  { 0 },
};

static const struct field end_fields[] = {
	F(end, U64, end_ns),
	F(end, U64, made_records),
	F(end, U64, lost_records),
	F(end, U64, recorder_cpu_ns),
	F(end, I64, exit_status),
	F(end, STRING, reason),
	{ 0 },
};

static const char *const class_names[CLASS_N] = { "nop5", "emulated", "single-step", "marker" };
static const char *const exit_names[] = { "return", "ret-sites", "none" };

const char *probe_class_name(enum probe_class c)
{
	return c < CLASS_N ? class_names[c] : "unknown";
}

const char *exit_mech_name(enum exit_mech m)
{
	return m <= EXIT_NONE ? exit_names[m] : "unknown";
}

static int name_index(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/* ---- reading ---- */

static int read_u32(const struct json *line, const char *name, uint32_t *value)
{
	uint64_t v = json_u64(line, name, 0);

	if (v > UINT32_MAX)
		return -EINVAL;
	*value = (uint32_t)v;
	return 0;
}

/* Absent: the first name. A name of a later version is malformed: it would be taken for another. */
static int read_name(const struct json *line, const char *name, const char *const *names, size_t n,
		     void *value)
{
	int i = name_index(names, n, json_string(line, name, names[0]));

	if (i < 0)
		return -EINVAL;
	*(unsigned *)value = (unsigned)i;
	return 0;
}

/* There is no integer below 0 in a trace but small ones: an exact double holds them. */
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
		return read_name(line, f->name, class_names, CLASS_N, at);
	case FIELD_EXIT:
		return read_name(line, f->name, exit_names, EXIT_NONE + 1, at);
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
 * The element of a table indexed by id, or NULL for an id out of bounds. Grown with calloc, not
 * realloc: pages in a gap that nobody touches then cost nothing.
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
	int ret = read_fields(session_fields, line, &meta->arena, &s);

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
	int ret = read_fields(end_fields, line, &meta->arena, &e);

	if (!ret)
		meta->end = e;
	return ret;
}

static int read_object(struct meta *meta, const struct json *line)
{
	struct meta_object o = { 0 }, *slot;

	if (read_fields(object_fields, line, &meta->arena, &o))
		return -EINVAL;
	slot = SLOT(&meta->objects, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = o;
	return 0;
}

static int read_function(struct meta *meta, const struct json *line)
{
	struct meta_function f = { 0 }, *slot;

	if (read_fields(function_fields, line, &meta->arena, &f))
		return -EINVAL;
	if (!*f.block)
		f.block = "function";
	slot = SLOT(&meta->functions, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = f;
	return 0;
}

static int read_frame(struct meta *meta, const struct json *line)
{
	struct meta_frame f = { 0 }, *slot;

	if (read_fields(frame_fields, line, &meta->arena, &f))
		return -EINVAL;
	slot = SLOT(&meta->frames, line_id(line));
	if (!slot)
		return -EINVAL;
	*slot = f;
	return 0;
}

static int read_stack(struct meta *meta, const struct json *line)
{
	const struct json *frames = json_get(line, "frames");
	struct meta_stack s = { 0 }, *slot;
	uint32_t *ids;

	if (read_fields(stack_fields, line, &meta->arena, &s))
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

/* A row: read it whole, then add it, so that a malformed line leaves no half of it behind. */
#define READ_ROW(kind, table)                                                   \
	static int read_##kind(struct meta *meta, const struct json *line)      \
	{                                                                       \
		struct meta_##kind row = { 0 };                                 \
		int ret = read_fields(kind##_fields, line, &meta->arena, &row); \
                                                                                \
		if (!ret)                                                       \
			*vec_add(&meta->table) = row;                           \
		return ret;                                                     \
	}

READ_ROW(not_traced, not_traced)
READ_ROW(calibration, calibrations)
READ_ROW(thread, threads)
READ_ROW(notice, notices)

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
	{ "notice", read_notice },
	{ "stack", read_stack },
	{ "frame", read_frame },
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
	meta->end = (struct meta_end){
		.end_ns = META_UNKNOWN,
		.made_records = META_UNKNOWN,
		.lost_records = META_UNKNOWN,
		.recorder_cpu_ns = META_UNKNOWN,
		.exit_status = -1,
		.reason = "",
	};
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
		fill_strings(object_fields, o);
	vec_for_each (&meta->frames, struct meta_frame, f)
		fill_strings(frame_fields, f);
	vec_for_each (&meta->functions, struct meta_function, f) {
		bool is_gap = !f->symbol;

		fill_strings(function_fields, f);
		if (is_gap)
			f->symbol = NULL;
	}
}

const struct meta_object *meta_object(const struct meta *meta, uint32_t id)
{
	static const struct meta_object unknown = { .path = "", .build_id = "" };

	return id < meta->objects.n ? &meta->objects.data[id] : &unknown;
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
	vec_release(&meta->notices);
	vec_release(&meta->stacks);
	vec_release(&meta->frames);
	arena_release(&meta->arena);
}

/* ---- printing ---- */

static void set_u64(struct json *line, const char *name, uint64_t v)
{
	if (v != META_UNKNOWN)
		json_set_u64(line, name, v);
}

static void set_field(const struct field *f, const void *item, struct json *line)
{
	const void *at = (const char *)item + f->offset;

	switch (f->type) {
	case FIELD_STRING:
		if (*(const char *const *)at)
			json_set_string(line, f->name, *(const char *const *)at);
		break;
	case FIELD_U32:
		json_set_u64(line, f->name, *(const uint32_t *)at);
		break;
	case FIELD_U64:
	case FIELD_COUNT:
		set_u64(line, f->name, *(const uint64_t *)at);
		break;
	case FIELD_I64:
		json_set_i64(line, f->name, *(const int64_t *)at);
		break;
	case FIELD_F64:
		if (isfinite(*(const double *)at))
			json_set_f64(line, f->name, *(const double *)at);
		break;
	case FIELD_BOOL:
		json_set_bool(line, f->name, *(const bool *)at);
		break;
	case FIELD_CLASS:
		json_set_string(line, f->name, probe_class_name(*(const enum probe_class *)at));
		break;
	case FIELD_EXIT:
		json_set_string(line, f->name, exit_mech_name(*(const enum exit_mech *)at));
		break;
	}
}

static struct json *line_of(const char *kind, const struct field *fields, const void *item)
{
	struct json *line = json_new_object();

	json_set_string(line, "kind", kind);
	for (; fields->name; fields++)
		set_field(fields, item, line);
	return line;
}

static void print_line(struct json *line, struct text *out)
{
	json_print(line, out, false);
	json_free(line);
}

#define PRINT(type)                                                              \
	void meta_print_##type(const struct meta_##type *item, struct text *out) \
	{                                                                        \
		print_line(line_of(#type, type##_fields, item), out);            \
	}

PRINT(session)
PRINT(object)
PRINT(function)
PRINT(not_traced)
PRINT(calibration)
PRINT(thread)
PRINT(notice)
PRINT(frame)
PRINT(end)

void meta_print_stack(const struct meta_stack *s, struct text *out)
{
	struct json *line = line_of("stack", stack_fields, s), *frames = json_new_array();

	for (uint32_t i = 0; i < s->n_frames; i++)
		json_add_u64(frames, s->frames[i]);
	json_set_take(line, "frames", frames);
	print_line(line, out);
}
