/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/formats.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "report/export/rows.h"

const struct export_format *const export_formats[] = {
	&export_chrome,	     &export_csv,  &export_dot,	  &export_folded,
	&export_folded_diff, &export_perf, &export_pprof, &export_speedscope,
};
const unsigned export_formats_n = sizeof(export_formats) / sizeof(export_formats[0]);

const struct export_format *export_find(const char *name, struct err *err)
{
	struct text all = { 0 };

	for (unsigned i = 0; i < export_formats_n; i++)
		if (!strcmp(export_formats[i]->name, name))
			return export_formats[i];
	for (unsigned i = 0; i < export_formats_n; i++)
		text_printf(&all, "%s%s", i ? ", " : "", export_formats[i]->name);
	err_set(err, -EINVAL, "there is no format '%s'; there are %s", name, all.s);
	err->exit_status = 2;
	text_release(&all);
	return NULL;
}
