// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/classfile.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

const uint8_t *class_bytes(struct class_reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	return p;
}

uint32_t class_u1(struct class_reader *r)
{
	const uint8_t *p = class_bytes(r, 1);

	return p ? p[0] : 0;
}

uint32_t class_u2(struct class_reader *r)
{
	const uint8_t *p = class_bytes(r, 2);

	return p ? (uint32_t)p[0] << 8 | p[1] : 0;
}

uint32_t class_u4(struct class_reader *r)
{
	uint32_t high = class_u2(r);

	return high << 16 | class_u2(r);
}

void class_add(struct class_out *o, const void *p, size_t n)
{
	if (!o->failed && o->room - o->n < n) {
		size_t room = (o->room + n) * 2;
		uint8_t *more = realloc(o->p, room);

		if (more) {
			o->p = more;
			o->room = room;
		} else {
			o->failed = true;
		}
	}
	if (o->failed || !n)
		return;
	memcpy(o->p + o->n, p, n);
	o->n += n;
}

void class_add_u1(struct class_out *o, uint32_t v)
{
	const uint8_t b = (uint8_t)v;

	class_add(o, &b, 1);
}

void class_add_u2(struct class_out *o, uint32_t v)
{
	const uint8_t b[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	class_add(o, b, 2);
}

void class_add_u4(struct class_out *o, uint32_t v)
{
	class_add_u2(o, v >> 16);
	class_add_u2(o, v & 0xffff);
}

void class_set_u2(struct class_out *o, size_t at, uint32_t v)
{
	if (o->failed || at + 2 > o->n)
		return;
	o->p[at] = (uint8_t)(v >> 8);
	o->p[at + 1] = (uint8_t)v;
}

void class_set_u4(struct class_out *o, size_t at, uint32_t v)
{
	class_set_u2(o, at, v >> 16);
	class_set_u2(o, at + 2, v & 0xffff);
}

void class_out_release(struct class_out *o)
{
	free(o->p);
	*o = (struct class_out){ 0 };
}

/* ---- constant pool ---- */

/* Bytes of an entry after its tag; of a CP_UTF8, those of the text's length. 0: the tag is unknown.
 */
static const uint8_t sizes[] = {
	[CP_UTF8] = 2, [CP_INTEGER] = 4, [4] = 4,  [5] = 8,  [6] = 8,  [CP_CLASS] = 2,
	[8] = 2,       [9] = 4,		 [10] = 4, [11] = 4, [12] = 4, [15] = 3,
	[16] = 2,      [17] = 4,	 [18] = 4, [19] = 2, [20] = 2,
};

bool class_pool_read(struct class_pool *pool, const uint8_t *bytes, struct class_reader *r)
{
	*pool = (struct class_pool){ .bytes = bytes, .n = class_u2(r) };
	pool->at = calloc(pool->n + 1, sizeof(*pool->at));
	if (!pool->at)
		return false;
	for (uint32_t i = 1; i < pool->n && !r->bad; i++) {
		uint32_t at = (uint32_t)(r->p - bytes), tag = class_u1(r);

		if (tag >= sizeof(sizes) || !sizes[tag])
			r->bad = true;
		else if (tag == CP_UTF8)
			class_bytes(r, class_u2(r));
		else
			class_bytes(r, sizes[tag]);
		pool->at[i] = at;
		i += tag == 5 || tag == 6; /* a long or double has two indices */
	}
	return !r->bad;
}

void class_pool_release(struct class_pool *pool)
{
	free(pool->at);
	class_out_release(&pool->added);
	pool->at = NULL;
}

static uint32_t u2_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

struct class_text class_pool_text(const struct class_pool *pool, uint32_t index)
{
	const uint8_t *p =
		index < pool->n && pool->at[index] ? pool->bytes + pool->at[index] : NULL;

	if (p && *p == CP_CLASS) {
		index = u2_at(p + 1);
		p = index < pool->n && pool->at[index] ? pool->bytes + pool->at[index] : NULL;
	}
	if (!p || *p != CP_UTF8)
		return (struct class_text){ "", 0 };
	return (struct class_text){ (const char *)p + 3, u2_at(p + 1) };
}

bool class_text_is(struct class_text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.s, s, t.n);
}

static uint32_t next_index(struct class_pool *pool)
{
	return pool->n + pool->n_added++;
}

uint32_t class_pool_add_utf8(struct class_pool *pool, const char *s)
{
	class_add_u1(&pool->added, CP_UTF8);
	class_add_u2(&pool->added, (uint32_t)strlen(s));
	class_add(&pool->added, s, strlen(s));
	return next_index(pool);
}

uint32_t class_pool_add_u2(struct class_pool *pool, uint32_t tag, uint32_t a)
{
	class_add_u1(&pool->added, tag);
	class_add_u2(&pool->added, a);
	return next_index(pool);
}

uint32_t class_pool_add_pair(struct class_pool *pool, uint32_t tag, uint32_t a, uint32_t b)
{
	class_add_u1(&pool->added, tag);
	class_add_u2(&pool->added, a);
	class_add_u2(&pool->added, b);
	return next_index(pool);
}

uint32_t class_pool_add_integer(struct class_pool *pool, uint32_t v)
{
	class_add_u1(&pool->added, CP_INTEGER);
	class_add_u4(&pool->added, v);
	return next_index(pool);
}

bool class_pool_full(const struct class_pool *pool)
{
	return pool->n + pool->n_added > UINT16_MAX;
}
