/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fleet/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/crc.h"
#include "base/regular.h"

_Static_assert(sizeof(struct fleet_block_head) == 40, "as the layout says");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "heads are read and written as they are");

/* ---- header ---- */

struct fleet_indicator fleet_header_indicator(const struct fleet_header *h, uint32_t number)
{
	struct fleet_indicator first = { .higher_is_better = h->higher_is_better };

	if (number)
		return h->more[number - 1];
	snprintf(first.name, sizeof(first.name), "%s", h->indicator);
	snprintf(first.unit, sizeof(first.unit), "%s", h->unit);
	return first;
}

uint32_t fleet_header_find(const struct fleet_header *h, const char *name)
{
	for (uint32_t i = 0; i <= h->n_more; i++)
		if (!strcmp(i ? h->more[i - 1].name : h->indicator, name))
			return i;
	return UINT32_MAX;
}

static struct json *print_indicators(const struct fleet_header *h)
{
	struct json *all = json_new_array();

	for (uint32_t i = 0; i <= h->n_more; i++) {
		const struct fleet_indicator indicator = fleet_header_indicator(h, i);
		struct json *o = json_new_object();

		json_set_string(o, "name", indicator.name);
		json_set_string(o, "unit", indicator.unit);
		json_set_bool(o, "higher_is_better", indicator.higher_is_better);
		json_add_take(all, o);
	}
	return all;
}

static void print_header(const struct fleet_header *h, struct text *out)
{
	struct json *root = json_new_object(), *cpus = json_new_array();

	json_set_u64(root, "version", h->n_more ? FLEET_SEVERAL : FLEET_VERSION);
	json_set_u64(root, "id", h->id);
	json_set_string(root, "machine", h->machine);
	json_set_string(root, "type", h->type);
	json_set_string(root, "indicator", h->indicator);
	json_set_string(root, "unit", h->unit);
	json_set_bool(root, "higher_is_better", h->higher_is_better);
	if (h->n_more)
		json_set_take(root, "indicators", print_indicators(h));
	json_set_u64(root, "period", h->period);
	json_set_string(root, "by", h->by);
	for (uint32_t i = 0; i < h->topology.n; i++) {
		struct json *cpu = json_new_array();

		json_add_u64(cpu, h->topology.cpus[i].core);
		json_add_u64(cpu, h->topology.cpus[i].cache);
		json_add_u64(cpu, h->topology.cpus[i].socket);
		json_add_take(cpus, cpu);
	}
	json_set_take(root, "cpus", cpus);
	json_print(root, out, false);
	json_free(root);
}

static void copy(char *to, size_t room, const struct json *root, const char *key)
{
	text_printable(to, room, json_string(root, key, ""));
}

/* Returns whether these are several different ones, of which the first is the header's. */
static bool parse_indicators(struct fleet_header *h, const struct json *all)
{
	size_t n = json_n(all);

	if (n < 2 || n > FLEET_INDICATORS ||
	    strcmp(json_string(json_at(all, 0), "name", ""), h->indicator) != 0)
		return false;
	for (size_t i = 1; i < n; i++) {
		struct fleet_indicator *more = &h->more[i - 1];

		copy(more->name, sizeof(more->name), json_at(all, i), "name");
		copy(more->unit, sizeof(more->unit), json_at(all, i), "unit");
		more->higher_is_better = json_bool(json_at(all, i), "higher_is_better", false);
		if (!*more->name || fleet_header_find(h, more->name) != UINT32_MAX)
			return false;
		h->n_more++;
	}
	return true;
}

static int parse_header(struct fleet_header *h, const char *s, size_t n)
{
	struct json *root = json_parse(s, n);
	const struct json *cpus = json_get(root, "cpus");
	uint64_t version = json_u64(root, "version", 0);
	bool known = root && (version == FLEET_VERSION || version == FLEET_SEVERAL);

	h->id = json_u64(root, "id", 0);
	copy(h->machine, sizeof(h->machine), root, "machine");
	copy(h->type, sizeof(h->type), root, "type");
	h->type_known = *h->type;
	if (!h->type_known)
		snprintf(h->type, sizeof(h->type), "unknown");
	copy(h->indicator, sizeof(h->indicator), root, "indicator");
	copy(h->unit, sizeof(h->unit), root, "unit");
	copy(h->by, sizeof(h->by), root, "by");
	if (version == FLEET_SEVERAL)
		known = known && parse_indicators(h, json_get(root, "indicators"));
	h->higher_is_better = json_bool(root, "higher_is_better", false);
	h->period = json_u64(root, "period", 0);
	h->topology.n = json_n(cpus) < CPUS_MAX ? (uint32_t)json_n(cpus) : CPUS_MAX;
	for (uint32_t i = 0; i < h->topology.n; i++) {
		const struct json *cpu = json_at(cpus, i);

		h->topology.cpus[i] = (struct topology_cpu){ (uint16_t)json_u64_at(cpu, 0, i),
							     (uint16_t)json_u64_at(cpu, 1, 0),
							     (uint16_t)json_u64_at(cpu, 2, 0) };
	}
	json_free(root);
	return known && *h->indicator && *h->machine ? 0 : -EBADMSG;
}

/* ---- writing ---- */

static int write_bytes(struct fleet_writer *w, const void *data, size_t n)
{
	w->bytes += n;
	return output_write(&w->out, data, n);
}

static int write_header(struct fleet_writer *w, const struct fleet_header *h, struct err *err)
{
	struct text header = { 0 };
	uint32_t head[2];

	w->indicators = h->n_more + 1;
	print_header(h, &header);
	head[0] = (uint32_t)header.n;
	head[1] = crc32_of(header.s, header.n);
	write_bytes(w, FLEET_MAGIC, 8);
	write_bytes(w, head, sizeof(head));
	write_bytes(w, header.s, header.n);
	text_release(&header);
	return output_explain(&w->out, err);
}

int fleet_writer_open(struct fleet_writer *w, const char *path, const struct fleet_header *h,
		      struct err *err)
{
	int rc;

	*w = (struct fleet_writer){ 0 };
	rc = output_open(&w->out, path, err);
	return rc ? rc : write_header(w, h, err);
}

int fleet_writer_open_at(struct fleet_writer *w, int dir, const char *name,
			 const struct fleet_header *h, struct err *err)
{
	int rc;

	*w = (struct fleet_writer){ 0 };
	rc = output_open_at(&w->out, dir, name, err);
	return rc ? rc : write_header(w, h, err);
}

bool fleet_writer_is_open(const struct fleet_writer *w)
{
	return w->out.path;
}

int fleet_writer_block(struct fleet_writer *w, const struct fleet_block *b, struct err *err)
{
	struct fleet_block_head head = { FLEET_BLOCK_MAGIC,
					 0,
					 b->sequence,
					 b->start_ns,
					 (uint32_t)b->samples.n,
					 (uint32_t)b->runs.n,
					 0,
					 0 };

	w->body.n = 0;
	fleet_block_pack(b, w->indicators, &w->body);
	if (w->body.n > FLEET_BLOCK_BYTES) /* no reader would take it */
		return err_set(err, -EFBIG,
			       "%s: a block of %zu bytes; make blocks of a shorter time",
			       w->out.path, w->body.n);
	head.body_bytes = (uint32_t)w->body.n;
	head.body_crc = crc32_of(w->body.s, w->body.n);
	head.head_crc = crc32_of(&head, sizeof(head) - sizeof(head.head_crc));
	write_bytes(w, &head, sizeof(head));
	write_bytes(w, w->body.s, w->body.n);
	return output_explain(&w->out, err);
}

int fleet_writer_close(struct fleet_writer *w, struct err *err)
{
	int rc = fleet_writer_is_open(w) ? output_close(&w->out, err) : 0;

	text_release(&w->body);
	*w = (struct fleet_writer){ 0 };
	return rc;
}

/* ---- reading ---- */

static int unread(const struct fleet_reader *r, struct err *err)
{
	return err_set(err, -EIO, "%s: it cannot be read; is its disk sound?", r->path);
}

/* As fread() of bytes. A file that ends before is cut off; one that cannot be read is not: that is
 * said later. */
static bool read_bytes(struct fleet_reader *r, void *to, size_t n)
{
	if (fread(to, 1, n, r->file) == n)
		return true;
	r->truncated |= !ferror(r->file);
	return false;
}

static int read_header(struct fleet_reader *r, struct err *err)
{
	char magic[8], *text;
	uint32_t head[2];
	int rc = -EBADMSG;

	if (fread(magic, 1, 8, r->file) != 8 || memcmp(magic, FLEET_MAGIC, 8) ||
	    fread(head, 1, sizeof(head), r->file) != sizeof(head) || head[0] > FLEET_HEADER_MAX)
		return ferror(r->file)
			       ? unread(r, err)
			       : err_set(err, -EBADMSG,
					 "%s: not a file of fleet samples; ispot fleet record writes them",
					 r->path);
	text = xmalloc(head[0] + 1);
	if (fread(text, 1, head[0], r->file) == head[0] && crc32_of(text, head[0]) == head[1])
		rc = parse_header(&r->header, text, head[0]);
	free(text);
	if (ferror(r->file))
		return unread(r, err);
	return rc ? err_set(err, rc,
			    "%s: its header is damaged or of a later version; record it again",
			    r->path)
		  : 0;
}

static int open_stream(struct fleet_reader *r, FILE *file, const char *path, struct err *err)
{
	int rc;

	*r = (struct fleet_reader){ .path = xstrdup(path), .file = file };
	if (!r->file) {
		rc = err_set(err, -errno, "%s: %s; name files that ispot fleet record wrote", path,
			     errno == EINVAL ? "it is no regular file" : strerror(errno));
		fleet_reader_close(r);
		return rc;
	}
	setvbuf(r->file, NULL, _IOFBF, 1 << 18);
	rc = read_header(r, err);
	if (rc)
		fleet_reader_close(r);
	return rc;
}

int fleet_reader_open(struct fleet_reader *r, const char *path, struct err *err)
{
	return open_stream(r, regular_fopen(path), path, err);
}

int fleet_reader_open_fd(struct fleet_reader *r, int fd, const char *path, struct err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = own < 0 ? NULL : fdopen(own, "r");

	if (own >= 0 && !file)
		close(own);
	return open_stream(r, file, path, err);
}

int fleet_reader_next(struct fleet_reader *r, struct fleet_block_head *head, struct err *err)
{
	size_t n = fread(head, 1, sizeof(*head), r->file);

	if (ferror(r->file))
		return unread(r, err);
	if (!n)
		return 0;
	if (n == sizeof(*head) && head->magic == FLEET_BLOCK_MAGIC &&
	    head->head_crc == crc32_of(head, sizeof(*head) - sizeof(head->head_crc)) &&
	    head->body_bytes <= FLEET_BLOCK_BYTES)
		return 1;
	if (n == sizeof(*head))
		r->damaged_blocks++; /* where the next one begins is not known */
	else
		r->truncated = true;
	return 0;
}

bool fleet_reader_block(struct fleet_reader *r, const struct fleet_block_head *head,
			struct fleet_block *b)
{
	if (!r->body)
		r->body = xmalloc(FLEET_BLOCK_BYTES);
	if (!read_bytes(r, r->body, head->body_bytes))
		return false;
	fleet_block_begin(b, head->sequence, head->start_ns);
	if (crc32_of(r->body, head->body_bytes) == head->body_crc &&
	    !fleet_block_unpack(b, r->header.n_more + 1, r->body, head->body_bytes))
		return true;
	r->damaged_blocks++;
	return false;
}

void fleet_reader_skip(struct fleet_reader *r, const struct fleet_block_head *head)
{
	char bytes[4096];

	for (size_t left = head->body_bytes; left;) {
		size_t n = left < sizeof(bytes) ? left : sizeof(bytes);

		if (!read_bytes(r, bytes, n))
			return;
		left -= n;
	}
}

void fleet_reader_close(struct fleet_reader *r)
{
	if (r->file)
		fclose(r->file);
	r->file = NULL;
	free(r->path);
	free(r->body);
	r->path = NULL;
	r->body = NULL;
}
