/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends blocks to a fleet's servers, reduced to rows, from files or while they are recorded. */
#ifndef ISPOT_CMD_FLEET_SENDING_H
#define ISPOT_CMD_FLEET_SENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "trace/fleet/block.h"

struct err;
struct fleet_args;
struct fleet_engine;
struct fleet_header;

struct fleet_sending {
	const struct fleet_args *args;
	struct fleet_engine *engine; /* NULL: not open */
	struct strtab trios;	     /* of which applications */
	bool chosen;		     /* they are known */
	const char *indicator;	     /* the indicator that the servers get; NULL: the first one */
	uint32_t number;	     /* number of the indicator in the file that was begun last */
	uint32_t indicators[FLEET_INDICATORS]; /* as in fleet_rows_options */
	bool said;			       /* a notice said that only one of several is sent */
};

/* Opens the connection, and makes tables that are missing. ended: as in struct
 * fleet_engine_options. */
int fleet_sending_open(struct fleet_sending *s, const struct fleet_args *a, const char *url,
		       const bool *ended, struct err *err);
int fleet_sending_trios(struct fleet_sending *s, struct err *err); /* at first, and once */
int fleet_sending_begin(struct fleet_sending *s, const struct fleet_header *h, struct err *err);
/* Adds a block of the recording that was begun last. It counts once it has been flushed. A block
 * that is sent twice counts once. */
int fleet_sending_block(struct fleet_sending *s, const struct fleet_header *h,
			const struct fleet_block *b, struct err *err);
int fleet_sending_flush(struct fleet_sending *s, struct err *err);
void fleet_sending_close(struct fleet_sending *s); /* idempotent */

#endif
