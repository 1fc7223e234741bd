// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as an ELF file: everything that is asked of the files of a traced program. */
#include <string.h>

#include "base/err.h"
#include "given.h"
#include "symbol/dso/buildid.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/markers.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/symbols.h"

static uint64_t sum; /* of what was read, so that it is */

/* libdw 0.188 itself loses a block of memory when a line table is damaged. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw";
}

static void ask_of_function(struct dso *dso, const struct dso_function *f)
{
	struct dso_prototype prototype;
	struct dso_inline chain[4];
	uint64_t start, bytes;
	size_t n;
	const uint8_t *code = dso_code(dso, f->address, &n);

	for (size_t i = 0; code && i < n && i < f->size && i < 4096; i++)
		sum += code[i];
	sum += strlen(dso_function_name(dso, f));
	sum += dso_line_at(dso, f->address).line;
	sum += dso_function_line(dso, f).line;
	sum += dso_inlines_at(dso, f->address, chain, 4);
	sum += dso_language_at(dso, f->address);
	sum += dso_frame_range(dso, f->address, &start, &bytes);
	sum += dso_prototype(dso, f, &prototype);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = given_file(data, size);
	struct dso_cache *cache;
	const struct dso_marker *markers;
	const struct dso_function *all;
	const char *const *names;
	struct err err = { 0 };
	char id[2 * BUILD_ID_MAX + 1];
	struct dso *dso;
	size_t n;

	if (!path || size < 64 || memcmp(data, "\177ELF", 4) != 0)
		return -1;
	dso_file_build_id(path, id, sizeof(id));
	sum += strlen(id);
	cache = dso_cache_new();
	if (!dso_get(cache, path, &dso, &err)) {
		n = dso_functions(dso, &all);
		for (size_t i = 0; i < n && i < 64; i++)
			ask_of_function(dso, &all[i]);
		for (uint64_t at = 0; at < 65536; at += 1024) {
			uint64_t offset = 0;
			const char *variable = dso_variable_at(dso, at, &offset);

			sum += variable ? strlen(variable) : 0;
		}
		n = dso_imports(dso, &names);
		for (size_t i = 0; i < n; i++)
			sum += strlen(names[i]);
		sum += dso_markers(dso, &markers) + strlen(dso_build_id(dso));
		sum += dso_only_inlined(dso, "inner");
	}
	dso_cache_free(cache);
	return 0;
}
