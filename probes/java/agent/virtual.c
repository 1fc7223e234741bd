// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/virtual.h"

#include <jvmti.h>
#include <string.h>

#include "probes/java/agent/monitor.h"
#include "probes/java/agent/ring.h"

/* The bit can_support_virtual_threads, the 45th, which headers before Java 21 do not name. */
#define SUPPORT_BYTE 5
#define SUPPORT_BIT  0x10

static struct ring_thread *carrier(void)
{
	return ring_recording() ? ring_thread() : NULL;
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
	struct ring_thread *t = carrier();

	(void)jvmti;
	if (t)
		t->base = t->depth;
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
	struct ring_thread *t = carrier();

	(void)jvmti;
	if (!t)
		return;
	/* the thread waits on without a carrier; for how long is not recorded */
	if (t->wait_since_ns)
		monitor_wait_over(t, ring_now_ns());
	if (t->depth > t->base)
		ring_add(t, ring_now_ns(), INPROC_GONE, t->ids[t->base], t->base);
	t->depth = t->base;
	t->base = t->too_deep = 0;
	t->waited_ns = 0;
}

void virtual_ask(jvmtiEnv *jvmti, void *capabilities)
{
	jvmtiCapabilities can = { 0 };

	if ((*jvmti)->GetPotentialCapabilities(jvmti, &can) == JVMTI_ERROR_NONE)
		((uint8_t *)capabilities)[SUPPORT_BYTE] |=
			((const uint8_t *)&can)[SUPPORT_BYTE] & SUPPORT_BIT;
}

static void watch(jvmtiEnv *jvmti, const jvmtiExtensionEventInfo *e)
{
	static const struct {
		const char *id;
		jvmtiExtensionEvent callback;
	} rows[] = {
		{ "com.sun.hotspot.events.VirtualThreadMount", on_mount },
		{ "com.sun.hotspot.events.VirtualThreadUnmount", on_unmount },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(e->id, rows[i].id) != 0)
			continue;
		(*jvmti)->SetExtensionEventCallback(jvmti, e->extension_event_index,
						    rows[i].callback);
		/* unlike the specification says, setting the callback does not enable the event */
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
						   (jvmtiEvent)e->extension_event_index, NULL);
	}
}

static void release(jvmtiEnv *jvmti, jvmtiExtensionEventInfo *e)
{
	for (jint i = 0; i < e->param_count; i++)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)e->params[i].name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)e->params);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)e->id);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)e->short_description);
}

void virtual_watch(jvmtiEnv *jvmti)
{
	jvmtiExtensionEventInfo *events = NULL;
	jint n = 0;

	if ((*jvmti)->GetExtensionEvents(jvmti, &n, &events) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		watch(jvmti, &events[i]);
		release(jvmti, &events[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)events);
}
