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
 * Calls the helper's methods, so that the machine finds their code before any class is rewritten.
 * If the agent was attached, the machine finds its symbols only some time after Agent_OnAttach(),
 * when the agent is in its list of libraries.
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

/* ---- calibration ---- */

#define RECORDS_OF_PAIR (2 + 2 * INPROC_COUNTS_MAX)

static struct {
	struct inproc_slot slot;
	struct inproc_record records[RECORDS_OF_PAIR * ROUND_PAIRS];
	uint32_t inner_ns[ROUNDS / 2 * ROUND_PAIRS], n; /* of empty calls */
} measured;

/* Adds the calls of a round. Those of the first rounds are not used, because the machine still
 * interprets and compiles the called code then. */
static void measure_round(const struct ring_thread *t)
{
	uint64_t since_ns = 0;

	for (uint64_t i = t->tail; i < t->head; i++) {
		const struct inproc_record *r = &t->records[i % t->size];

		if (r->kind == INPROC_ENTRY)
			since_ns = r->time_ns;
		if (r->kind == INPROC_EXIT && measured.n < ROUNDS / 2 * ROUND_PAIRS)
			measured.inner_ns[measured.n++] = (uint32_t)(r->time_ns - since_ns);
	}
}

static int by_ns(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static struct inproc_cost sum_up(void)
{
	const uint32_t *ns = measured.inner_ns, n = measured.n;
	uint64_t sum = 0;

	qsort(measured.inner_ns, n, sizeof(*ns), by_ns);
	for (uint32_t i = 0; i < n; i++)
		sum += ns[i];
	return n ? (struct inproc_cost){ ns[0], ns[n / 2], ns[n - 1 - n / 100], (uint32_t)(sum / n),
					 n }
		 : (struct inproc_cost){ 0 };
}

/* Runs the rounds, which write into a ring that nobody reads. */
static uint32_t run_rounds(JNIEnv *jni, jclass helper, struct ring_thread *t)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begin = ring_now_ns(), ns;

		if (!call(jni, helper, "calibrate", ROUND_PAIRS))
			return 0;
		ns = ring_now_ns() - begin;
		least = ns < least ? ns : least;
		if (i >= ROUNDS / 2)
			measure_round(t);
		t->tail = t->head;
	}
	return (uint32_t)(least / ROUND_PAIRS);
}

uint32_t helper_calibrate(JNIEnv *jni, jclass helper, struct ring_thread **scratch,
			  struct inproc_cost *cost)
{
	struct ring_thread *t = calloc(1, sizeof(*t));
	uint32_t pair_ns;

	*cost = (struct inproc_cost){ 0 };
	if (!t)
		return 0;
	t->slot = &measured.slot;
	t->records = measured.records;
	t->size = sizeof(measured.records) / sizeof(measured.records[0]);
	*scratch = t;
	pair_ns = run_rounds(jni, helper, t);
	*scratch = NULL;
	*cost = sum_up();
	count_release(&t->counts);
	free(t);
	return pair_ns;
}
