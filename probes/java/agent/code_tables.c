// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/code.h"
#include "probes/java/agent/code_tables.h"
#include "probes/java/agent/stackmap.h"

static uint32_t u2_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static bool is_attribute(const struct code *c, const uint8_t *name, const char *wanted)
{
	return class_text_is(class_pool_text(c->pool, u2_at(name)), wanted);
}

bool bytecode_handlers(const struct code *c, const struct code_layout *l, struct class_out *out)
{
	class_add_u2(out, c->n_handlers + l->whole);
	for (uint32_t i = 0; i < c->n_handlers; i++) {
		const uint8_t *p = c->handlers + 8 * (size_t)i;
		uint32_t start = u2_at(p), end = u2_at(p + 2), to = u2_at(p + 4);

		if (start >= c->n || end > c->n || to >= c->n || l->raw[start] == CODE_NONE ||
		    l->raw[end] == CODE_NONE || l->at[to] == CODE_NONE)
			return false;
		class_add_u2(out, l->raw[start]);
		class_add_u2(out, l->raw[end]);
		class_add_u2(out, l->at[to]);
		class_add(out, p + 6, 2);
	}
	if (l->whole) {
		class_add_u2(out, l->at[0]);
		class_add_u2(out, l->handler);
		class_add_u2(out, l->handler);
		class_add_u2(out, 0);
	}
	return true;
}

/* Returns the new place of an instruction in a table of lines or variables. Rows of the first
 * instruction also apply to the call before it. */
static uint32_t moved(const struct code *c, const struct code_layout *l, uint32_t pc)
{
	return !pc || pc > c->n ? 0 : l->at[pc];
}

static bool write_lines(const uint8_t *info, size_t n, const struct code *c,
			const struct code_layout *l, struct class_out *out)
{
	struct class_reader r = { .p = info, .end = info + n };
	uint32_t rows = class_u2(&r);

	class_add_u2(out, rows);
	for (; rows && !r.bad; rows--) {
		uint32_t to = moved(c, l, class_u2(&r));

		class_add_u2(out, to);
		class_add_u2(out, class_u2(&r));
		if (to == CODE_NONE)
			return false;
	}
	return !r.bad;
}

/* Writes a LocalVariableTable or LocalVariableTypeTable. */
static bool write_variables(const uint8_t *info, size_t n, const struct code *c,
			    const struct code_layout *l, struct class_out *out)
{
	struct class_reader r = { .p = info, .end = info + n };
	uint32_t rows = class_u2(&r);

	class_add_u2(out, rows);
	for (; rows && !r.bad; rows--) {
		uint32_t start = class_u2(&r), end = start + class_u2(&r);
		const uint8_t *rest = class_bytes(&r, 6);

		if (!rest || end > c->n || moved(c, l, start) == CODE_NONE ||
		    l->raw[end] == CODE_NONE)
			return false;
		class_add_u2(out, moved(c, l, start));
		class_add_u2(out, end == start ? 0 : l->raw[end] - moved(c, l, start));
		class_add(out, rest, 6);
	}
	return !r.bad;
}

/* The attributes that are kept. Others may name instructions in unknown ways, and can be left out.
 */
static const struct {
	const char *name;
	bool (*put)(const uint8_t *info, size_t n, const struct code *c,
		    const struct code_layout *l, struct class_out *out);
} kept[] = {
	{ "LineNumberTable", write_lines },
	{ "LocalVariableTable", write_variables },
	{ "LocalVariableTypeTable", write_variables },
};

static bool write_kept(const uint8_t *name, const uint8_t *info, uint32_t n, const struct code *c,
		       const struct code_layout *l, struct class_out *out, uint32_t *count)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		size_t start = out->n;

		if (!is_attribute(c, name, kept[i].name))
			continue;
		class_add(out, name, 2);
		class_add_u4(out, n); /* these keep their size */
		if (!kept[i].put(info, n, c, l, out)) {
			out->n = start; /* the table was wrong before; only debuggers read it, so it
					   is left out */
			return true;
		}
		++*count;
	}
	return true;
}

static bool write_stack_map(const uint8_t *info, uint32_t n, const struct code *c,
			    const struct code_layout *l, const struct code_names *names,
			    struct class_out *out, uint32_t *count)
{
	size_t length;

	class_add_u2(out, names->stack_map_name);
	length = out->n;
	class_add_u4(out, 0);
	if (!stackmap_write(info, n, c, l, names, out))
		return false;
	class_set_u4(out, length, (uint32_t)(out->n - length - 4));
	++*count;
	return true;
}

bool bytecode_attributes(const struct code *c, const struct code_layout *l,
			 const struct code_names *names, struct class_out *out)
{
	struct class_reader r = { .p = c->attributes, .end = c->end };
	const uint8_t *map = NULL;
	uint32_t map_n = 0, count = 0;
	size_t count_at = out->n;

	class_add_u2(out, 0);
	for (uint32_t i = 0; i < c->n_attributes; i++) {
		const uint8_t *name = class_bytes(&r, 2);
		uint32_t n = class_u4(&r);
		const uint8_t *info = class_bytes(&r, n);

		if (!info)
			return false;
		if (is_attribute(c, name, "StackMapTable")) {
			map = info;
			map_n = n;
		} else if (!write_kept(name, info, n, c, l, out, &count)) {
			return false;
		}
	}
	if (names->has_stack_maps && (map || l->whole) &&
	    !write_stack_map(map, map_n, c, l, names, out, &count))
		return false;
	class_set_u2(out, count_at, count);
	return true;
}
