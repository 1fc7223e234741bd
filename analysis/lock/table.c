/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/lock/table.h"

#include <stddef.h>
#include <string.h>

#include "trace/meta/meta.h"

static const struct lock_function rows[] = {
	{ "pthread_mutex_lock", LOCK_TAKE, 0, false, LOCK_OF_MUTEX },
	{ "pthread_mutex_trylock", LOCK_TRY, 0, false, LOCK_OF_MUTEX },
	{ "pthread_mutex_timedlock", LOCK_TRY, 0, false, LOCK_OF_MUTEX },
	{ "pthread_mutex_clocklock", LOCK_TRY, 0, false, LOCK_OF_MUTEX },
	{ "pthread_mutex_unlock", LOCK_RELEASE, 0, false, LOCK_OF_MUTEX },
	{ "pthread_rwlock_rdlock", LOCK_TAKE, 0, true, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_tryrdlock", LOCK_TRY, 0, true, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_timedrdlock", LOCK_TRY, 0, true, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_clockrdlock", LOCK_TRY, 0, true, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_wrlock", LOCK_TAKE, 0, false, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_trywrlock", LOCK_TRY, 0, false, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_timedwrlock", LOCK_TRY, 0, false, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_clockwrlock", LOCK_TRY, 0, false, LOCK_OF_RWLOCK },
	{ "pthread_rwlock_unlock", LOCK_RELEASE, 0, false, LOCK_OF_RWLOCK },
	{ "pthread_spin_lock", LOCK_TAKE, 0, false, LOCK_OF_SPIN },
	{ "pthread_spin_trylock", LOCK_TRY, 0, false, LOCK_OF_SPIN },
	{ "pthread_spin_unlock", LOCK_RELEASE, 0, false, LOCK_OF_SPIN },
	{ "pthread_cond_wait", LOCK_WAIT, 1, false, LOCK_OF_MUTEX },
	{ "pthread_cond_timedwait", LOCK_WAIT, 1, false, LOCK_OF_MUTEX },
	{ "pthread_cond_clockwait", LOCK_WAIT, 1, false, LOCK_OF_MUTEX },
	{ "mtx_lock", LOCK_TAKE, 0, false, LOCK_OF_C11 },
	{ "mtx_trylock", LOCK_TRY, 0, false, LOCK_OF_C11 },
	{ "mtx_timedlock", LOCK_TRY, 0, false, LOCK_OF_C11 },
	{ "mtx_unlock", LOCK_RELEASE, 0, false, LOCK_OF_C11 },
	{ "cnd_wait", LOCK_WAIT, 1, false, LOCK_OF_C11 },
	{ "cnd_timedwait", LOCK_WAIT, 1, false, LOCK_OF_C11 },
};

/* Ignores leading underscores and versions, because libc exports its functions under several
 * names. */
const struct lock_function *lock_function_of(const struct meta_function *f)
{
	static const struct lock_function contended_only = { .action = LOCK_AWAIT };
	const char *name = f->symbol;
	size_t n;

	if (!name)
		return NULL;
	if (f->contended_only)
		return &contended_only;
	name += strspn(name, "_");
	n = strcspn(name, "@");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == n && !strncmp(rows[i].name, name, n))
			return &rows[i];
	return NULL;
}

const char *lock_release_of(enum lock_kind kind)
{
	size_t i = 0;

	while (rows[i].action != LOCK_RELEASE || rows[i].kind != kind)
		i++; /* each kind has one */
	return rows[i].name;
}

const char *lock_pattern_of(enum lock_kind kind)
{
	static const char *const patterns[LOCK_KINDS] = { [LOCK_OF_MUTEX] = "pthread_mutex_*",
							  [LOCK_OF_RWLOCK] = "pthread_rwlock_*",
							  [LOCK_OF_SPIN] = "pthread_spin_*",
							  [LOCK_OF_C11] = "mtx_*" };

	return patterns[kind];
}
