// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/machine/stub.h"

#include <string.h>

void stub_emit(struct stub_code *c, const void *bytes, size_t n)
{
	if (n > c->room - c->n)
		n = c->room - c->n;
	memcpy(c->bytes + c->n, bytes, n);
	c->n += n;
}
