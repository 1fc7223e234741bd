// SPDX-License-Identifier: GPL-3.0-or-later

#include "trace/meta/print.h"

#include "trace/meta/meta.h"

#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/meta/fields.h"

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
	case FIELD_ARGUMENT_CLASS:
		json_set_string(line, f->name,
				argument_class_name(*(const enum argument_class *)at));
		break;
	}
}

static void set_fields(const struct field *fields, const void *item, struct json *object)
{
	for (; fields->name; fields++)
		set_field(fields, item, object);
}

static struct json *line_of(const char *kind, const struct field *fields, const void *item)
{
	struct json *line = json_new_object();

	json_set_string(line, "kind", kind);
	set_fields(fields, item, line);
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
		print_line(line_of(#type, meta_##type##_fields, item), out);     \
	}

PRINT(session)
PRINT(object)
PRINT(not_traced)
PRINT(calibration)
PRINT(thread)
PRINT(process)
PRINT(clocks)
PRINT(solo)
PRINT(notice)
PRINT(counter)
PRINT(frame)
PRINT(site)
PRINT(address)
PRINT(end)

void meta_print_stack(const struct meta_stack *s, struct text *out)
{
	struct json *line = line_of("stack", meta_stack_fields, s), *frames = json_new_array();

	for (uint32_t i = 0; i < s->n_frames; i++)
		json_add_u64(frames, s->frames[i]);
	json_set_take(line, "frames", frames);
	print_line(line, out);
}

static void set_list(struct json *line, const char *name, const struct field *fields,
		     const void *items, uint32_t n, size_t size)
{
	struct json *list;

	if (!n)
		return;
	list = json_new_array();
	for (uint32_t i = 0; i < n; i++) {
		struct json *item = json_new_object();

		set_fields(fields, (const char *)items + i * size, item);
		json_add_take(list, item);
	}
	json_set_take(line, name, list);
}

void meta_print_function(const struct meta_function *f, struct text *out)
{
	struct json *line = line_of("function", meta_function_fields, f);

	set_list(line, "args", meta_argument_fields, f->arguments, f->n_arguments,
		 sizeof(*f->arguments));
	set_list(line, "prototype", meta_parameter_fields, f->prototype, f->n_prototype,
		 sizeof(*f->prototype));
	print_line(line, out);
}
