// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Any bytes as an ELF file whose functions are to be patched: whatever it says, no two sites
 * overlap, each has room for its jump, and what is displaced can be written down elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "given.h"
#include "probes/patch/layout_x86.h"
#include "probes/patch/plan.h"
#include "probes/patch/targets.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

#define FUNCTIONS_MAX 32

static uint64_t sum; /* of what was planned, so that it is looked at */

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void take(const struct targets *t, uint64_t address, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *marks = targets_marks(t, address + i);

		must(marks && !(*marks & MARK_USED));
		*marks |= MARK_USED;
	}
}

static void look_at(const struct targets *t, const struct patch_site *s)
{
	struct patch_code code;

	must(s->n_code && s->n_code <= s->n_bytes && s->n_bytes <= PATCH_BYTES_MAX);
	must(s->n_bytes >= patch_jump_bytes(s));
	take(t, s->address, s->n_bytes);
	if (s->island)
		take(t, s->island, PATCH_JUMP_BYTES);
	if (patch_relocate(s, s->address, s->address + 4096, s->is_entry ? 20 : 0,
			   s->exit == PATCH_NO_EXIT ? 0 : 20, &code) == 0)
		must(code.n >= s->n_code / 2 && code.n <= sizeof(code.bytes) &&
		     code.exit_at <= code.n);
	sum += code.n;
}

static void plan(struct dso *dso)
{
	struct patch_plan *p = patch_plan_new(dso);
	const struct dso_function *all;
	struct targets t = { 0 };
	size_t n = dso_functions(dso, &all);
	const char *refusal = targets_read(&t, dso);

	for (size_t i = 0; i < n && i < FUNCTIONS_MAX; i++) {
		const struct patch_function *f = patch_plan_function(p, &all[i]);

		must(f->refusal || f->n_sites);
		must(!(refusal || patch_plan_refusal(p)) || f->refusal);
		sum += f->refusal ? strlen(f->refusal) : 0;
		for (size_t k = 0; f->function == &all[i] && !f->refusal && k < f->n_sites; k++)
			look_at(&t, &f->sites[k]);
	}
	targets_release(&t);
	patch_plan_free(p);
}

static void read_everywhere(const uint8_t *data, size_t size)
{
	struct layout l;

	for (size_t i = 0; i < size && i < 4096; i++)
		if (layout_read(data + i, size - i, &l))
			must(l.length && l.length <= size - i &&
			     l.disp_at + l.disp_bytes <= l.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = given_file(data, size);
	struct dso_cache *cache;
	struct err err = { 0 };
	struct dso *dso;

	if (!path || size < 64 || memcmp(data, "\177ELF", 4) != 0)
		return -1;
	read_everywhere(data, size);
	cache = dso_cache_new();
	if (!dso_get(cache, path, &dso, &err))
		plan(dso);
	dso_cache_free(cache);
	return 0;
}
