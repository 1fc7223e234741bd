// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/choose.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "probes/java/agent/rewrite.h"

#define SYNCHRONIZED "synchronized:"

bool choice_add(struct choice *c, const char *pattern)
{
	char **more = realloc(c->patterns, (c->n + 1) * sizeof(*more));

	if (!more)
		return false;
	c->patterns = more;
	more[c->n] = strdup(pattern);
	c->any |= *pattern != '!';
	return more[c->n++];
}

/* Returns the part of the name after the n-th dot from the end. */
static const char *last_parts(const char *name, unsigned n)
{
	const char *p = name + strlen(name);

	while (p > name && (p[-1] != '.' || --n))
		p--;
	return p;
}

static bool matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, last_parts(name, 2), 0) ||
	       !fnmatch(pattern, last_parts(name, 1), 0);
}

unsigned choice_wanted(const struct choice *c, const char *name, bool is_synchronized,
		       bool is_platform)
{
	unsigned synchronized = (is_synchronized ? REWRITE_WHOLE : 0) | REWRITE_BLOCKS, bits = 0;

	if (!c->any && !is_platform)
		bits = synchronized;
	for (size_t i = 0; i < c->n; i++) {
		const char *p = c->patterns[i];
		bool out = *p == '!', only;

		p += out;
		only = !strncmp(p, SYNCHRONIZED, strlen(SYNCHRONIZED));
		p += only ? strlen(SYNCHRONIZED) : 0;
		if (!matches(p, name))
			continue;
		if (out)
			return 0;
		bits |= only ? synchronized : REWRITE_WHOLE | REWRITE_BLOCKS;
	}
	return bits;
}

#define SYNCHRONIZER "java.util.concurrent.locks.AbstractQueuedSynchronizer"
#define STAMPED	     "java.util.concurrent.locks.StampedLock"
#define NODE	     "(Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$Node;"

/* Where threads queue that have found a lock taken. begin: of the signature, as other methods may
 * have the same name. */
static const struct {
	const char *name, *begin;
} locks[] = {
	{ SYNCHRONIZER ".acquire", NODE }, /* since Java 17; the others before */
	{ SYNCHRONIZER ".acquireQueued", "(" },
	{ SYNCHRONIZER ".doAcquireInterruptibly", "(" },
	{ SYNCHRONIZER ".doAcquireNanos", "(" },
	{ SYNCHRONIZER ".doAcquireShared", "(" },
	{ SYNCHRONIZER ".doAcquireSharedInterruptibly", "(" },
	{ SYNCHRONIZER ".doAcquireSharedNanos", "(" },
	{ STAMPED ".acquireRead", "(" },
	{ STAMPED ".acquireWrite", "(" },
};

bool choice_is_lock(const char *name, const char *signature, size_t signature_n)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		size_t n = strlen(locks[i].begin);

		if (!strcmp(name, locks[i].name) && n <= signature_n &&
		    !memcmp(signature, locks[i].begin, n))
			return true;
	}
	return false;
}

bool choice_has_locks(const char *class_name)
{
	return !strcmp(class_name, SYNCHRONIZER) || !strcmp(class_name, STAMPED);
}
