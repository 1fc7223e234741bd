// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/context.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/inproc/inproc.h"
#include "probes/java/agent/ids.h"
#include "probes/java/agent/monitor.h"
#include "probes/java/agent/name.h"

#define STACKS_TABLE  (1u << 15) /* half of it is used */
#define FRAMES_TABLE  (1u << 16)
#define HELPER_FRAMES 1 /* the innermost frames of a call's stack, which are the helper's */

struct known {
	_Atomic uint64_t key; /* 0: free; written after the id */
	uint32_t id;
};

/* Stacks are looked up without the lock. Only a thread with a new stack takes it. */
static struct {
	pthread_mutex_t lock;
	atomic_bool full;
	uint32_t n_stacks, n_frames;
	struct known stacks[STACKS_TABLE], frames[FRAMES_TABLE];
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

static uint64_t key_of(const jvmtiFrameInfo *frames, jint n)
{
	uint64_t h = 0xcbf29ce484222325;

	for (jint i = 0; i < n; i++)
		h = mix(mix(h, (uintptr_t)frames[i].method), (uint64_t)frames[i].location);
	return h ? h : 1;
}

/* Returns the place of a key, or the free place where it belongs. */
static struct known *find(struct known *table, uint32_t room, uint64_t key)
{
	for (uint64_t i = key;; i++) {
		struct known *at = &table[i & (room - 1)];
		uint64_t is = atomic_load_explicit(&at->key, memory_order_acquire);

		if (!is || is == key)
			return at;
	}
}

static void publish(struct known *at, uint64_t key, uint32_t id)
{
	at->id = id;
	atomic_store_explicit(&at->key, key, memory_order_release);
}

/* ---- frames ---- */

static uint32_t line_of(jvmtiEnv *jvmti, const jvmtiFrameInfo *f)
{
	jvmtiLineNumberEntry *rows = NULL;
	uint32_t line = 0;
	jlocation best = -1;
	jint n = 0;

	if ((*jvmti)->GetLineNumberTable(jvmti, f->method, &n, &rows) != JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < n; i++)
		if (rows[i].start_location <= f->location && rows[i].start_location >= best) {
			best = rows[i].start_location;
			line = (uint32_t)rows[i].line_number;
		}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)rows);
	return line;
}

/* "Lcom/example/Store;" */
static struct class_text inner_text(const char *class_name)
{
	size_t n = strlen(class_name);

	return n > 2 ? (struct class_text){ class_name + 1, (uint32_t)n - 2 }
		     : (struct class_text){ "", 0 };
}

static bool write_frame(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *f, uint32_t id)
{
	char *class_name = NULL, *source = NULL, *name = NULL, *signature = NULL;
	char full[NAME_MAX_BYTES] = "";
	jclass class = NULL;
	bool told;

	(*jvmti)->GetMethodDeclaringClass(jvmti, f->method, &class);
	if (class)
		(*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL);
	if (class)
		(*jvmti)->GetSourceFileName(jvmti, class, &source);
	if (class_name && (*jvmti)->GetMethodName(jvmti, f->method, &name, &signature, NULL) ==
				  JVMTI_ERROR_NONE) {
		const struct rewrite_method m = {
			.class_name = inner_text(class_name),
			.name = { name, (uint32_t)strlen(name) },
			.signature = { signature, (uint32_t)strlen(signature) },
		};

		name_full(full, sizeof(full), &m);
	}
	told = ids_row(id, INPROC_FRAME, line_of(jvmti, f), full, source ? source : "");
	(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)source);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*jni)->DeleteLocalRef(jni, class);
	return told;
}

/* Returns false if there is no room. */
static bool frame_id(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *f, uint32_t *id)
{
	uint64_t key = key_of(f, 1);
	struct known *at = find(seen.frames, FRAMES_TABLE, key);

	if (!at->key) {
		if (seen.n_frames >= FRAMES_TABLE / 2 || !write_frame(jvmti, jni, f, seen.n_frames))
			return false;
		publish(at, key, seen.n_frames++);
	}
	*id = at->id;
	return true;
}

/* ---- stacks ---- */

static bool write_stack(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n,
			bool waits)
{
	char ids[INPROC_FRAMES_MAX * 12], *p = ids;
	uint32_t id;

	for (jint i = 0; i < n; i++) {
		if (!frame_id(jvmti, jni, &frames[i], &id))
			return false;
		p += sprintf(p, "%s%u", i ? " " : "", id);
	}
	return seen.n_stacks < STACKS_TABLE / 2 &&
	       ids_row(seen.n_stacks + 1, INPROC_FRAMES, waits, ids, "");
}

static uint32_t new_stack(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n,
			  bool waits, uint64_t key)
{
	struct known *at;
	uint32_t id = 0;

	pthread_mutex_lock(&seen.lock);
	at = find(seen.stacks, STACKS_TABLE, key);
	if (!at->key && !seen.full) {
		if (write_stack(jvmti, jni, frames, n, waits)) {
			publish(at, key, ++seen.n_stacks);
		} else {
			seen.full = true;
			ids_notice("there were more different call stacks than are kept: later "
				   "calls have none");
		}
	}
	if (at->key)
		id = at->id;
	pthread_mutex_unlock(&seen.lock);
	return id;
}

static bool is_of_locks(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
	jclass class = NULL;
	bool is;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
		return false;
	is = monitor_is_lock_class(jvmti, class);
	(*jni)->DeleteLocalRef(jni, class);
	return is;
}

/* Returns the number of frames inside of a lock of java.util.concurrent: who takes it is further
 * out. */
static jint frames_of_lock(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n)
{
	jint i = 0;

	while (i + 1 < n && is_of_locks(jvmti, jni, frames[i].method))
		i++;
	return i;
}

uint32_t context_record(jvmtiEnv *jvmti, JNIEnv *jni, bool in_helper, bool waits)
{
	jvmtiFrameInfo all[INPROC_FRAMES_MAX], *frames = all;
	const struct known *at;
	uint64_t key;
	jint n = 0, inside;

	if ((*jvmti)->GetStackTrace(jvmti, NULL, in_helper ? HELPER_FRAMES : 0, INPROC_FRAMES_MAX,
				    all, &n) != JVMTI_ERROR_NONE ||
	    n <= 0)
		return 0;
	inside = in_helper && waits ? frames_of_lock(jvmti, jni, all, n) : 0;
	frames += inside;
	n -= inside;
	key = key_of(frames, n) ^ waits;
	at = find(seen.stacks, STACKS_TABLE, key);
	return at->key ? at->id : new_stack(jvmti, jni, frames, n, waits, key);
}
