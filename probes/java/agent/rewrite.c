// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "probes/java/agent/code.h"

#define STACK_MAPS_SINCE     50 /* class file versions */
#define CLASS_CONSTANT_SINCE 49
#define MAGIC		     0xcafebabe

struct class
{
	const uint8_t *bytes, *end;
	struct class_pool pool;
	const struct rewrite_hooks *hooks;
	struct class_text name, source;
	struct class_out methods; /* the new methods, without their count */
	struct code_names names;  /* if enter is 0, they are not in the pool yet */
	uint32_t version;
	bool changed;
};

/* A method_info. */
struct method {
	const uint8_t *start, *end;
	const uint8_t *code_start, *code_end; /* its Code attribute; NULL: it has none */
	struct rewrite_method facts;
};

static void skip_attributes(struct class_reader *r)
{
	for (uint32_t n = class_u2(r); n && !r->bad; n--) {
		class_u2(r);
		class_bytes(r, class_u4(r));
	}
}

static void skip_members(struct class_reader *r)
{
	for (uint32_t n = class_u2(r); n && !r->bad; n--) {
		class_bytes(r, 6);
		skip_attributes(r);
	}
}

/* Adds the names that calls need to the pool, once per class. */
static void need_names(struct class *c)
{
	struct class_pool *p = &c->pool;
	uint32_t helper, type;

	if (c->names.enter)
		return;
	helper = class_pool_add_u2(p, CP_CLASS, class_pool_add_utf8(p, REWRITE_HELPER));
	type = class_pool_add_utf8(p, "(I)V");
	c->names.enter = class_pool_add_pair(
		p, CP_METHODREF, helper,
		class_pool_add_pair(p, CP_NAME_AND_TYPE, class_pool_add_utf8(p, "enter"), type));
	c->names.exit = class_pool_add_pair(
		p, CP_METHODREF, helper,
		class_pool_add_pair(p, CP_NAME_AND_TYPE, class_pool_add_utf8(p, "exit"), type));
	c->names.leave = class_pool_add_pair(
		p, CP_METHODREF, helper,
		class_pool_add_pair(p, CP_NAME_AND_TYPE, class_pool_add_utf8(p, "leave"),
				    class_pool_add_utf8(p, REWRITE_LEAVE_TYPE)));
	c->names.object =
		class_pool_add_u2(p, CP_CLASS, class_pool_add_utf8(p, "java/lang/Object"));
	c->names.throwable =
		class_pool_add_u2(p, CP_CLASS, class_pool_add_utf8(p, "java/lang/Throwable"));
	c->names.stack_map_name = class_pool_add_utf8(p, "StackMapTable");
	c->names.has_stack_maps = c->version >= STACK_MAPS_SINCE;
}

/* Gets ids and adds their constants. Returns false if no ids are left. */
static bool define(struct class *c, const struct method *m, const struct code *code,
		   const struct code_layout *l, uint32_t *enters)
{
	uint32_t lines[REWRITE_BLOCKS_MAX], id, n = code->n_enters;

	if (l->blocks) {
		for (uint32_t k = 0; k < n; k++)
			lines[k] = bytecode_line(code, bytecode_enter_pc(code, k));
		id = c->hooks->define(c->hooks->ctx, &m->facts, true, n, lines);
		if (id == UINT32_MAX)
			return false;
		for (uint32_t k = 0; k < n; k++)
			enters[k] = class_pool_add_integer(&c->pool, id + k);
		c->names.block_enter = enters;
		c->names.block_exit =
			class_pool_add_integer(&c->pool, id | (n - 1) << REWRITE_ID_BITS);
	}
	if (!l->whole)
		return true;
	if (l->awaits) {
		c->names.awaits = class_pool_add_integer(&c->pool, (uint32_t)REWRITE_AWAITS);
		c->names.method = class_pool_add_integer(&c->pool, (uint32_t)REWRITE_TOOK);
		return true;
	}
	id = c->hooks->define(c->hooks->ctx, &m->facts, false, 1, &m->facts.line);
	c->names.method = class_pool_add_integer(&c->pool, id);
	return id != UINT32_MAX;
}

static const char *write_method(struct class *c, const struct method *m, const struct code *code,
				const struct code_layout *l)
{
	uint32_t enters[REWRITE_BLOCKS_MAX];
	size_t length;

	need_names(c);
	if (!define(c, m, code, l, enters))
		return "there are more methods than can be told apart";
	class_add(&c->methods, m->start, (size_t)(m->code_start - m->start) + 2);
	length = c->methods.n;
	class_add_u4(&c->methods, 0);
	if (class_pool_full(&c->pool))
		return "its class has too many constants";
	if (!bytecode_write(code, l, &c->names, &c->methods))
		return "its code is malformed";
	class_set_u4(&c->methods, length, (uint32_t)(c->methods.n - length - 4));
	class_add(&c->methods, m->code_end, (size_t)(m->end - m->code_end));
	c->changed = true;
	return NULL;
}

/* If this fails, the class is as before, because the other methods need nothing that this one
 * added. */
static const char *write_code(struct class *c, const struct method *m, const struct code *code,
			      const struct code_layout *l)
{
	const size_t methods_n = c->methods.n, added_n = c->pool.added.n;
	const uint32_t n_added = c->pool.n_added;
	const struct code_names names = c->names;
	const char *why = write_method(c, m, code, l);

	if (!why)
		return NULL;
	c->methods.n = methods_n;
	c->pool.added.n = added_n;
	c->pool.n_added = n_added;
	c->names = names;
	return why;
}

static bool keeps_this(const struct method *m, const struct code *code)
{
	return !(m->facts.access & ACCESS_STATIC) &&
	       bytecode_keeps_this(code, m->facts.signature.s, m->facts.signature.n);
}

static enum code_monitor monitor_of(const struct class *c, const struct method *m,
				    const struct code *code)
{
	if (!(m->facts.access & ACCESS_SYNCHRONIZED))
		return CODE_NO_MONITOR;
	if (m->facts.access & ACCESS_STATIC)
		return c->version >= CLASS_CONSTANT_SINCE ? CODE_OF_CLASS : CODE_NO_MONITOR;
	return keeps_this(m, code) ? CODE_OF_THIS : CODE_NO_MONITOR;
}

static const char *rewrite_code(struct class *c, struct method *m, unsigned wanted)
{
	struct code code;
	struct code_layout l = { 0 };
	const char *why;

	if (!bytecode_read(&code, &c->pool, m->code_start + 6,
			   (size_t)(m->code_end - m->code_start - 6)))
		return "its code is malformed";
	m->facts.line = code.first_line;
	l.awaits = !(wanted & REWRITE_WHOLE) && wanted & REWRITE_LOCK;
	l.whole = wanted & REWRITE_WHOLE || l.awaits;
	l.blocks = wanted & REWRITE_BLOCKS && code.n_enters;
	if (!l.blocks && !l.whole)
		return "";
	if (code.n_enters > REWRITE_BLOCKS_MAX)
		return "it has too many synchronized blocks";
	if (l.awaits && !keeps_this(m, &code))
		return "it changes its variable `this`, so its lock is unknown at its end";
	if (l.whole)
		l.monitor = l.awaits ? CODE_OF_THIS : monitor_of(c, m, &code);
	/* a constructor may lock its object before the verifier takes it for one */
	l.of_blocks = l.blocks && !class_text_is(m->facts.name, "<init>");
	why = bytecode_layout(&l, &code);
	if (!why)
		why = write_code(c, m, &code, &l);
	bytecode_layout_release(&l);
	return why;
}

/* Returns why the whole method cannot be recorded, or NULL if it can. */
static const char *refused(const struct method *m)
{
	if (m->facts.access & ACCESS_NATIVE)
		return "it is native: machine code, not bytecode";
	if (m->facts.access & ACCESS_ABSTRACT || !m->code_start)
		return "it is abstract: it has no code";
	if (class_text_is(m->facts.name, "<init>"))
		return "it is a constructor: its object is not one yet when it begins";
	if (class_text_is(m->facts.name, "<clinit>"))
		return "it initializes its class, once";
	return NULL;
}

static bool read_method(struct class *c, struct class_reader *r, struct method *m)
{
	*m = (struct method){ .start = r->p };
	m->facts.access = class_u2(r);
	m->facts.class_name = c->name;
	m->facts.source = c->source;
	m->facts.name = class_pool_text(&c->pool, class_u2(r));
	m->facts.signature = class_pool_text(&c->pool, class_u2(r));
	for (uint32_t n = class_u2(r); n && !r->bad; n--) {
		const uint8_t *start = r->p;
		struct class_text name = class_pool_text(&c->pool, class_u2(r));

		class_bytes(r, class_u4(r));
		if (!m->code_start && class_text_is(name, "Code")) {
			m->code_start = start;
			m->code_end = r->p;
		}
	}
	m->end = r->p;
	return !r->bad;
}

static void rewrite_method(struct class *c, struct method *m)
{
	unsigned wanted = c->hooks->wanted(c->hooks->ctx, &m->facts);
	const char *why = wanted & (REWRITE_WHOLE | REWRITE_LOCK) ? refused(m) : NULL;

	if (why) {
		c->hooks->left(c->hooks->ctx, &m->facts, why);
		wanted &= ~(unsigned)(REWRITE_WHOLE | REWRITE_LOCK);
	}
	if (!m->code_start)
		wanted = 0;
	why = wanted ? rewrite_code(c, m, wanted) : "";
	if (why && *why)
		c->hooks->left(c->hooks->ctx, &m->facts, why);
	if (why)
		class_add(&c->methods, m->start, (size_t)(m->end - m->start));
}

static void find_source(struct class *c, struct class_reader *r)
{
	for (uint32_t n = class_u2(r); n && !r->bad; n--) {
		struct class_text name = class_pool_text(&c->pool, class_u2(r));
		uint32_t size = class_u4(r);
		const uint8_t *p = class_bytes(r, size);

		if (p && size == 2 && class_text_is(name, "SourceFile"))
			c->source = class_pool_text(&c->pool, (uint32_t)p[0] << 8 | p[1]);
	}
}

static void write_class(const struct class *c, const uint8_t *pool_end, const uint8_t *methods,
			const uint8_t *methods_end, struct class_out *out)
{
	class_add(out, c->bytes, 8);
	class_add_u2(out, c->pool.n + c->pool.n_added);
	class_add(out, c->bytes + 10, (size_t)(pool_end - c->bytes - 10));
	class_add(out, c->pool.added.p, c->pool.added.n);
	class_add(out, pool_end, (size_t)(methods - pool_end));
	class_add(out, c->methods.p, c->methods.n);
	class_add(out, methods_end, (size_t)(c->end - methods_end));
}

static int rewrite(struct class *c, struct class_out *out)
{
	struct class_reader r = { .p = c->bytes, .end = c->end }, methods;
	const uint8_t *pool_end, *first;
	struct method m;
	uint32_t n;

	if (class_u4(&r) != MAGIC)
		return REWRITE_MALFORMED;
	c->version = class_u4(&r) & 0xffff;
	if (!class_pool_read(&c->pool, c->bytes, &r))
		return REWRITE_MALFORMED;
	pool_end = r.p;
	class_u2(&r);
	c->names.self = class_u2(&r);
	c->name = class_pool_text(&c->pool, c->names.self);
	class_u2(&r);
	class_bytes(&r, 2 * (size_t)class_u2(&r));
	skip_members(&r);
	methods = r;
	skip_members(&r);
	find_source(c, &r);
	n = class_u2(&methods);
	first = methods.p;
	for (; n && !r.bad && read_method(c, &methods, &m); n--)
		rewrite_method(c, &m);
	if (r.bad || methods.bad || c->methods.failed || c->pool.added.failed)
		return REWRITE_MALFORMED;
	if (!c->changed || class_pool_full(&c->pool))
		return REWRITE_NOTHING;
	write_class(c, pool_end, first, methods.p, out);
	return out->failed ? REWRITE_MALFORMED : REWRITE_DONE;
}

int rewrite_class(const uint8_t *bytes, size_t n, const struct rewrite_hooks *hooks,
		  struct class_out *out)
{
	struct class c = { .bytes = bytes, .end = bytes + n, .hooks = hooks };
	int ret = rewrite(&c, out);

	class_pool_release(&c.pool);
	class_out_release(&c.methods);
	return ret;
}

/* static void calibrate(int n) { for (; n > 0; n--) { enter(-2); exit(-2); } } */
static void write_calibrate(struct class_out *out, uint32_t name, uint32_t type, uint32_t code,
			    const uint32_t *refs)
{
	enum { BYTES = 21 };

	class_add_u2(out, 0x0009); /* public static */
	class_add_u2(out, name);
	class_add_u2(out, type);
	class_add_u2(out, 1);
	class_add_u2(out, code);
	class_add_u4(out, 2 + 2 + 4 + BYTES + 2 + 2);
	class_add_u2(out, 1); /* stack */
	class_add_u2(out, 1); /* locals */
	class_add_u4(out, BYTES);
	class_add(out, "\x1a\x9e\x00\x13", 4); /* iload_0; ifle: to the return */
	for (size_t i = 0; i < 2; i++) {
		class_add(out, "\x10\xfe\xb8", 3); /* bipush -2; invokestatic */
		class_add_u2(out, refs[i]);
	}
	class_add(out, "\x84\x00\xff\xa7\xff\xef\xb1", 7); /* iinc; goto: to the begin; return */
	class_add_u4(out, 0);				   /* no handlers, no attributes */
}

void rewrite_helper(struct class_out *out)
{
	struct class_pool p = { .n = 1 };
	uint32_t self = class_pool_add_u2(&p, CP_CLASS, class_pool_add_utf8(&p, REWRITE_HELPER));
	uint32_t super =
		class_pool_add_u2(&p, CP_CLASS, class_pool_add_utf8(&p, "java/lang/Object"));
	uint32_t type = class_pool_add_utf8(&p, "(I)V"), enter = class_pool_add_utf8(&p, "enter");
	uint32_t leave_type = class_pool_add_utf8(&p, REWRITE_LEAVE_TYPE);
	const uint32_t methods[] = { enter, class_pool_add_utf8(&p, "exit"),
				     class_pool_add_utf8(&p, "leave") };
	uint32_t refs[2];
	uint32_t calibrate = class_pool_add_utf8(&p, "calibrate"),
		 code = class_pool_add_utf8(&p, "Code");

	for (size_t i = 0; i < 2; i++)
		refs[i] = class_pool_add_pair(
			&p, CP_METHODREF, self,
			class_pool_add_pair(&p, CP_NAME_AND_TYPE, methods[i], type));

	class_add_u4(out, MAGIC);
	class_add_u4(out, 49);
	class_add_u2(out, p.n + p.n_added);
	class_add(out, p.added.p, p.added.n);
	class_add_u2(out, 0x1031); /* access flags: public final super synthetic */
	class_add_u2(out, self);
	class_add_u2(out, super);
	class_add_u4(out, 0); /* no interfaces, no fields */
	class_add_u2(out, 4);
	for (size_t i = 0; i < 3; i++) {
		class_add_u2(out, 0x0109); /* public static native */
		class_add_u2(out, methods[i]);
		class_add_u2(out, i < 2 ? type : leave_type);
		class_add_u2(out, 0);
	}
	write_calibrate(out, calibrate, type, code, refs);
	class_add_u2(out, 0);
	class_out_release(&p.added);
}
