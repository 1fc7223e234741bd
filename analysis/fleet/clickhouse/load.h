/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of engine.h: reads rows. */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_LOAD_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_LOAD_H

struct err;
struct fleet_engine;
struct fleet_phases;
struct fleet_rows;
struct fleet_store_meta;
struct fleet_store_totals;

int fleet_engine_meta(struct fleet_engine *e, struct fleet_store_meta *meta,
		      struct fleet_store_totals *totals, struct err *err);
int fleet_engine_load(struct fleet_engine *e, const char *type, const struct fleet_phases *phases,
		      struct fleet_rows *rows, unsigned *others, struct err *err);

#endif
