/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of engine.h share: the servers, and asking them. */
#ifndef ISPOT_ANALYSIS_FLEET_CLICKHOUSE_INTERNAL_H
#define ISPOT_ANALYSIS_FLEET_CLICKHOUSE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/fleet/clickhouse/engine.h"
#include "analysis/fleet/clickhouse/http.h"
#include "analysis/fleet/clickhouse/push.h"
#include "base/hash.h"
#include "base/vec.h"

/* Of the tables, and of how rows are made from blocks: to be counted up when either changes. */
#define ENGINE_REDUCTION "2"
#define ENGINE_LIMBS	 4 /* of a number of 128 bits, 32 bits each, the lowest first */

struct fleet_row;

enum engine_table { ENGINE_ROWS, ENGINE_TRIOS, ENGINE_CROWDS, ENGINE_BLOCKS, ENGINE_TABLES };
extern const char *const engine_tables[ENGINE_TABLES];

struct engine_shard {
	char *host; /* and port */
	struct fleet_http *http;
	struct text pending[ENGINE_TABLES]; /* rows that are to be sent */
	uint64_t n_pending[ENGINE_TABLES];
	struct fleet_http_answer answer; /* to what was asked last */
};

struct fleet_engine {
	struct fleet_engine_options options;
	char *database, *user, *password;
	bool tls;
	struct {
		VEC(struct engine_shard)
	} shards;
	struct map known; /* sequences of the recording */
	struct {
		VEC(uint64_t)
	} pending;			 /* recordings of which something is */
	struct fleet_store_meta *agreed; /* as all shards have it; NULL: not yet asked */
	struct fleet_engine_sent sent;
};

/*
 * sql with data behind it (NULL: none), asked again for as long as the options say while the server
 * cannot be reached or says that it cannot now. 0: shard->answer.body is what it answered.
 */
int engine_ask(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
	       const struct text *data, struct err *err);
/* The same without naming the database, which may not be there. */
int engine_ask_server(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
		      struct err *err);

/* Every value of a key that the shard has: one, if nothing went wrong. */
int engine_get_meta(struct fleet_engine *e, struct engine_shard *shard, const char *key,
		    struct strtab *values, struct err *err);

/* ---- pushing: what files and databases have in common ---- */

/* The rows of a database are not of single blocks: instead of one they have the database's number
 * as their recording, and this. */
#define ENGINE_DATABASE UINT64_MAX

/* Databases that are there as a whole, and whose blocks are in no other that came later. */
#define ENGINE_WHOLE "(SELECT number FROM databases GROUP BY number HAVING max(replaced) = 0)"

/* Of a block, or of the rows of a database. */
struct engine_key {
	uint64_t recording, sequence;
};

struct engine_line {
	uint64_t database; /* that has its rows; 0: they are there under its own key */
	const char *machine, *type;
	uint64_t start_ns, samples, alone;
	uint64_t n[ENGINE_TABLES]; /* rows under its own key */
};

/* Of a recording the blocks that count, as of all shards; database: as of a line. */
typedef void engine_known_visit(void *ctx, struct engine_shard *shard, uint64_t sequence,
				uint64_t database);
int engine_each_known(struct fleet_engine *e, uint64_t recording, engine_known_visit *visit,
		      void *ctx, struct err *err);
int engine_agree_meta(struct fleet_engine *e, const struct fleet_store_meta *meta, struct err *err);
enum engine_table engine_table_of(const struct fleet_row *row);
/* Rows, trios and crowds; like a block they go to the shard when there are many. */
int engine_add_rows(struct fleet_engine *e, struct engine_shard *shard,
		    const struct engine_key *key, const struct fleet_rows *rows, struct err *err);
int engine_add_block(struct fleet_engine *e, struct engine_shard *shard,
		     const struct engine_key *key, const struct engine_line *line, struct err *err);

/* What a server answers in RowBinary, taken from its beginning. After the first that is not such
 * bytes all are 0, and bad is set. */
struct engine_bytes {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct engine_bytes engine_bytes(const struct text *t)
{
	const uint8_t *bytes =
		(const uint8_t *)(t->n ? t->s : ""); /* an empty text may have none */

	return (struct engine_bytes){ bytes, bytes + t->n, false };
}

uint64_t engine_u64(struct engine_bytes *b);
uint64_t engine_varint(struct engine_bytes *b);
/* Printable; n: bytes of buf. */
const char *engine_string(struct engine_bytes *b, char *buf, size_t n);

void engine_put_u64(struct text *out, uint64_t value);
void engine_put_string(struct text *out, const char *s);

/* 'NAME' as SQL has it. */
void engine_quote(struct text *sql, const char *s);

int engine_damaged(const struct fleet_engine *e, const struct engine_shard *shard, struct err *err);

#endif
