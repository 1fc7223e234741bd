/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Class files with calls put in. That the Java verifier takes them is in tests/live/java.t. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/java/agent/choose.h"
#include "probes/java/agent/classfile.h"
#include "probes/java/agent/code.h"
#include "probes/java/agent/name.h"
#include "probes/java/agent/rewrite.h"
#include "probes/java/agent/stackmap.h"

/*
 * javac -g of:
 *	class Sample {
 *		synchronized int choose(int k) { switch (k) { case 1: return 5; case 2: return 7;
 *			default: try { return Integer.parseInt("x"); }
 *			catch (NumberFormatException e) { return 0; } } }
 *		void block(Object o) { synchronized (o) { o.notify(); } }
 *		static synchronized native void machine();
 *	}
 */
static const char hex[] =
	"cafebabe0000003d002b0a000200030700040c000500060100106a6176612f6c616e672f4f626a6563740100"
	"063c696e69743e010003282956080008010001780a000a000b07000c0c000d000e0100116a6176612f6c616e"
	"672f496e74656765720100087061727365496e74010015284c6a6176612f6c616e672f537472696e673b2949"
	"07001001001f6a6176612f6c616e672f4e756d626572466f726d6174457863657074696f6e0a000200120c00"
	"1300060100066e6f7469667907001501000653616d706c65010004436f646501000f4c696e654e756d626572"
	"5461626c650100124c6f63616c5661726961626c655461626c65010004746869730100084c53616d706c653b"
	"01000663686f6f736501000428492949010001650100214c6a6176612f6c616e672f4e756d626572466f726d"
	"6174457863657074696f6e3b0100016b0100014901000d537461636b4d61705461626c65010005626c6f636b"
	"010015284c6a6176612f6c616e672f4f626a6563743b29560100016f0100124c6a6176612f6c616e672f4f62"
	"6a6563743b0700270100136a6176612f6c616e672f5468726f7761626c650100076d616368696e6501000a53"
	"6f7572636546696c6501000b53616d706c652e6a617661002000140002000000000004000000050006000100"
	"160000002f00010001000000052ab70001b10000000200170000000600010000000100180000000c00010000"
	"00050019001a00000020001b001c000100160000007f000100030000002a1bab000000000020000000020000"
	"00010000001b000000020000001d08ac1007ac1207b80009ac4d03ac0001002100260027000f000300170000"
	"0006000100000001001800000020000300280002001d001e00020000002a0019001a00000000002a001f0020"
	"000100210000000900041c01024507000f000000220023000100160000007500020004000000132b594dc22b"
	"b600112cc3a700084e2cc32dbfb100020004000a000d0000000d0010000d0000000300170000000600010000"
	"00020018000000160002000000130019001a0000000000130024002500010021000000180002ff000d000307"
	"00140700020700020001070026fa000401280028000600000001002900000002002a";

/*
 * javac -g:none of:
 *	class Guarded {
 *		synchronized int get(int k) { if (k > 0) return 1;
 *			throw new IllegalStateException(); }
 *		static synchronized void set() { }
 *		Guarded(Object o) { synchronized (o) { o.notify(); } }
 *	}
 */
static const char guarded_hex[] =
	"cafebabe0000003d001707000201001f6a6176612f6c616e672f496c6c6567616c5374617465457863657074"
	"696f6e0a000100040c000500060100063c696e69743e0100032829560a000800040700090100106a6176612f"
	"6c616e672f4f626a6563740a0008000b0c000c00060100066e6f7469667907000e0100074775617264656401"
	"000367657401000428492949010004436f646501000d537461636b4d61705461626c65010003736574010015"
	"284c6a6176612f6c616e672f4f626a6563743b29560700160100136a6176612f6c616e672f5468726f776162"
	"6c650020000d00080000000000030020000f00100001001100000023000200020000000e1b9e000504acbb00"
	"0159b70003bf00000001001200000003000106002800130006000100110000000d0000000000000001b10000"
	"0000000000050014000100110000005100020004000000172ab700072b594dc22bb6000a2cc3a700084e2cc3"
	"2dbfb100020008000e00110000001100140011000000010012000000180002ff0011000307000d0700080700"
	"080001070015fa00040000";

#define SAMPLE_MAX 4096

static uint8_t sample[SAMPLE_MAX];
static size_t sample_n;
static unsigned bits; /* what is wanted of each method */
static struct text_log {
	char s[2048];
} defined, was_left;
static uint32_t next_id;

static int read_sample(void **state)
{
	unsigned byte;

	for (const char *p = hex; sscanf(p, "%2x", &byte) == 1; p += 2)
		sample[sample_n++] = (uint8_t)byte;
	return 0;
}

static unsigned wanted(void *ctx, const struct rewrite_method *m)
{
	(void)ctx, (void)m;
	return bits;
}

static void note(struct text_log *log, const struct rewrite_method *m, const char *rest)
{
	char name[NAME_MAX_BYTES];
	size_t n = strlen(log->s);

	name_full(name, sizeof(name), m);
	snprintf(log->s + n, sizeof(log->s) - n, "%s%s;", name, rest);
}

static uint32_t define(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
		       const uint32_t *lines)
{
	uint32_t id = next_id;
	char rest[64];

	(void)ctx;
	snprintf(rest, sizeof(rest), " %s %u line %u", block ? "block" : "whole", n, lines[0]);
	note(&defined, m, rest);
	next_id += n;
	return id;
}

static void left(void *ctx, const struct rewrite_method *m, const char *why)
{
	(void)ctx;
	note(&was_left, m, strchr(why, ':') ? " no" : why);
}

static const struct rewrite_hooks hooks = { .wanted = wanted, .define = define, .left = left };

static int rewritten(const uint8_t *bytes, size_t n, unsigned wants, struct class_out *out)
{
	bits = wants;
	next_id = 0;
	*defined.s = *was_left.s = '\0';
	*out = (struct class_out){ 0 };
	return rewrite_class(bytes, n, &hooks, out);
}

static void test_whole_and_blocks(void **state)
{
	struct class_out out, again;

	assert_int_equal(rewritten(sample, sample_n, REWRITE_WHOLE | REWRITE_BLOCKS, &out),
			 REWRITE_DONE);
	assert_string_equal(defined.s, "Sample.choose(int) whole 1 line 1;"
				       "Sample.block(Object) block 1 line 2;"
				       "Sample.block(Object) whole 1 line 2;");
	assert_string_equal(was_left.s, "Sample.<init>() no;Sample.machine() no;");
	/* It is a class file again, with the same methods. */
	assert_int_equal(rewritten(out.p, out.n, REWRITE_WHOLE, &again), REWRITE_DONE);
	assert_string_equal(defined.s, "Sample.choose(int) whole 1 line 1;"
				       "Sample.block(Object) whole 1 line 2;");
	class_out_release(&again);
	class_out_release(&out);
}

/* ldc_w and invokestatic, as often as there are places: 6 bytes and, at the end, athrow. */
static unsigned count_calls(const struct class_out *out)
{
	unsigned n = 0;

	for (size_t i = 0; i + 6 <= out->n; i++)
		n += out->p[i] == 0x13 && out->p[i + 3] == 0xb8;
	return n;
}

static void test_each_place_has_its_call(void **state)
{
	struct class_out out;

	rewritten(sample, sample_n, REWRITE_BLOCKS, &out);
	/* one monitorenter, and a monitorexit on either way out */
	assert_int_equal(count_calls(&out), 3);
	class_out_release(&out);
	rewritten(sample, sample_n, REWRITE_WHOLE, &out);
	/* choose(): begin, four returns, handler; block(): begin, one return, handler */
	assert_int_equal(count_calls(&out), 6 + 3);
	class_out_release(&out);
	assert_int_equal(rewritten(sample, sample_n, 0, &out), REWRITE_NOTHING);
	assert_null(out.p);
}

/* Calls whose place in the class is behind these bytes. */
static unsigned count_behind(const struct class_out *out, const uint8_t *before, size_t n)
{
	unsigned found = 0;

	for (size_t i = n; i + 6 <= out->n; i++)
		found += out->p[i] == 0x13 && out->p[i + 3] == 0xb8 &&
			 !memcmp(out->p + i - n, before, n);
	return found;
}

/* Where a method ends the monitor is handed over: aload_0; ldc_w of the class. */
static void test_monitors_are_told(void **state)
{
	static uint8_t guarded[sizeof(guarded_hex) / 2];
	struct class_out out;
	unsigned byte;
	size_t n = 0;

	for (const char *p = guarded_hex; sscanf(p, "%2x", &byte) == 1; p += 2)
		guarded[n++] = (uint8_t)byte;
	assert_int_equal(rewritten(guarded, n, REWRITE_WHOLE, &out), REWRITE_DONE);
	/* get(): one return and the handler */
	assert_int_equal(count_behind(&out, (const uint8_t[]){ 0x2a }, 1), 2);
	assert_int_equal(count_behind(&out, (const uint8_t[]){ 0x13, 0, 13 }, 3), 2);
	class_out_release(&out);
	/* the block of a constructor may be of an object that is none yet: no dup */
	rewritten(guarded, n, REWRITE_BLOCKS, &out);
	assert_int_equal(count_behind(&out, (const uint8_t[]){ 0x59 }, 1), 0);
	class_out_release(&out);
	rewritten(sample, sample_n, REWRITE_BLOCKS, &out);
	assert_int_equal(count_behind(&out, (const uint8_t[]){ 0x59 }, 1), 2);
	class_out_release(&out);
}

/* A method that waits for the lock that its object is hands it over at its begin, too. */
static void test_locks_are_told(void **state)
{
	struct class_out out;

	assert_int_equal(rewritten(sample, sample_n, REWRITE_LOCK, &out), REWRITE_DONE);
	assert_string_equal(defined.s, "");
	/* choose(): begin, four returns, handler; block(): begin, one return, handler */
	assert_int_equal(count_calls(&out), 6 + 3);
	assert_int_equal(count_behind(&out, (const uint8_t[]){ 0x2a }, 1), 6 + 3);
	class_out_release(&out);
	/* a method that is recorded itself is a call like any other */
	rewritten(sample, sample_n, REWRITE_LOCK | REWRITE_WHOLE, &out);
	assert_int_equal(count_calls(&out), 6 + 3);
	assert_int_not_equal(count_behind(&out, (const uint8_t[]){ 0x2a }, 1), 6 + 3);
	class_out_release(&out);
}

static void test_java_locks_are_known(void **state)
{
	static const char name[] = "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire";
	static const char node[] =
		"(Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$Node;IZZZJ)I";

	assert_true(choice_is_lock(name, node, strlen(node)));
	assert_false(choice_is_lock(name, "(I)V", 4)); /* which tries first */
	assert_true(
		choice_is_lock("java.util.concurrent.locks.StampedLock.acquireRead", "(ZJ)J", 5));
	assert_false(choice_is_lock("com.example.Queue.acquire", node, strlen(node)));
	assert_true(choice_has_locks("java.util.concurrent.locks.AbstractQueuedSynchronizer"));
	assert_false(choice_has_locks("java.util.concurrent.locks.ReentrantLock"));
}

static bool keeps_this(const char *instructions, size_t n)
{
	struct code c = { .bytes = (const uint8_t *)instructions, .n = (uint32_t)n };

	return bytecode_keeps_this(&c, "(J[Ljava/lang/String;I)V", 24);
}
#define KEEPS_THIS(s) keeps_this(s, sizeof(s) - 1)

static void test_this_may_be_gone(void **state)
{
	assert_true(KEEPS_THIS("\x2a\x4c\x3a\x01\xb1"));   /* aload_0; astore_1; astore 1 */
	assert_false(KEEPS_THIS("\x2b\x4b\xb1"));	   /* aload_1; astore_0 */
	assert_false(KEEPS_THIS("\x03\x36\0\xb1"));	   /* iconst_0; istore 0 */
	assert_false(KEEPS_THIS("\x09\xc4\x37\0\0\xb1"));  /* lconst_0; wide lstore 0 */
	assert_true(KEEPS_THIS("\x09\xc4\x37\x01\0\xb1")); /* wide lstore 256 */
}

#define KEEPS_FIRST(s, n) stackmap_keeps_first((const uint8_t *)(s), sizeof(s) - 1, n)

static void test_frames_may_lose_the_first(void **state)
{
	assert_true(KEEPS_FIRST("\0\1\x05", 1));		   /* same */
	assert_true(KEEPS_FIRST("\0\1\xfa\0\0", 2));		   /* chop one of two */
	assert_false(KEEPS_FIRST("\0\1\xfa\0\0", 1));		   /* and the only one */
	assert_true(KEEPS_FIRST("\0\2\xfc\0\0\1\xfa\0\0", 1));	   /* append, chop */
	assert_false(KEEPS_FIRST("\0\2\xfc\0\0\1\xf9\0\0", 1));	   /* append, chop two */
	assert_true(KEEPS_FIRST("\0\1\xff\0\0\0\1\7\0\2\0\0", 3)); /* full: an object */
	assert_false(KEEPS_FIRST("\0\1\xff\0\0\0\1\1\0\0", 3));	   /* an int */
	assert_false(KEEPS_FIRST("\0\1\xff\0\0\0\0\0\0", 3));	   /* nothing */
	assert_false(KEEPS_FIRST("\0\1\x80", 1));		   /* no such frame */
	assert_false(KEEPS_FIRST("\0\2\x05", 1));		   /* cut off */
}

/* On a copy, so that memory checkers see each byte too far. */
static int of_copy(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct class_out out;
	int ret;

	memcpy(copy, bytes, n);
	ret = rewritten(copy, n, REWRITE_WHOLE | REWRITE_BLOCKS, &out);
	class_out_release(&out);
	free(copy);
	return ret;
}

static void test_cut_off(void **state)
{
	for (size_t n = 0; n < sample_n; n++)
		assert_int_not_equal(of_copy(sample, n), REWRITE_DONE);
}

static void test_damaged(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	unsigned refused = 0;

	for (size_t i = 0; i < sample_n; i++)
		for (size_t k = 0; k < sizeof(flips); k++) {
			sample[i] ^= flips[k];
			refused += of_copy(sample, sample_n) != REWRITE_DONE;
			sample[i] ^= flips[k];
		}
	assert_true(refused > 0);
	assert_int_equal(of_copy(sample, sample_n), REWRITE_DONE);
}

#define POOL_AT	      8 /* its count, of a class file */
#define INTEGER_BYTES 5
#define POOL_MOST     65535
#define ROOM_MOST     24 /* constants: enough for the calls of both methods */

/* The class with so many constants more, behind its own. */
static uint8_t *with_constants(uint32_t more, size_t *n)
{
	struct class_reader r = { .p = sample + POOL_AT, .end = sample + sample_n };
	struct class_pool pool;
	uint8_t *bytes, *p;
	size_t end;

	assert_true(class_pool_read(&pool, sample, &r));
	end = (size_t)(r.p - sample);
	*n = sample_n + more * INTEGER_BYTES;
	bytes = malloc(*n);
	p = mempcpy(bytes, sample, end);
	bytes[POOL_AT] = (uint8_t)((pool.n + more) >> 8);
	bytes[POOL_AT + 1] = (uint8_t)(pool.n + more);
	for (uint32_t i = 0; i < more; i++)
		p = mempcpy(p, "\x03\0\0\0\0", INTEGER_BYTES);
	memcpy(p, sample + end, sample_n - end);
	class_pool_release(&pool);
	return bytes;
}

/* Where there is room for the constants of some methods these are recorded, and only these. */
static void test_pool_nearly_full(void **state)
{
	struct class_reader r = { .p = sample + POOL_AT, .end = sample + sample_n };
	uint32_t own = class_u2(&r);
	bool some = false;

	for (uint32_t room = 0; room <= ROOM_MOST; room++) {
		size_t n;
		uint8_t *bytes = with_constants(POOL_MOST - own - room, &n);
		struct class_out out, again;
		int ret = rewritten(bytes, n, REWRITE_WHOLE, &out);
		bool no_first = strstr(was_left.s, "choose(int)its class has too many constants;");
		bool no_second = strstr(was_left.s, "block(Object)its class has too many");

		/* what is not said to be left alone is recorded */
		assert_int_equal(ret, no_first ? REWRITE_NOTHING : REWRITE_DONE);
		some |= no_second && !no_first;
		if (ret == REWRITE_DONE)
			assert_int_equal(rewritten(out.p, out.n, 0, &again), REWRITE_NOTHING);
		class_out_release(&out);
		free(bytes);
	}
	assert_true(some);
}

static void test_helper_is_a_class(void **state)
{
	struct class_out helper = { 0 }, out;

	rewrite_helper(&helper);
	assert_int_equal(rewritten(helper.p, helper.n, REWRITE_WHOLE, &out), REWRITE_DONE);
	assert_string_equal(defined.s, "java.lang.IspotProbe.calibrate(int) whole 1 line 0;");
	assert_string_equal(was_left.s, "java.lang.IspotProbe.enter(int) no;"
					"java.lang.IspotProbe.exit(int) no;"
					"java.lang.IspotProbe.leave(Object,int) no;");
	class_out_release(&out);
	class_out_release(&helper);
}

static unsigned chosen(const char *a, const char *b, const char *name, bool is_synchronized,
		       bool platform)
{
	struct choice c = { 0 };
	unsigned ret;

	if (a)
		choice_add(&c, a);
	if (b)
		choice_add(&c, b);
	ret = choice_wanted(&c, name, is_synchronized, platform);
	for (size_t i = 0; i < c.n; i++)
		free(c.patterns[i]);
	free(c.patterns);
	return ret;
}

static void test_choice(void **state)
{
	const unsigned both = REWRITE_WHOLE | REWRITE_BLOCKS;

	assert_int_equal(chosen(NULL, NULL, "a.B.c", true, false), both);
	assert_int_equal(chosen(NULL, NULL, "a.B.c", false, false), REWRITE_BLOCKS);
	assert_int_equal(chosen(NULL, NULL, "java.util.Vector.add", true, true), 0);
	assert_int_equal(chosen("!a.B.*", NULL, "a.B.c", true, false), 0);
	assert_int_equal(chosen("!a.B.*", NULL, "a.C.c", true, false), both);
	assert_int_equal(chosen("a.B.c", NULL, "a.B.c", false, false), both);
	assert_int_equal(chosen("B.c", NULL, "a.B.c", false, false), both);
	assert_int_equal(chosen("c", NULL, "a.B.c", false, false), both);
	assert_int_equal(chosen("a.*", "!*.c", "a.B.c", false, false), 0);
	assert_int_equal(chosen("a.*", NULL, "b.a.c", false, false), both);
	assert_int_equal(chosen("x.*", NULL, "a.B.c", true, false), 0);
	assert_int_equal(chosen("synchronized:a.*", NULL, "a.B.c", false, false), REWRITE_BLOCKS);
	assert_int_equal(chosen("synchronized:java.*", NULL, "java.util.Vector.add", true, true),
			 both);
}

static void test_names(void **state)
{
#define TEXT(words)                      \
	{                                \
		words, sizeof(words) - 1 \
	}
	const struct rewrite_method m = { .class_name = TEXT("a/b/C$D"),
					  .name = TEXT("m"),
					  .signature = TEXT("(I[[Ljava/lang/String;Lx;J)V") };
	char name[NAME_MAX_BYTES], small[12];

	name_full(name, sizeof(name), &m);
	assert_string_equal(name, "a.b.C$D.m(int,String[][],x,long)");
	name_full(small, sizeof(small), &m);
	assert_string_equal(small, "a.b.C$D.m(i");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_and_blocks),
		cmocka_unit_test(test_each_place_has_its_call),
		cmocka_unit_test(test_monitors_are_told),
		cmocka_unit_test(test_locks_are_told),
		cmocka_unit_test(test_java_locks_are_known),
		cmocka_unit_test(test_this_may_be_gone),
		cmocka_unit_test(test_frames_may_lose_the_first),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_pool_nearly_full),
		cmocka_unit_test(test_helper_is_a_class),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, read_sample, NULL);
}
