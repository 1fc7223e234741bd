/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/write_out.h"

#include "base/text.h"
#include "cli/screen.h"
#include "base/output.h"

int write_out(const struct text *out, const char *path, struct err *err)
{
	struct output file = { .fd = -1 };
	int rc;

	if (!path)
		return screen_write(out, err);
	rc = output_open(&file, path, err);
	if (rc)
		return rc;
	output_write(&file, out->s, out->n);
	return output_close(&file, err);
}
