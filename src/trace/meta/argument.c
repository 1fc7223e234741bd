/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/meta/argument.h"

#include <string.h>

#include "base/text.h"
#include "trace/format.h"
#include "trace/meta/meta.h"

uint64_t meta_argument_number(const char *name)
{
	uint64_t n = 0;

	return !strncmp(name, "arg", 3) && !text_parse_u64(name + 3, &n) ? n : 0;
}

uint32_t meta_argument_of_bit(const struct meta_function *f, uint32_t bit)
{
	const char *name = NULL;

	if (bit == ARG_RETURN)
		return 0;
	for (uint32_t i = 0; i < f->n_arguments && !name; i++)
		if (f->arguments[i].bit == bit)
			name = f->arguments[i].name;
	for (uint32_t i = 0; name && i < f->n_prototype; i++)
		if (f->prototype[i].number && !strcmp(f->prototype[i].name, name))
			return f->prototype[i].number;
	return name && meta_argument_number(name) ? (uint32_t)meta_argument_number(name) : bit + 1;
}
