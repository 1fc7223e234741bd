/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/sanitizer.h"
#include "base/text.h"

static struct rlimit before;
static bool bound;

static void bound_to(uint64_t most)
{
#if !BUILT_WITH_SANITIZER
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &before) || before.rlim_cur <= most)
		return;
	limit = before;
	limit.rlim_cur = most;
	bound = !setrlimit(RLIMIT_DATA, &limit);
#else
	(void)most;
#endif
}

int memory_bound(struct err *err)
{
	const char *wanted = getenv("ISPOT_MEMORY");
	uint64_t most = (uint64_t)4 << 30;

	if (wanted && *wanted && text_parse_size(wanted, &most))
		return err_set(err, -EINVAL,
			       "ISPOT_MEMORY=%s is no size; give bytes, or 512M, or 8G", wanted);
	bound_to(most);
	return 0;
}

void memory_unbound(void)
{
	if (bound)
		setrlimit(RLIMIT_DATA, &before);
	bound = false;
}
