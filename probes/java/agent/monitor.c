// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/monitor.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probes/inproc/inproc.h"
#include "probes/java/agent/ids.h"
#include "probes/java/agent/name.h"
#include "probes/java/agent/ring.h"

#define TABLE  (2u * INPROC_LOCKS_MAX)
#define LATEST 16 /* monitors that are searched when one is released */

/* Numbers are looked up without the lock. Only a thread with a new object takes it. */
static struct {
	pthread_mutex_t lock;
	atomic_bool full;
	uint32_t n;
	_Atomic uint32_t waiting; /* threads that wait for any monitor */
	_Atomic uint32_t latest[LATEST], next;
	struct {
		jweak object; /* never deleted: another thread may be comparing with it */
		uint32_t hash;
		_Atomic uint32_t waiting;
	} all[INPROC_LOCKS_MAX + 1]; /* [number] */
	_Atomic uint32_t at[TABLE];  /* hash table, searched on from the hash: numbers; 0: free */
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint32_t monitor_hash(jvmtiEnv *jvmti, jobject object)
{
	jint hash = 0;

	(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
	return (uint32_t)hash;
}

/* Returns the place of an object's number, or the free place where it belongs. */
static _Atomic uint32_t *find(JNIEnv *jni, jobject object, uint32_t hash)
{
	for (uint32_t i = hash * 0x9e3779b9u;; i++) {
		_Atomic uint32_t *at = &seen.at[i % TABLE];
		uint32_t is = atomic_load_explicit(at, memory_order_acquire);

		if (!is || (seen.all[is].hash == hash &&
			    (*jni)->IsSameObject(jni, seen.all[is].object, object)))
			return at;
	}
}

/* ---- names ---- */

/* Names the object as Java does: "Store@1b28cdfa", and a class "Store.class". */
static void name_of(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, uint32_t hash, char *buf,
		    size_t n)
{
	char *signature = NULL, class_name[NAME_MAX_BYTES] = "";
	jclass class = (*jni)->GetObjectClass(jni, object);
	jclass of_classes = (*jni)->GetObjectClass(jni, class);
	bool is_class = (*jni)->IsSameObject(jni, class, of_classes);

	(*jvmti)->GetClassSignature(jvmti, is_class ? object : class, &signature, NULL);
	(*jni)->DeleteLocalRef(jni, class);
	(*jni)->DeleteLocalRef(jni, of_classes);
	if (signature)
		name_class(class_name, sizeof(class_name), signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (is_class)
		snprintf(buf, n, "%s.class", class_name);
	else
		snprintf(buf, n, "%s@%x", class_name, hash);
}

static bool add(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, uint32_t hash, _Atomic uint32_t *at)
{
	char name[NAME_MAX_BYTES + 16];
	jweak kept;

	if (seen.n == INPROC_LOCKS_MAX)
		return false;
	kept = (*jni)->NewWeakGlobalRef(jni, object);
	if (!kept)
		return false;
	name_of(jvmti, jni, object, hash, name, sizeof(name));
	if (!ids_row(seen.n + 1, INPROC_LOCK, 0, name, "")) {
		(*jni)->DeleteWeakGlobalRef(jni, kept);
		return false;
	}
	seen.n++;
	seen.all[seen.n].object = kept;
	seen.all[seen.n].hash = hash;
	atomic_store_explicit(at, seen.n, memory_order_release);
	return true;
}

static uint32_t new_number(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, uint32_t hash)
{
	_Atomic uint32_t *at;

	pthread_mutex_lock(&seen.lock);
	at = find(jni, object, hash);
	if (!*at && !seen.full && !add(jvmti, jni, object, hash, at)) {
		seen.full = true;
		ids_notice("threads waited for more different monitors than are told apart: of the "
			   "later ones it is not known which they are");
	}
	pthread_mutex_unlock(&seen.lock);
	return *at;
}

uint32_t monitor_number(jvmtiEnv *jvmti, JNIEnv *jni, jobject object)
{
	uint32_t hash = monitor_hash(jvmti, object), is = *find(jni, object, hash);

	return is || seen.full ? is : new_number(jvmti, jni, object, hash);
}

bool monitor_is_lock_class(jvmtiEnv *jvmti, jclass class)
{
	static const char package[] = "Ljava/util/concurrent/locks/";
	char *signature = NULL;
	bool is;

	(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL);
	is = signature && !strncmp(signature, package, strlen(package));
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return is;
}

/* ---- who waits for them ---- */

static void make_latest(uint32_t number)
{
	for (uint32_t i = 0; i < LATEST; i++)
		if (atomic_load_explicit(&seen.latest[i], memory_order_relaxed) == number)
			return;
	/* replaces one that nobody waits for, if there is one */
	for (uint32_t i = 0; i < LATEST; i++)
		if (!seen.all[seen.latest[i]].waiting) {
			seen.latest[i] = number;
			return;
		}
	seen.latest[seen.next++ % LATEST] = number;
}

void monitor_wait_begins(uint32_t number)
{
	seen.waiting++;
	if (!number)
		return;
	seen.all[number].waiting++;
	make_latest(number);
}

void monitor_wait_over(struct ring_thread *t, uint64_t now_ns)
{
	if (t->awaits)
		seen.all[t->awaits].waiting--;
	seen.waiting--;
	ring_add(t, now_ns, INPROC_TOOK, 0, t->awaits);
	t->wait_since_ns = 0;
}

uint32_t monitor_awaited(JNIEnv *jni, jobject object)
{
	if (!object || !atomic_load_explicit(&seen.waiting, memory_order_relaxed))
		return 0;
	for (uint32_t i = 0; i < LATEST; i++) {
		uint32_t number = atomic_load_explicit(&seen.latest[i], memory_order_relaxed);

		if (number && seen.all[number].waiting &&
		    (*jni)->IsSameObject(jni, seen.all[number].object, object))
			return number;
	}
	return 0;
}
