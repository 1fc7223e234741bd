/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the tables whose form the Itanium C++ ABI and the LSB's chapter on DWARF extensions define.
 * The file may contain anything: a frame that cannot be read is marked as unreadable.
 */
#include "probes/patch/landing.h"

#include <string.h>

#include "probes/patch/targets.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"

/* ---- reading ---- */

struct bytes {
	const struct dso *dso;
	uint64_t address; /* of the next byte */
	bool failed;
};

static uint8_t next(struct bytes *b)
{
	const uint8_t *p = b->failed ? NULL : dso_bytes(b->dso, b->address, 1);

	b->failed |= !p;
	b->address++;
	return p ? *p : 0;
}

static uint64_t next_bytes(struct bytes *b, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)next(b) << (8 * i);
	return value;
}

static uint64_t next_uleb(struct bytes *b)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = next(b);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	b->failed = true;
	return 0;
}

#define ENCODED_NOT	 0xff
#define ENCODED_PCREL	 0x10
#define ENCODED_INDIRECT 0x80

static uint64_t next_value(struct bytes *b, uint8_t format)
{
	switch (format) {
	case 0x00: /* a pointer */
	case 0x04:
	case 0x0c:
		return next_bytes(b, 8);
	case 0x01:
		return next_uleb(b);
	case 0x02:
		return next_bytes(b, 2);
	case 0x03:
		return next_bytes(b, 4);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)next_bytes(b, 2);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)next_bytes(b, 4);
	}
	b->failed = true;
	return 0;
}

/* Reads an encoded pointer. 0 stays 0, which means no pointer. */
static uint64_t next_pointer(struct bytes *b, uint8_t encoding)
{
	uint64_t at = b->address, value = next_value(b, encoding & 0x0f);

	if ((encoding & 0x70) == ENCODED_PCREL)
		return value ? at + value : 0;
	b->failed |= encoding & 0x70;
	return value;
}

/* ---- the unwind table ---- */

struct entry_form { /* what a CIE says about its FDEs */
	uint8_t pointer, landing;
	bool has_data, is_signal;
};

static void read_augmentation(struct bytes *b, const char *text, struct entry_form *form)
{
	for (; *text && !b->failed; text++) {
		uint8_t encoding;

		switch (*text) {
		case 'z':
			form->has_data = true;
			next_uleb(b);
			break;
		case 'L':
			form->landing = next(b);
			break;
		case 'R':
			form->pointer = next(b);
			break;
		case 'P':
			encoding = next(b);
			next_value(b, encoding & 0x0f);
			break;
		case 'S':
			form->is_signal = true;
			break;
		case 'B': /* aarch64: the return address is signed with the other key; tagged memory
			   */
		case 'G':
			break;
		default:
			b->failed = true;
		}
	}
}

static bool read_form(const struct dso *dso, uint64_t cie, struct entry_form *form)
{
	struct bytes b = { .dso = dso, .address = cie + 8 };
	char augmentation[8] = "";
	uint8_t version = next(&b);

	*form = (struct entry_form){ .landing = ENCODED_NOT };
	for (size_t i = 0; (augmentation[i] = (char)next(&b)); i++)
		if (i + 2 == sizeof(augmentation))
			return false;
	next_uleb(&b); /* alignment of code and of data, register of the return address */
	next_uleb(&b);
	if (version == 1)
		next(&b);
	else
		next_uleb(&b);
	if (*augmentation && *augmentation != 'z')
		return false;
	read_augmentation(&b, augmentation, form);
	return !b.failed;
}

/* ---- where exceptions land ---- */

/*
 * All tables together are not longer than the loaded bytes; a malicious file may name one table a
 * thousand times.
 */
static bool read_landings(struct targets *t, const struct dso *dso, uint64_t table,
			  uint64_t function)
{
	struct bytes b = { .dso = dso, .address = table };
	uint64_t base = function, end;
	uint8_t encoding = next(&b);

	if (encoding != ENCODED_NOT)
		base = next_pointer(&b, encoding);
	encoding = next(&b);
	if (encoding != ENCODED_NOT)
		next_uleb(&b); /* the distance to the types */
	encoding = next(&b);
	end = next_uleb(&b);
	end += b.address;
	if (end < b.address || end - b.address > t->landings_left)
		return false;
	t->landings_left -= end - b.address;
	while (!b.failed && b.address < end) {
		uint64_t pad;

		next_value(&b, encoding);
		next_value(&b, encoding);
		pad = next_value(&b, encoding);
		next_uleb(&b);
		if (pad && !b.failed)
			targets_mark(t, base + pad, MARK_TARGET);
	}
	return !b.failed;
}

/* ---- frames ---- */

static bool read_frame(struct targets *t, const struct dso *dso, uint64_t fde, struct frame *f)
{
	struct bytes b = { .dso = dso, .address = fde };
	struct entry_form form;
	uint64_t landing, id_at;

	if (next_bytes(&b, 4) == UINT32_MAX) /* the 64-bit form, which no linker emits */
		return false;
	id_at = b.address;
	if (!read_form(dso, id_at - next_bytes(&b, 4), &form))
		return false;
	f->is_signal = form.is_signal;
	if (next_pointer(&b, form.pointer) != f->start)
		return false;
	f->size = next_value(&b, form.pointer & 0x0f);
	if (!form.has_data || form.landing == ENCODED_NOT)
		return !b.failed;
	next_uleb(&b);
	landing = next_pointer(&b, form.landing);
	if (b.failed || form.landing & ENCODED_INDIRECT)
		return false;
	return !landing || read_landings(t, dso, landing, f->start);
}

static int compare_frames(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

const char *landing_read(struct targets *t, struct dso *dso)
{
	uint64_t header, entries, n;

	if (!dso_unwind_table(dso, &header, &entries, &n))
		return "has no unwind table that ispot can read, so where its exceptions land is not known";
	t->unwind_start = header;
	t->unwind_end = entries + 8 * n;
	for (uint64_t i = 0; i < n; i++) {
		struct bytes b = { .dso = dso, .address = entries + 8 * i };
		struct frame f = { .start = header + next_value(&b, 0x0b) };
		uint64_t fde = header + next_value(&b, 0x0b);

		f.is_unreadable = !read_frame(t, dso, fde, &f);
		*vec_add(&t->frames) = f;
	}
	vec_sort(&t->frames, compare_frames);
	return NULL;
}
