/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/fleet/clickhouse/internal.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/varint.h"

const char *const engine_tables[ENGINE_TABLES] = { "rows", "trios", "crowds", "blocks" };

#define ANSWER_NS	 600000000000ull /* timeout of a query over all rows */
#define INSERT_NS	 30000000000ull	 /* timeout of inserting a batch */
#define BACK_OFF_NS	 100000000ull	 /* first delay; doubled each time, up to: */
#define BACK_OFF_MOST_NS 5000000000ull

/* ---- the address ---- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char host_bytes[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

/* Sets an error that does not contain the address, which may include a password. */
static int refuse_address(struct err *err, const char *what)
{
	err_set(err, -EINVAL, "%s", what);
	if (err)
		err->exit_status = 2;
	return -EINVAL;
}

static int refuse_form(struct err *err)
{
	return refuse_address(
		err, "--engine: no such address; give clickhouse://HOST:PORT[,HOST:PORT]/DATABASE, "
		     "or the same with clickhouse+https://");
}

static void add_shard(struct fleet_engine *e, const char *host, size_t n)
{
	const char *bracket = memchr(host, ']', n);
	bool has_port =
		memchr(bracket ? bracket : host, ':', n - (bracket ? (size_t)(bracket - host) : 0));
	struct engine_shard *shard = vec_add(&e->shards);

	shard->host = has_port ? xstrndup(host, n)
			       : xasprintf("%.*s:%s", (int)n, host, e->tls ? "8443" : "8123");
}

static int parse_address(struct fleet_engine *e, const char *url, struct err *err)
{
	static const char plain[] = "clickhouse://", tls[] = "clickhouse+https://";
	const char *s = url, *end;

	e->tls = !strncmp(s, tls, strlen(tls));
	if (!e->tls && strncmp(s, plain, strlen(plain)))
		return refuse_form(err);
	s += strlen(e->tls ? tls : plain);
	if (strchr(s, '@'))
		return refuse_address(err, "an address shows in the list of processes; put user "
					   "and password into the environment or into a file, see "
					   "--credentials");
	end = strchr(s, '/');
	if (!end || !end[1] || !strchr(letters, end[1]) || end[1 + strspn(end + 1, host_bytes)] ||
	    strpbrk(end + 1, ".-:[]"))
		return refuse_form(err);
	e->database = xstrdup(end + 1);
	for (size_t n; s < end; s += n + (s[n] == ',')) {
		n = strcspn(s, ",/");
		if (!n || strspn(s, host_bytes) < n)
			return refuse_form(err);
		add_shard(e, s, n);
	}
	return e->shards.n ? 0 : refuse_form(err);
}

/* ---- credentials ---- */

static int read_credentials(struct fleet_engine *e, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char line[512];
	int rc = 0;

	if (!f || fstat(fileno(f), &st))
		rc = err_set(err, -errno, "%s: %s; name a file with lines user=NAME, password=WORD",
			     path, strerror(errno));
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		rc = err_set(err, -EACCES, "%s: others may read it; run: chmod 600 %s", path, path);
	while (!rc && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "user=", 5) && !e->user)
			e->user = xstrdup(line + 5);
		else if (!strncmp(line, "password=", 9) && !e->password)
			e->password = xstrdup(line + 9);
		else if (*line && *line != '#')
			rc = err_set(err, -EINVAL,
				     "%s: a line that is neither user=NAME nor password=WORD; "
				     "remove it",
				     path);
	}
	explicit_bzero(line, sizeof(line));
	if (f)
		fclose(f);
	return rc;
}

/* Removes a variable from the environment, so that neither commands that ispot starts nor
 * /proc/PID/environ have it. */
static void forget_environment(const char *name)
{
	char *value = getenv(name);

	if (!value)
		return;
	explicit_bzero(value, strlen(value));
	unsetenv(name);
}

static int get_credentials(struct fleet_engine *e, struct err *err)
{
	const char *user = getenv("ISPOT_FLEET_USER"), *password = getenv("ISPOT_FLEET_PASSWORD");

	int rc = 0;

	if (e->options.credentials) {
		rc = read_credentials(e, e->options.credentials, err);
	} else {
		e->user = user ? xstrdup(user) : NULL;
		e->password = password ? xstrdup(password) : NULL;
	}
	forget_environment("ISPOT_FLEET_PASSWORD");
	return rc;
}

/* Whether HOST:PORT is a loopback address. */
static bool is_this_machine(const char *host)
{
	struct in_addr address;
	char *name = xstrndup(host, strcspn(host, ":"));
	bool loopback =
		inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;

	loopback |= !strcmp(name, "localhost") || !strncmp(host, "[::1]:", 6);
	free(name);
	return loopback;
}

static int check_password(const struct fleet_engine *e, struct err *err)
{
	vec_for_each (&e->shards, const struct engine_shard, shard)
		if (e->password && !e->tls && !is_this_machine(shard->host))
			return err_set(err, -EINVAL,
				       "the password would go to %s for all to read; use "
				       "clickhouse+https://",
				       shard->host);
	return 0;
}

/* ---- opening ---- */

static int open_all(struct fleet_engine *e, struct err *err)
{
	struct fleet_http_options o = { .ca_file = e->options.ca_file,
					.tls = e->tls,
					.ended = e->options.ended };
	int rc = 0;

	o.user = e->user ? e->user : e->password ? "default" : NULL;
	o.password = e->password;
	vec_for_each (&e->shards, struct engine_shard, shard)
		rc = rc ? rc : fleet_http_open(&shard->http, &o, err);
	return rc;
}

int fleet_engine_open(struct fleet_engine **engine, const struct fleet_engine_options *o,
		      struct err *err)
{
	struct fleet_engine *e = xcalloc(1, sizeof(*e));
	int rc;

	*engine = NULL;
	e->options = *o;
	rc = parse_address(e, o->url, err);
	rc = rc ? rc : get_credentials(e, err);
	rc = rc ? rc : check_password(e, err);
	rc = rc ? rc : open_all(e, err);
	if (rc)
		fleet_engine_close(e);
	else
		*engine = e;
	return rc;
}

static void forget(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void fleet_engine_close(struct fleet_engine *e)
{
	if (!e)
		return;
	vec_for_each (&e->shards, struct engine_shard, shard) {
		fleet_http_close(shard->http);
		for (int i = 0; i < ENGINE_TABLES; i++)
			text_release(&shard->pending[i]);
		text_release(&shard->answer.body);
		free(shard->host);
	}
	vec_release(&e->shards);
	vec_release(&e->pending);
	map_release(&e->known);
	free(e->agreed);
	free(e->database);
	free(e->user);
	forget(e->password);
	free(e);
}

/* ---- requests ---- */

/* Returns the number of ClickHouse's exception, or 0 if there is none. */
static int code_of(const struct fleet_http_answer *a)
{
	int code = 0;

	return a->body.s && sscanf(a->body.s, "Code: %d", &code) == 1 ? code : 0;
}

bool engine_is_passing(const struct fleet_http_answer *a)
{
	static const int codes[] = { 159, 160, 164, 202, 209, 210, 225,
				     236, 241, 242, 252, 319, 425, 999 };

	if (!a->status)
		return !a->final;
	if (a->status == 502 || a->status == 503 || a->status == 504 || a->status == 429)
		return true;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (code_of(a) == codes[i])
			return true;
	return false;
}

static int cannot(const struct fleet_engine *e, const struct engine_shard *shard, struct err *err)
{
	const struct fleet_http_answer *a = &shard->answer;
	char said[300];
	int code = code_of(a);

	text_printable(said, sizeof(said), a->body.s ? a->body.s : "");
	said[strcspn(said, "\n")] = '\0';
	if (!a->status && a->told)
		return err_set(err, -EINTR,
			       "%s had not answered when ispot was to end; what it has counts "
			       "once, so run the same again",
			       shard->host);
	if (!a->status && a->final)
		return err_set(err, -EPROTO, "%s: %s; see --ca-file", shard->host, said);
	if (!a->status)
		return err_set(err, -EHOSTUNREACH,
			       "%s: %s; is it running? what it has counts once, so run the same "
			       "again",
			       shard->host, said);
	if (a->status == 401 || a->status == 403 || (code >= 192 && code <= 195) || code == 516)
		return err_set(err, -EACCES,
			       "%s: user or password are not right; put them into the environment "
			       "or into a file, see --credentials",
			       shard->host);
	if (code == 81 || code == 60)
		return err_set(err, -ENOENT,
			       "%s has no fleet in database %s; make it with ispot fleet push",
			       shard->host, e->database);
	return err_set(err, -EREMOTEIO, "%s: HTTP %ld: %s; see the server's log", shard->host,
		       a->status, *said ? said : "nothing was said");
}

static char *url_of(const struct fleet_engine *e, const struct engine_shard *shard,
		    const char *database, const char *sql)
{
	struct text url = { 0 };

	text_printf(&url, "%s://%s/?wait_end_of_query=1", e->tls ? "https" : "http", shard->host);
	if (database)
		text_printf(&url, "&database=%s", database);
	if (sql) {
		text_add(&url, "&query=");
		fleet_http_escape(&url, sql);
	}
	return url.s;
}

/* Returns a random delay between ns / 2 and ns, so that machines that wait for one server do not
 * all retry at once. */
static uint64_t about(uint64_t ns)
{
	return ns / 2 + clock_now_ns() % (ns / 2);
}

static int ask(struct fleet_engine *e, struct engine_shard *shard, const char *url,
	       const void *body, size_t n, uint64_t timeout_ns, struct err *err)
{
	uint64_t begin_ns = clock_now_ns(), wait_ns = BACK_OFF_NS;

	for (;;) {
		fleet_http_post(shard->http, url, body, n, timeout_ns, &shard->answer);
		if (shard->answer.status == 200)
			return 0;
		if (!engine_is_passing(&shard->answer) || shard->answer.told ||
		    clock_now_ns() - begin_ns + wait_ns > e->options.retry_ns)
			return cannot(e, shard, err);
		if (!e->sent.retries++)
			log_notice("%s does not answer and is asked again", shard->host);
		clock_sleep_ns(about(wait_ns));
		wait_ns = 2 * wait_ns < BACK_OFF_MOST_NS ? 2 * wait_ns : BACK_OFF_MOST_NS;
	}
}

int engine_ask(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
	       const struct text *data, struct err *err)
{
	char *url = url_of(e, shard, e->database, data ? sql : NULL);
	int rc = data ? ask(e, shard, url, data->s, data->n, INSERT_NS, err)
		      : ask(e, shard, url, sql, strlen(sql), ANSWER_NS, err);

	free(url);
	return rc;
}

int engine_ask_server(struct fleet_engine *e, struct engine_shard *shard, const char *sql,
		      struct err *err)
{
	char *url = url_of(e, shard, NULL, NULL);
	int rc = ask(e, shard, url, sql, strlen(sql), ANSWER_NS, err);

	free(url);
	return rc;
}

/* ---- RowBinary ---- */

uint64_t engine_u64(struct engine_bytes *b)
{
	uint64_t value = 0;

	if (b->bad || b->end - b->p < 8) {
		b->bad = true;
		return 0;
	}
	memcpy(&value, b->p, 8);
	b->p += 8;
	return value;
}

uint64_t engine_varint(struct engine_bytes *b)
{
	uint64_t value = 0;
	const uint8_t *next = b->bad ? NULL : varint_get(b->p, b->end, &value);

	b->bad = !next;
	b->p = next ? next : b->p;
	return next ? value : 0;
}

const char *engine_string(struct engine_bytes *b, char *buf, size_t n)
{
	uint64_t bytes = engine_varint(b);
	char *copy;

	*buf = '\0';
	if (bytes > (uint64_t)(b->end - b->p))
		b->bad = true;
	if (b->bad)
		return buf;
	copy = xstrndup((const char *)b->p, bytes);
	b->p += bytes;
	text_printable(buf, n, copy);
	free(copy);
	return buf;
}

void engine_add_u64(struct text *out, uint64_t value)
{
	text_addn(out, (const char *)&value, sizeof(value));
}

void engine_add_string(struct text *out, const char *s)
{
	uint8_t bytes[VARINT_MAX];
	size_t n = strlen(s);

	text_addn(out, (char *)bytes, (size_t)(varint_put(bytes, n) - bytes));
	text_addn(out, s, n);
}

void engine_quote(struct text *sql, const char *s)
{
	text_add(sql, "'");
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			text_add(sql, "\\");
		text_addn(sql, s, 1);
	}
	text_add(sql, "'");
}

int engine_damaged(const struct fleet_engine *e, const struct engine_shard *shard, struct err *err)
{
	return err_set(err, -EBADMSG,
		       "%s: what database %s holds is no fleet's, or rows of it are lost; push "
		       "into another one",
		       shard->host, e->database);
}
