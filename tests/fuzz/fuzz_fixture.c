// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as the text of a trace. */
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "trace/fixture/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;

	if (!in)
		return 0;
	fixture_write(in, "/dev/null", &err);
	fclose(in);
	return 0;
}
