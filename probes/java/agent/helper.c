// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/helper.h"

#include <jni.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "probes/java/agent/rewrite.h"
#include "probes/java/agent/ring.h"

#define BIND_TRIES   500
#define BIND_TURN_US 10000
#define ROUNDS	     16
#define ROUND_PAIRS  500

static jclass define(JNIEnv *jni)
{
	struct class_out out = { 0 };
	jclass helper = NULL;

	rewrite_helper(&out);
	if (!out.failed)
		helper = (*jni)->DefineClass(jni, REWRITE_HELPER, NULL, (const jbyte *)out.p,
					     (jsize)out.n);
	class_out_release(&out);
	(*jni)->ExceptionClear(jni);
	return helper;
}

static bool went_well(JNIEnv *jni)
{
	if (!(*jni)->ExceptionCheck(jni))
		return true;
	(*jni)->ExceptionClear(jni);
	return false;
}

static bool call(JNIEnv *jni, jclass helper, const char *name, jint value)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, helper, name, "(I)V");

	if (method)
		(*jni)->CallStaticVoidMethod(jni, helper, method, value);
	return went_well(jni);
}

static bool call_leave(JNIEnv *jni, jclass helper, jint value)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, helper, "leave", REWRITE_LEAVE_TYPE);

	if (method)
		(*jni)->CallStaticVoidMethod(jni, helper, method, NULL, value);
	return went_well(jni);
}

/*
 * Calls its methods, which has the machine find them: only when that has been is any class
 * rewritten. Of a library that attaches it looks at the symbols when the library is in its list,
 * which is after Agent_OnAttach().
 */
static bool bind(JNIEnv *jni, jclass helper)
{
	for (unsigned i = 0; i < BIND_TRIES; i++) {
		if (call(jni, helper, "enter", HELPER_NOBODY) &&
		    call(jni, helper, "exit", HELPER_NOBODY) &&
		    call_leave(jni, helper, HELPER_NOBODY))
			return true;
		usleep(BIND_TURN_US);
	}
	return false;
}

jclass helper_define(JNIEnv *jni)
{
	jclass helper = define(jni);

	return helper && bind(jni, helper) ? helper : NULL;
}

/* Into a ring that nobody reads. */
uint32_t helper_calibrate(JNIEnv *jni, jclass helper, struct ring_thread **scratch)
{
	static struct inproc_slot slot;
	static struct inproc_record records[2 * ROUND_PAIRS];
	struct ring_thread *t = calloc(1, sizeof(*t));
	uint64_t least = UINT64_MAX;
	bool called = true;

	if (!t)
		return 0;
	t->slot = &slot;
	t->records = records;
	t->size = sizeof(records) / sizeof(records[0]);
	*scratch = t;
	for (unsigned i = 0; called && i < ROUNDS; i++) {
		uint64_t begin = ring_now_ns(), ns;

		called = call(jni, helper, "calibrate", ROUND_PAIRS);
		ns = ring_now_ns() - begin;
		least = ns < least ? ns : least;
		t->tail = t->head;
	}
	*scratch = NULL;
	free(t);
	return called ? (uint32_t)(least / ROUND_PAIRS) : 0;
}
