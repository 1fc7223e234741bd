/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The servers, and requests to them, which the files that implement engine.h share. */
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

/* Version of the tables and of the reduction of blocks to rows. Increase it when either changes. */
#define ENGINE_REDUCTION "2"
#define ENGINE_LIMBS	 4 /* of a 128-bit number, 32 bits each, the lowest first */

struct fleet_row;

enum engine_table { ENGINE_ROWS, ENGINE_TRIOS, ENGINE_CROWDS, ENGINE_BLOCKS, ENGINE_TABLES };
extern const char *const engine_tables[ENGINE_TABLES];

struct engine_shard {
	char *host; /* with port */
	struct fleet_http *http;
	struct text pending[ENGINE_TABLES]; /* rows that are not sent yet */
	uint64_t n_pending[ENGINE_TABLES];
	struct fleet_http_answer answer; /* answer to the last request */
};

struct fleet_engine {
	struct fleet_engine_options options;
	char *database, *user, *password;
	bool tls;
	struct {
		VEC(struct engine_shard)
	} shards;
	struct map known; /* sequences of the present recording */
	struct {
		VEC(uint64_t)
	} pending;			 /* recordings with rows that are not sent yet */
	struct fleet_store_meta *agreed; /* meta that all shards have; NULL: not requested yet */
	struct fleet_engine_sent sent;
};

/* Sends sql, followed by data (NULL: none). Repeats the request, as long as the options say, while
 * the server cannot be reached or is too busy. Returns 0 if shard->answer.body has the answer. */
int engine_ask(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
	       const struct text *data, struct err *err);
/* Same as engine_ask(), but without a database, which may not exist. */
int engine_ask_server(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
		      struct err *err);

/* Returns whether a later request may succeed: there was no answer, the server is too busy, or it
 * cannot reach other servers. */
bool engine_is_passing(const struct fleet_http_answer *a);

/* Adds all values of a key that the shard has. There is one, unless something went wrong. */
int engine_get_meta(struct fleet_engine *e, struct engine_shard *shard, const char *key,
		    struct strtab *values, struct err *err);

/* ---- pushing: shared by files and databases ---- */

/* The sequence of rows of a database, which are not of single blocks. Their recording is the number
 * of the database. */
#define ENGINE_DATABASE UINT64_MAX

/* Databases that are written completely and not replaced by a later one. */
#define ENGINE_WHOLE "(SELECT number FROM databases GROUP BY number HAVING max(replaced) = 0)"

/* The key of a block, or of the rows of a database. */
struct engine_key {
	uint64_t recording, sequence;
};

struct engine_line {
	uint64_t database; /* number of the database that has its rows; 0: the rows have the
			    * block's own key */
	const char *machine, *type;
	uint64_t start_ns, samples, alone;
	uint64_t n[ENGINE_TABLES]; /* number of rows with its own key */
};

/* Visits the blocks of a recording that count, on all shards. database: as in engine_line. */
typedef void engine_known_visit(void *ctx, struct engine_shard *shard, uint64_t sequence,
				uint64_t database);
int engine_each_known(struct fleet_engine *e, uint64_t recording, engine_known_visit *visit,
		      void *ctx, struct err *err);
int engine_agree_meta(struct fleet_engine *e, const struct fleet_store_meta *meta, struct err *err);
enum engine_table engine_table_of(const struct fleet_row *row);
/* Add rows, trios and crowds, or a block. They are sent to the shard when there are many. */
int engine_add_rows(struct fleet_engine *e, struct engine_shard *shard,
		    const struct engine_key *key, const struct fleet_rows *rows, struct err *err);
int engine_add_block(struct fleet_engine *e, struct engine_shard *shard,
		     const struct engine_key *key, const struct engine_line *line, struct err *err);

/* Reads a server's answer in RowBinary from its beginning. After invalid bytes, bad is set and all
 * values are 0. */
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
/* Returns a printable string. n: size of buf. */
const char *engine_string(struct engine_bytes *b, char *buf, size_t n);

void engine_add_u64(struct text *out, uint64_t value);
void engine_add_string(struct text *out, const char *s);

/* Appends s quoted as 'NAME' for SQL. */
void engine_quote(struct text *sql, const char *s);

int engine_damaged(const struct fleet_engine *e, const struct engine_shard *shard, struct err *err);

#endif
