// SPDX-License-Identifier: GPL-3.0-or-later
/* Any text as what callgrind writes: read, and its lines scored. */
#include <errno.h>

#include "analysis/imbalance/count/callgrind.h"
#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/counts.h"
#include "base/err.h"
#include "given.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lime_options how = LIME_DEFAULTS;
	const char *path = given_file(data, size);
	struct counted c = { 0 };
	struct counts run = { 0 };
	struct err err = { 0 };

	if (!path || callgrind_read(&run, path, &err)) {
		counts_release(&run);
		return -1;
	}
	counted_find(&c, &run, &how);
	counted_release(&c);
	counts_release(&run);
	return 0;
}
