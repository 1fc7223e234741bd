// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/ids.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/java/agent/name.h"
#include "probes/java/agent/ring.h"

static struct {
	pthread_mutex_t lock;
	uint32_t next_id;
	bool names_full;
	uint64_t *keys; /* hash table, [key_room]: keys of methods that have ids; 0: free */
	uint32_t *ids;	/* [key_room] */
	size_t n_keys, key_room;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t hash(uint64_t h, struct class_text t)
{
	for (uint32_t i = 0; i < t.n; i++)
		h = (h ^ (uint8_t)t.s[i]) * 0x100000001b3;
	return (h ^ 0xff) * 0x100000001b3;
}

static uint64_t key_of(const struct rewrite_method *m, bool block, uint32_t n)
{
	uint64_t h = 0xcbf29ce484222325;

	h = hash(hash(hash(h, m->class_name), m->name), m->signature);
	h = (h ^ (block ? n : 0)) * 0x9e3779b97f4a7c15;
	return h ? h : 1;
}

/* Returns the place of a key, or the free place where it belongs. */
static size_t find(uint64_t key)
{
	size_t i = key & (table.key_room - 1);

	while (table.keys[i] && table.keys[i] != key)
		i = (i + 1) & (table.key_room - 1);
	return i;
}

static bool grow(void)
{
	uint64_t *keys = table.keys;
	uint32_t *ids = table.ids;
	size_t room = table.key_room;

	if (2 * table.n_keys < room)
		return true;
	table.key_room = room ? 2 * room : 1024;
	table.keys = calloc(table.key_room, sizeof(*keys));
	table.ids = calloc(table.key_room, sizeof(*ids));
	if (!table.keys || !table.ids) {
		free(table.keys);
		free(table.ids);
		table.keys = keys;
		table.ids = ids;
		table.key_room = room;
		return false;
	}
	for (size_t k = 0; k < room; k++)
		if (keys[k]) {
			size_t i = find(keys[k]);

			table.keys[i] = keys[k];
			table.ids[i] = ids[k];
		}
	free(keys);
	free(ids);
	return true;
}

static void text_of(char *buf, size_t n, struct class_text t)
{
	snprintf(buf, n, "%.*s", (int)t.n, t.s);
}

static bool name_ids(const struct rewrite_method *m, bool block, uint32_t n, uint32_t first,
		     const uint32_t *lines)
{
	char name[NAME_MAX_BYTES], whole[NAME_MAX_BYTES + 32], signature[NAME_MAX_BYTES],
		source[256];
	uint32_t kind = block				  ? INPROC_BLOCK
			: m->access & ACCESS_SYNCHRONIZED ? INPROC_SECTION
							  : INPROC_FUNCTION;

	name_full(name, sizeof(name), m);
	text_of(signature, sizeof(signature), m->signature);
	text_of(source, sizeof(source), m->source);
	for (uint32_t k = 0; k < n; k++) {
		snprintf(whole, sizeof(whole), "%s", name);
		if (block && lines[k])
			snprintf(whole, sizeof(whole), "%s block:%u", name, lines[k]);
		else if (block)
			snprintf(whole, sizeof(whole), "%s block #%u", name, k + 1);
		if (!ring_name(first + k, kind, lines[k], whole, signature, source))
			return false;
	}
	return true;
}

/* If a class is rewritten again, or another loader loads it, its methods keep their ids. */
uint32_t ids_define(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
		    const uint32_t *lines)
{
	uint64_t key = key_of(m, block, n);
	uint32_t id = UINT32_MAX;
	size_t i;

	(void)ctx;
	pthread_mutex_lock(&table.lock);
	if (grow()) {
		i = find(key);
		if (table.keys[i]) {
			id = table.ids[i];
		} else if (table.next_id + n <= INPROC_IDS_MAX && !table.names_full) {
			table.names_full = !name_ids(m, block, n, table.next_id, lines);
			if (!table.names_full) {
				id = table.ids[i] = table.next_id;
				table.keys[i] = key;
				table.n_keys++;
				table.next_id += n;
			}
		}
	}
	pthread_mutex_unlock(&table.lock);
	return id;
}

bool ids_row(uint32_t id, uint32_t kind, uint32_t line, const char *name, const char *source)
{
	bool named;

	pthread_mutex_lock(&table.lock);
	named = ring_name(id, kind, line, name, "", source);
	pthread_mutex_unlock(&table.lock);
	return named;
}

void ids_left_named(const char *name, const char *why)
{
	if (!ids_row(0, INPROC_LEFT, 0, name, why))
		ring_unnamed();
}

void ids_left(void *ctx, const struct rewrite_method *m, const char *why)
{
	char name[NAME_MAX_BYTES];

	(void)ctx;
	name_full(name, sizeof(name), m);
	ids_left_named(name, why);
}

void ids_notice(const char *words)
{
	if (!ids_row(0, INPROC_NOTICE, 0, words, ""))
		ring_unnamed();
}
