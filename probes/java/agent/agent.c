// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The agent that a Java machine loads (JVMTI). It rewrites classes as they are loaded, and those
 * that are loaded already, and writes records of their calls into the process's region (ring.h). If
 * anything fails, the program runs on as without the agent: no function here ends the machine.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/java/agent/choose.h"
#include "probes/java/agent/context.h"
#include "probes/java/agent/count.h"
#include "probes/java/agent/helper.h"
#include "probes/java/agent/ids.h"
#include "probes/java/agent/monitor.h"
#include "probes/java/agent/name.h"
#include "probes/java/agent/rewrite.h"
#include "probes/java/agent/ring.h"
#include "probes/java/agent/virtual.h"

#define UNIT_NS	     256 /* of records' values */
#define STACKS_TIMED 16
#define VISIBLE	     __attribute__((visibility("default")))

JNIEXPORT void JNICALL Java_java_lang_IspotProbe_enter(JNIEnv *jni, jclass self, jint id);
JNIEXPORT void JNICALL Java_java_lang_IspotProbe_exit(JNIEnv *jni, jclass self, jint ids);
JNIEXPORT void JNICALL Java_java_lang_IspotProbe_leave(JNIEnv *jni, jclass self, jobject monitor,
						       jint ids);

static struct {
	jvmtiEnv *jvmti;
	struct choice choice;
	uint64_t ring_bytes;
	uint64_t stacks_ns; /* calls that last at least this long get a stack; 0: none do */
	jobject platform_loader;
	struct ring_thread *scratch; /* its calls are those of the calibration */
	_Atomic bool rewrote;	     /* a class was rewritten since this was last set to false */
} agent = { .ring_bytes = INPROC_RING_BYTES };

/* ---- what rewritten methods call ---- */

static uint32_t units_of(uint64_t ns)
{
	uint64_t units = ns / UNIT_NS;

	return units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

/* Returns how long the thread waited, at least 1, if it waited for the monitor of the calling
 * method; 0 otherwise. */
static uint32_t end_wait(struct ring_thread *t)
{
	jmethodID method = NULL;
	jlocation unused;
	uint32_t units = units_of(t->waited_ns);

	t->waited_ns = 0;
	if ((*agent.jvmti)->GetFrameLocation(agent.jvmti, NULL, 1, &method, &unused) !=
		    JVMTI_ERROR_NONE ||
	    method != t->waited_in)
		return 0;
	return units ? units : 1;
}

static struct ring_thread *thread_of(jint id)
{
	struct ring_thread *t;

	if (id < 0)
		return id == REWRITE_CALIBRATE ? agent.scratch : NULL;
	if (!ring_recording())
		return NULL;
	t = ring_thread();
	if (!t)
		ring_lose();
	return t;
}

/* Called at the begin of a recorded call. The machine finds the helper's native methods by their
 * names among the symbols of its agents. */
VISIBLE JNIEXPORT void JNICALL Java_java_lang_IspotProbe_enter(JNIEnv *jni, jclass self, jint id)
{
	struct ring_thread *t = thread_of(id);
	uint64_t counts[INPROC_COUNTS_MAX];
	uint32_t depth, waited;
	bool counted;

	(void)jni;
	(void)self;
	if (!t)
		return;
	if (t->depth == INPROC_DEPTH_MAX) {
		t->too_deep++;
		ring_lose();
		return;
	}
	waited = t->waited_ns ? end_wait(t) : 0;
	depth = t->depth++;
	t->ids[depth] = (uint32_t)id & (INPROC_IDS_MAX - 1);
	counted = count_any() && count_read(&t->counts, counts);
	t->since_ns[depth] = ring_now_ns();
	if (counted)
		count_write(t, &t->counts, t->since_ns[depth], counts);
	if (waited)
		ring_add(t, t->since_ns[depth], INPROC_WAITED, waited, 0);
	ring_add(t, t->since_ns[depth], INPROC_ENTRY, t->ids[depth], depth);
}

/* Records the thread's stack and returns its id. Each of a thread's first stacks is timed, later
 * one of several, because reading the time has a cost, too. */
static uint32_t record_stack(struct ring_thread *t, JNIEnv *jni, bool in_helper, bool waits)
{
	uint32_t stands_for = t->stacks < STACKS_TIMED ? 1 : STACKS_TIMED, id;
	bool is_timed = t->stacks++ % stands_for == 0;
	uint64_t begin = is_timed ? ring_cpu_ns() : 0;

	id = context_record(agent.jvmti, jni, in_helper, waits);
	if (is_timed)
		ring_costs_since(begin, stands_for);
	return id;
}

static void write_stack(struct ring_thread *t, JNIEnv *jni, uint64_t exit_ns)
{
	uint32_t id = record_stack(t, jni, true, false);

	if (id)
		ring_add(t, exit_ns, INPROC_STACK, id, 0);
}

/*
 * Records for how long the thread held the monitor, if another thread waits for it. If the thread
 * called Object.wait() meanwhile, nothing is recorded: the machine reports the end of that wait
 * before the thread has the monitor again, so nobody knows when that was.
 */
static void write_hold(struct ring_thread *t, JNIEnv *jni, jobject monitor, uint64_t since_ns,
		       uint64_t now_ns)
{
	uint32_t number = monitor_awaited(jni, monitor);

	if (!number ||
	    (t->slept_ns > since_ns && t->slept_at == monitor_hash(agent.jvmti, monitor)))
		return;
	ring_add(t, now_ns, INPROC_HELD, units_of(now_ns - since_ns), number);
}

/* Ends the innermost open call of one of these ids. Calls inside it that are still open get no end.
 * monitor: the one that the call releases; NULL: none, or it is unknown. */
static void end_call(JNIEnv *jni, jint ids, jobject monitor)
{
	uint64_t now = ring_now_ns();
	struct ring_thread *t = thread_of(ids);
	uint32_t first = (uint32_t)ids & (INPROC_IDS_MAX - 1);
	uint32_t more = (uint32_t)ids >> REWRITE_ID_BITS;
	uint64_t counts[INPROC_COUNTS_MAX];
	bool counted = t && count_any() && count_read(&t->counts, counts);

	if (!t)
		return;
	if (t->too_deep) {
		t->too_deep--;
		ring_lose();
		return;
	}
	for (uint32_t i = t->depth; i-- > t->base;)
		if (t->ids[i] - first <= more) {
			t->depth = i;
			if (agent.stacks_ns && t != agent.scratch &&
			    now - t->since_ns[i] >= agent.stacks_ns)
				write_stack(t, jni, now);
			if (monitor)
				write_hold(t, jni, monitor, t->since_ns[i], now);
			if (counted)
				count_write(t, &t->counts, now, counts);
			ring_add(t, now, INPROC_EXIT, t->ids[i], i);
			return;
		}
}

VISIBLE JNIEXPORT void JNICALL Java_java_lang_IspotProbe_exit(JNIEnv *jni, jclass self, jint ids)
{
	(void)self;
	end_call(jni, ids, NULL);
}

/* ---- waits for locks ---- */

/* Records the stack before the wait begins, so that recording it is no part of the wait. */
static void begin_wait(JNIEnv *jni, struct ring_thread *t, jobject lock, bool is_monitor)
{
	/* a wait for a lock is reported by the helper, whose frame is then on the stack */
	uint32_t stack = record_stack(t, jni, !is_monitor, true);

	t->is_monitor = is_monitor;
	t->awaits = monitor_number(agent.jvmti, jni, lock);
	monitor_wait_begins(t->awaits);
	t->wait_since_ns = ring_now_ns();
	ring_add(t, t->wait_since_ns, INPROC_AWAITS, stack, t->awaits);
}

/* Latches, semaphores and others queue in the same methods, but who waits there need not wait for a
 * lock. */
static bool is_lock(JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	bool is = monitor_is_lock_class(agent.jvmti, class);

	(*jni)->DeleteLocalRef(jni, class);
	return is;
}

static void begin_lock_wait(JNIEnv *jni, jobject lock)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	if (t && !t->wait_since_ns && is_lock(jni, lock))
		begin_wait(jni, t, lock, false);
}

static void end_lock_wait(void)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	if (t && t->wait_since_ns && !t->is_monitor)
		monitor_wait_over(t, ring_now_ns());
}

VISIBLE JNIEXPORT void JNICALL Java_java_lang_IspotProbe_leave(JNIEnv *jni, jclass self,
							       jobject monitor, jint ids)
{
	(void)self;
	if (ids == REWRITE_AWAITS)
		begin_lock_wait(jni, monitor);
	else if (ids == REWRITE_TOOK)
		end_lock_wait();
	else
		end_call(jni, ids, monitor);
}

static unsigned wanted(void *ctx, const struct rewrite_method *m)
{
	const bool *is_platform = ctx;
	char name[NAME_MAX_BYTES];
	unsigned lock = 0;

	if (class_text_is(m->class_name, REWRITE_HELPER))
		return 0;
	name_plain(name, sizeof(name), m);
	if (*is_platform && choice_is_lock(name, m->signature.s, m->signature.n))
		lock = REWRITE_LOCK;
	return lock |
	       choice_wanted(&agent.choice, name, m->access & ACCESS_SYNCHRONIZED, *is_platform);
}

/* ---- classes ---- */

static bool is_platform(JNIEnv *jni, jobject loader)
{
	return !loader || (*jni)->IsSameObject(jni, loader, agent.platform_loader);
}

static void leave_class(const char *name, const char *why)
{
	char plain[NAME_MAX_BYTES];

	name_class(plain, sizeof(plain), name);
	ids_left_named(plain, why);
}

/* Whether Java's own class is rewritten whatever is chosen. name: with slashes; NULL: it has none.
 */
static bool has_locks(const char *name)
{
	char plain[NAME_MAX_BYTES] = "";

	if (name)
		name_class(plain, sizeof(plain), name);
	return choice_has_locks(plain);
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
			     const char *name, jobject domain, jint n, const unsigned char *bytes,
			     jint *new_n, unsigned char **new_bytes)
{
	bool platform = is_platform(jni, loader);
	const struct rewrite_hooks hooks = {
		.ctx = &platform, .wanted = wanted, .define = ids_define, .left = ids_left
	};
	struct class_out out = { 0 };
	int ret;

	(void)redefined;
	(void)domain;
	if (!ring_recording() || (platform && !agent.choice.any && !has_locks(name)))
		return;
	ret = rewrite_class(bytes, (size_t)n, &hooks, &out);
	if (ret == REWRITE_MALFORMED)
		leave_class(name ? name : "a class without a name",
			    "its class file is not understood");
	if (ret == REWRITE_DONE &&
	    (*jvmti)->Allocate(jvmti, (jlong)out.n, new_bytes) == JVMTI_ERROR_NONE) {
		memcpy(*new_bytes, out.p, out.n);
		*new_n = (jint)out.n;
		agent.rewrote = true;
	}
	class_out_release(&out);
}

static bool wants_method(jvmtiEnv *jvmti, jmethodID method, const char *class_name, bool platform)
{
	char *name = NULL, full[NAME_MAX_BYTES];
	jint access = 0;
	unsigned bits;

	if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
		return false;
	(*jvmti)->GetMethodModifiers(jvmti, method, &access);
	if ((size_t)snprintf(full, sizeof(full), "%s.%s", class_name, name) >= sizeof(full))
		full[sizeof(full) - 1] = '\0'; /* cut, as in on_class() */
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	bits = choice_wanted(&agent.choice, full, access & ACCESS_SYNCHRONIZED, platform);
	return bits && !(access & (ACCESS_NATIVE | ACCESS_ABSTRACT));
}

static bool wants_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL, name[NAME_MAX_BYTES];
	jobject loader = NULL;
	jmethodID *methods = NULL;
	jboolean modifiable = JNI_FALSE;
	bool platform, wants = false;
	jint n = 0;

	(*jvmti)->IsModifiableClass(jvmti, class, &modifiable);
	if (!modifiable || (*jvmti)->GetClassLoader(jvmti, class, &loader) != JVMTI_ERROR_NONE)
		return false;
	platform = is_platform(jni, loader);
	(*jni)->DeleteLocalRef(jni, loader);
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return false;
	name_class(name, sizeof(name), signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (platform && choice_has_locks(name))
		return true;
	if (platform && !agent.choice.any)
		return false;
	/* the methods of a class that is not prepared yet are unknown: it may have wanted ones */
	if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods) != JVMTI_ERROR_NONE)
		return true;
	for (jint i = 0; i < n && !wants; i++)
		wants = wants_method(jvmti, methods[i], name, platform);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return wants;
}

/* Reports a class that the machine refuses, if the agent had rewritten it: no method of other
 * classes was wanted. Of a class that is not valid that is not known, as OpenJDK 17.0.21 refuses it
 * before the agent sees its file. */
static void refused(jvmtiEnv *jvmti, jclass class, jvmtiError error)
{
	char *signature = NULL, *name = NULL, why[128];

	if (!agent.rewrote && error != JVMTI_ERROR_INVALID_CLASS)
		return;
	(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL);
	(*jvmti)->GetErrorName(jvmti, error, &name);
	snprintf(why, sizeof(why), "the Java machine refuses to change its class (%s)",
		 name ? name : "no reason");
	if (signature)
		leave_class(signature, why);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

static void retransform_class(jvmtiEnv *jvmti, jclass class)
{
	jvmtiError error;

	agent.rewrote = false;
	error = (*jvmti)->RetransformClasses(jvmti, 1, &class);
	if (error != JVMTI_ERROR_NONE)
		refused(jvmti, class, error);
}

/* Rewrites the loaded classes one by one, so that a class that the machine refuses does not keep
 * others from being recorded. */
static void retransform(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint n = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		if (wants_class(jvmti, jni, classes[i]))
			retransform_class(jvmti, classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* ---- what the machine does ---- */

static void JNICALL on_contended(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	(void)jvmti;
	(void)thread;
	if (t && !t->wait_since_ns)
		begin_wait(jni, t, object, true);
}

static void JNICALL on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;
	jmethodID method = NULL;
	jlocation unused;
	uint64_t now, since_ns;

	(void)jni;
	(void)thread;
	(void)object;
	if (!t || !t->wait_since_ns || !t->is_monitor)
		return;
	now = ring_now_ns();
	since_ns = t->wait_since_ns;
	monitor_wait_over(t, now);
	(*jvmti)->GetFrameLocation(jvmti, NULL, 0, &method, &unused);
	t->waited_in = method;
	t->waited_ns = now - since_ns;
}

/* Object.wait() releases the monitor, and takes it again at its end. */
static void JNICALL on_sleep(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jlong timeout)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	(void)jvmti;
	(void)thread;
	(void)timeout;
	if (t && t->depth > t->base)
		write_hold(t, jni, object, t->since_ns[t->depth - 1], ring_now_ns());
}

static void JNICALL on_slept(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jboolean timed_out)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	(void)jni;
	(void)thread;
	(void)timed_out;
	if (!t)
		return;
	t->slept_at = monitor_hash(jvmti, object);
	t->slept_ns = ring_now_ns();
}

static void pause_record(uint32_t kind)
{
	struct ring_thread *t = ring_recording() ? ring_thread() : NULL;

	if (t)
		ring_add(t, ring_now_ns(), kind, 0, 0);
}

static void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	(void)jvmti;
	pause_record(INPROC_PAUSE);
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	(void)jvmti;
	pause_record(INPROC_RESUMED);
}

/* ---- start ---- */

static void find_platform_loader(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/ClassLoader");
	jmethodID get = class ? (*jni)->GetStaticMethodID(jni, class, "getPlatformClassLoader",
							  "()Ljava/lang/ClassLoader;")
			      : NULL;
	jobject loader = get ? (*jni)->CallStaticObjectMethod(jni, class, get) : NULL;

	(*jni)->ExceptionClear(jni);
	agent.platform_loader = loader ? (*jni)->NewGlobalRef(jni, loader) : NULL;
}

static void describe(jvmtiEnv *jvmti)
{
	char *name = NULL, *version = NULL, words[128];

	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &name) == JVMTI_ERROR_NONE &&
	    (*jvmti)->GetSystemProperty(jvmti, "java.vm.version", &version) == JVMTI_ERROR_NONE) {
		snprintf(words, sizeof(words), "%s %s", name, version);
		ring_describe(words);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
}

static void begin(jvmtiEnv *jvmti, JNIEnv *jni)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
		JVMTI_EVENT_MONITOR_WAIT,
		JVMTI_EVENT_MONITOR_WAITED,
		JVMTI_EVENT_GARBAGE_COLLECTION_START,
		JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
	};
	jclass helper = helper_define(jni);
	struct inproc_cost cost;
	uint32_t pair_ns;

	describe(jvmti);
	find_platform_loader(jni);
	if (!helper) {
		ids_notice("a Java machine can be attached to once, and this one was, or it does "
			   "not let agents define classes: nothing of it is recorded");
		return;
	}
	virtual_watch(jvmti);
	pair_ns = helper_calibrate(jni, helper, &agent.scratch, &cost);
	ring_costs(pair_ns, &cost);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	retransform(jvmti, jni); /* at least Java's own locks */
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)thread;
	begin(jvmti, jni);
}

/* Reads the lines "pattern WORDS", "ring-bytes N", "stacks-ns N" and "count WORDS". */
static void read_config(const char *directory)
{
	char path[512], line[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/config", directory);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "pattern ", 8))
			choice_add(&agent.choice, line + 8);
		else if (!strncmp(line, "ring-bytes ", 11))
			agent.ring_bytes = strtoull(line + 11, NULL, 10);
		else if (!strncmp(line, "count ", 6))
			count_add(line + 6);
		else if (!strncmp(line, "stacks-ns ", 10))
			agent.stacks_ns = strtoull(line + 10, NULL, 10);
	}
	if (f)
		fclose(f);
}

static bool prepare(jvmtiEnv *jvmti)
{
	static const jvmtiEventCallbacks callbacks = {
		.VMInit = on_init,
		.ClassFileLoadHook = on_class,
		.MonitorContendedEnter = on_contended,
		.MonitorContendedEntered = on_entered,
		.MonitorWait = on_sleep,
		.MonitorWaited = on_slept,
		.GarbageCollectionStart = on_gc_start,
		.GarbageCollectionFinish = on_gc_finish,
	};
	jvmtiCapabilities most = {
		.can_generate_all_class_hook_events = 1,
		.can_retransform_classes = 1,
		.can_generate_monitor_events = 1,
		.can_generate_garbage_collection_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
	};

	virtual_ask(jvmti, &most);
	return (*jvmti)->AddCapabilities(jvmti, &most) == JVMTI_ERROR_NONE &&
	       (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ==
		       JVMTI_ERROR_NONE;
}

/* options: the directory of inproc.h. Returns NULL, or what failed as a clause. */
static const char *open_agent(JavaVM *vm, const char *options)
{
	const char *why;

	if (agent.jvmti)
		return "it is recorded already";
	if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_11) != JNI_OK)
		return "this Java machine is older than Java 11";
	read_config(options ? options : "");
	why = ring_open(options ? options : "", agent.ring_bytes);
	if (!why && !prepare(agent.jvmti))
		why = "this Java machine does not let agents change classes";
	return why;
}

/* Writes to the program's error output, because there may be no recorder. */
static void complain(const char *why)
{
	fprintf(stderr, "ispot: this Java program is not recorded: %s\n", why);
}

VISIBLE JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const char *why = open_agent(vm, options);

	(void)reserved;
	if (why)
		complain(why);
	else
		(*agent.jvmti)
			->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT,
						   NULL);
	return JNI_OK;
}

static void *begin_attached(void *p)
{
	JavaVM *vm = p;
	JNIEnv *jni = NULL;

	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, NULL) != JNI_OK) {
		ids_notice("this Java machine takes no further thread; nothing of it is recorded");
		return NULL;
	}
	begin(agent.jvmti, jni);
	(*vm)->DetachCurrentThread(vm);
	return NULL;
}

VISIBLE JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	const char *why = open_agent(vm, options);
	pthread_t thread;

	(void)reserved;
	if (!why && pthread_create(&thread, NULL, begin_attached, vm))
		why = "it has no thread to begin with";
	if (why)
		complain(why);
	else
		pthread_detach(thread);
	return why ? JNI_ERR : JNI_OK;
}
