/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/parser.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/reap.h"
#include "base/sanitizer.h"
#include "base/text.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/message.h"
#include "symbol/dso/patience.h"
#include "symbol/dso/sandbox.h"

#define ANSWER_BYTES_MAX (1u << 29)

#define CHILDREN_MAX 64 /* at once; to start one more, the child that was idle longest is ended */
#define NOBODY	     65534

struct parser {
	pid_t pid;	/* 0: not running */
	bool failed;	/* it is not asked again */
	uint64_t asked; /* number of its latest question */
	int fd;
	struct strtab strings; /* from answers to single questions */
	uint64_t kept_bytes;   /* bytes of its answers that were kept */
	bool is_child;
};

/* The parsers that have a child. */
static struct {
	VEC(struct parser *)
} alive;
static uint64_t questions; /* number of questions to all children */
static uint64_t kept_bytes;

static bool told_of_room;
uint64_t parser_bytes_most = 768ull << 20;

/*
 * The child gets the rights of the file's owner, who gains nothing by them and may read the files
 * that this one refers to. It does not get the file's group: a directory may have given the file a
 * group that its owner is not in.
 */
static void become_child(struct dso *dso, int fd)
{
	uid_t uid = dso->st.st_uid ? dso->st.st_uid : NOBODY;

	dso->parser->is_child = true;
	if (sandbox_enter(uid, NOBODY, fd, dso->fd))
		_exit(126);
	dso->serve(dso, fd);
}

static void note_given_up(struct dso *dso)
{
	if (!dso->given_up)
		patience_give_up();
	dso->given_up = true;
}

bool dso_is_foreign(const struct dso *dso)
{
#if BUILT_WITH_SANITIZER
	(void)dso; /* a sanitizer needs more than the sandbox allows, and should see the parsing */
	return false;
#else
	return !(dso->parser && dso->parser->is_child) && dso->copied_bytes && !geteuid();
#endif
}

static void end(struct parser *p)
{
	for (size_t i = 0; i < alive.n; i++)
		if (alive.data[i] == p)
			alive.data[i--] = alive.data[--alive.n];
	if (!alive.n)
		vec_release(&alive);
	if (p->pid > 0)
		reap(p->pid);
	if (p->fd >= 0)
		close(p->fd);
	p->pid = 0;
	p->fd = -1;
}

/*
 * Ends the child that was idle longest, as a program may have any number of files. Its answers
 * stay, and it is started again when needed.
 */
static void make_room(void)
{
	struct parser *oldest = NULL;

	if (alive.n < CHILDREN_MAX)
		return;
	vec_for_each (&alive, struct parser *, p)
		if (!oldest || (*p)->asked < oldest->asked)
			oldest = *p;
	end(oldest);
}

static void start(struct dso *dso)
{
	struct parser *p = dso->parser;
	int ends[2];

	if (!p)
		p = dso->parser = xcalloc(1, sizeof(*p));
	p->fd = -1;
	make_room();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	p->pid = fork();
	if (!p->pid)
		become_child(dso, ends[1]);
	close(ends[1]);
	p->fd = ends[0];
	if (p->pid < 0)
		end(p);
	else
		*vec_add(&alive) = p;
}

static void give_up(struct dso *dso, int code)
{
	char name[256];

	log_notice("%s could not be read to its end by a process without rights (%s): what it says "
		   "of its symbols and lines is left out",
		   text_printable(name, sizeof(name), dso->path), strerror(-code));
	end(dso->parser);
	dso->parser->failed = true;
	note_given_up(dso);
}

/*
 * Returns the answer in *a and its bytes in *room, which finish() frees. Returns false if there is
 * no answer.
 */
static bool ask(struct dso *dso, struct request r, const char *name, char **room, struct answer *a)
{
	uint64_t bytes = 0, now_ns = clock_now_ns();
	uint64_t deadline_ns = patience_deadline_ns(dso->st.st_uid, now_ns);
	struct peer child;
	int ret;

	if (!deadline_ns) {
		note_given_up(dso);
		return false;
	}
	if (!dso->parser || (dso->parser->pid <= 0 && !dso->parser->failed))
		start(dso);
	if (dso->parser->pid <= 0)
		return false;
	dso->parser->asked = ++questions;
	r.name_bytes = name ? (uint32_t)strlen(name) : 0;
	child = (struct peer){ dso->parser->fd, dso->parser->pid, deadline_ns };
	ret = message_send(&child, &r, sizeof(r));
	if (!ret)
		ret = message_send(&child, name, r.name_bytes);
	if (!ret)
		ret = message_receive(&child, &bytes, sizeof(bytes));
	if (!ret && bytes > ANSWER_BYTES_MAX)
		ret = -EFBIG;
	*room = ret ? NULL : xmalloc(bytes + 1);
	if (!ret)
		ret = message_receive(&child, *room, bytes);
	patience_waited(dso->st.st_uid, now_ns, ret == -ETIMEDOUT && !message_is_ending());
	if (ret) {
		free(*room);
		give_up(dso, ret);
		return false;
	}
	*a = (struct answer){ *room, *room + bytes, false, clock_now_ns() };
	return true;
}

bool parser_may_work(struct dso *dso, uint64_t *began_ns)
{
	*began_ns = clock_now_ns();
	if (!dso_is_foreign(dso) || patience_deadline_ns(dso->st.st_uid, *began_ns))
		return true;
	note_given_up(dso);
	return false;
}

void parser_has_worked(struct dso *dso, uint64_t began_ns)
{
	if (dso_is_foreign(dso))
		patience_waited(dso->st.st_uid, began_ns, false);
}

/* Returns false if the limit does not allow to keep so many more bytes of this file. */
static bool reserve(struct dso *dso, uint64_t bytes)
{
	if (kept_bytes + bytes <= parser_bytes_most) {
		kept_bytes += bytes;
		dso->parser->kept_bytes += bytes;
		return true;
	}
	if (!told_of_room)
		log_notice("files that others may write have more symbols than there is room for "
			   "(%llu MiB): the last ones are left out",
			   (unsigned long long)parser_bytes_most >> 20);
	told_of_room = true;
	return false;
}

/* Asks for an answer that is kept, nearly as a whole. */
static bool ask_all(struct dso *dso, struct request r, char **room, struct answer *a)
{
	if (!ask(dso, r, NULL, room, a))
		return false;
	if (reserve(dso, (uint64_t)(a->end - a->at)))
		return true;
	free(*room);
	return false;
}

/*
 * Ends what ask() began. The time that this process took to handle the answer counts as waiting,
 * too.
 */
static void finish(struct dso *dso, const struct answer *a, char *room)
{
	free(room);
	patience_waited(dso->st.st_uid, a->since_ns, false);
}

static const char *copy_string(struct dso *dso, const char *s)
{
	struct strtab *strings = &dso->parser->strings;

	if (strtab_find(strings, s) == MAP_NONE && !reserve(dso, strlen(s) + 1))
		return "";
	return strtab_get(strings, strtab_add(strings, s));
}

static void read_segments(struct dso *dso, struct answer *a)
{
	for (uint64_t n = message_read_u64(a); n && !a->is_bad; n--) {
		const void *bytes = message_read_bytes(a, sizeof(struct dso_segment));
		struct dso_segment s;

		if (!bytes)
			return;
		memcpy(&s, bytes, sizeof(s));
		dso_add_segment(dso, &s);
	}
}

static void read_code(struct dso *dso, struct answer *a)
{
	for (uint64_t n = message_read_u64(a); n && !a->is_bad; n--) {
		const void *bytes = message_read_bytes(a, sizeof(struct dso_range));
		struct dso_range r;

		if (!bytes)
			return;
		memcpy(&r, bytes, sizeof(r));
		dso_add_code(dso, r.start, r.end - r.start);
	}
	dso_finish_code(dso);
}

static void read_elf(struct dso *dso, struct answer *a)
{
	const char *interp;
	uint64_t flags;

	dso->ehdr.e_machine = (Elf64_Half)message_read_u64(a);
	flags = message_read_u64(a);
	dso->go = flags & 1;
	dso->has_needed = flags & 2;
	dso->restartable = flags & 8;
	interp = message_read_string(a);
	dso->interp = flags & 4 ? xstrdup(interp) : NULL;
	dso->build_id = xstrdup(message_read_string(a));
	dso->dynamic_address = message_read_u64(a);
	dso->dynamic_bytes = message_read_u64(a);
	dso->frames_address = message_read_u64(a);
	dso->frames_bytes = message_read_u64(a);
	read_segments(dso, a);
	read_code(dso, a);
}

static int read_file(struct dso *dso, struct answer *a, struct err *err)
{
	int ret = -(int)(message_read_u64(a) & 0xfff);
	const char *why = message_read_string(a);
	void *image;

	if (ret)
		return err_set(err, ret, "%s", why);
	image = mmap(NULL, dso->copied_bytes, PROT_READ, MAP_PRIVATE, dso->fd, 0);
	if (image == MAP_FAILED)
		return err_set(err, -errno, "cannot map %s: %s; free some memory", dso->path,
			       strerror(errno));
	dso->image = image;
	dso->image_bytes = dso->copied_bytes;
	read_elf(dso, a);
	return a->is_bad ? err_set(err, -ENOEXEC,
				   "%s is cut off or damaged; build or install it again", dso->path)
			 : 0;
}

int parser_elf(struct dso *dso, struct err *err)
{
	struct answer a;
	char *room;
	int ret;

	if (!ask(dso, (struct request){ .question = ASK_ELF }, NULL, &room, &a))
		return err_set(err, -EIO,
			       "%s could not be read by a process without rights; check where this "
			       "file comes from",
			       dso->path);
	ret = read_file(dso, &a, err);
	finish(dso, &a, room);
	return ret;
}

void parser_imports(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_IMPORTS }, &room, &a);

	dso->imports_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = message_read_u64(&a); n && !a.is_bad; n--) {
		const char *name = message_read_string(&a);

		if (*name)
			*vec_add(&dso->imports) = arena_strdup(&dso->strings, name);
	}
	finish(dso, &a, room);
}

void parser_markers(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_MARKERS }, &room, &a);

	dso->markers_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = message_read_u64(&a); n && !a.is_bad; n--) {
		struct dso_marker m = { .provider = arena_strdup(&dso->strings,
								 message_read_string(&a)) };

		m.name = arena_strdup(&dso->strings, message_read_string(&a));
		m.arguments = arena_strdup(&dso->strings, message_read_string(&a));
		m.address = message_read_u64(&a);
		m.semaphore_offset = message_read_u64(&a);
		m.file_offset = dso_address_to_offset(dso, m.address);
		if (!a.is_bad && dso_code_range(dso, m.address) && m.file_offset != UINT64_MAX)
			*vec_add(&dso->markers) = m;
	}
	finish(dso, &a, room);
}

void parser_slots(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_SLOTS }, &room, &a);

	dso->slots_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = message_read_u64(&a); n && !a.is_bad; n--) {
		uint64_t address = message_read_u64(&a);

		map_put(&dso->slots, address, (uint32_t)dso->slot_names.n);
		*vec_add(&dso->slot_names) = arena_strdup(&dso->strings, message_read_string(&a));
	}
	finish(dso, &a, room);
}

void parser_functions(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_FUNCTIONS }, &room, &a);

	dso->symbols_loaded = true; /* after ask_all(): the child forked there must load them */
	dso->symbol_source = "none";
	if (!answered)
		return;
	dso->symbol_source = copy_string(dso, message_read_string(&a));
	for (uint64_t n = message_read_u64(&a); n && !a.is_bad; n--) {
		struct dso_function f = { .address = message_read_u64(&a),
					  .size = message_read_u64(&a) };
		uint64_t flags = message_read_u64(&a), file_offset;
		const char *symbol = message_read_string(&a);

		file_offset = dso_address_to_offset(dso, f.address);
		if (a.is_bad || file_offset == UINT64_MAX)
			continue;
		if (!reserve(dso, 2 * sizeof(f))) /* twice: a growing vector has spare room */
			break;
		f.file_offset = file_offset;
		f.symbol = arena_strdup(&dso->strings, symbol);
		f.size_guessed = flags & 1;
		f.ifunc = flags & 2;
		f.default_version = flags & 4;
		f.exported = flags & 8;
		*vec_add(&dso->functions) = f;
	}
	finish(dso, &a, room);
}

void parser_variables(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_VARIABLES }, &room, &a);

	dso->variables_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = message_read_u64(&a); n && !a.is_bad; n--) {
		struct dso_variable v = { .address = message_read_u64(&a),
					  .size = message_read_u64(&a) };

		v.symbol = arena_strdup(&dso->strings, message_read_string(&a));
		if (!a.is_bad)
			*vec_add(&dso->variables) = v;
	}
	finish(dso, &a, room);
}

static uint64_t ask_number(struct dso *dso, struct request r, const char *name)
{
	uint64_t number = 0;
	struct answer a;
	char *room;

	if (ask(dso, r, name, &room, &a)) {
		number = message_read_u64(&a);
		finish(dso, &a, room);
	}
	return number;
}

bool parser_has_dwarf(struct dso *dso)
{
	return ask_number(dso, (struct request){ .question = ASK_HAS_DWARF }, NULL);
}

enum dso_language parser_language(struct dso *dso, uint64_t address)
{
	struct request r = { .question = ASK_LANGUAGE, .address = address };
	uint64_t language = ask_number(dso, r, NULL);

	return language <= LANG_FORTRAN ? (enum dso_language)language : LANG_UNKNOWN;
}

bool parser_only_inlined(struct dso *dso, const char *name)
{
	return ask_number(dso, (struct request){ .question = ASK_ONLY_INLINED }, name);
}

static struct dso_line read_line(struct dso *dso, struct answer *a)
{
	uint32_t line = (uint32_t)message_read_u64(a);

	return (struct dso_line){ copy_string(dso, message_read_string(a)), line };
}

static struct dso_line ask_line(struct dso *dso, struct request r)
{
	struct dso_line line = { "", 0 };
	struct answer a;
	char *room;

	if (ask(dso, r, NULL, &room, &a)) {
		line = read_line(dso, &a);
		finish(dso, &a, room);
	}
	return line;
}

struct dso_line parser_line(struct dso *dso, uint64_t address)
{
	return ask_line(dso, (struct request){ .question = ASK_LINE, .address = address });
}

static uint64_t number_of(struct dso *dso, const struct dso_function *f)
{
	return (uint64_t)(f - dso->functions.data);
}

struct dso_line parser_function_line(struct dso *dso, const struct dso_function *f)
{
	return ask_line(dso,
			(struct request){ .question = ASK_FUNCTION_LINE, .n = number_of(dso, f) });
}

/* Leaves the names unset if the answer is bad; parser_names() then uses the symbol. */
static void read_names(struct dso *dso, struct answer *a, struct dso_function *f)
{
	const char *name = message_read_string(a), *bare = message_read_string(a);

	if (a->is_bad || f->name)
		return;
	f->name = arena_strdup(&dso->strings, name);
	f->bare_name = arena_strdup(&dso->strings, bare);
}

void parser_names(struct dso *dso, struct dso_function *f)
{
	uint64_t first = number_of(dso, f) / NAMES_AT_ONCE * NAMES_AT_ONCE;
	struct answer a;
	char *room;

	if (ask_all(dso, (struct request){ .question = ASK_NAMES, .n = first }, &room, &a)) {
		for (uint64_t i = first; i < dso->functions.n && a.at < a.end && !a.is_bad; i++)
			read_names(dso, &a, &dso->functions.data[i]);
		finish(dso, &a, room);
	}
	if (!f->name)
		f->name = f->bare_name = f->symbol;
}

char *parser_demangle(struct dso *dso, const char *symbol)
{
	struct answer a;
	char *room, *name;

	if (!ask(dso, (struct request){ .question = ASK_DEMANGLED }, symbol, &room, &a))
		return xstrdup(symbol);
	name = xstrdup(message_read_string(&a));
	finish(dso, &a, room);
	return name;
}

size_t parser_inlines(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t room_n)
{
	struct request r = { .question = ASK_INLINES, .address = address, .n = room_n };
	struct answer a;
	size_t n = 0;
	char *room;

	if (!ask(dso, r, NULL, &room, &a))
		return 0;
	for (uint64_t left = message_read_u64(&a); left && n < room_n && !a.is_bad; left--, n++) {
		chain[n].name = copy_string(dso, message_read_string(&a));
		chain[n].call = read_line(dso, &a);
	}
	finish(dso, &a, room);
	return a.is_bad ? 0 : n;
}

static void read_parameter(struct dso *dso, struct answer *a, struct dso_parameter *p)
{
	uint64_t passed, flags;

	p->name = copy_string(dso, message_read_string(a));
	p->type = copy_string(dso, message_read_string(a));
	passed = message_read_u64(a);
	p->passed = passed <= DSO_PASSED_AGGREGATE ? (enum dso_passed)passed : DSO_PASSED_NOT;
	p->bytes = (uint32_t)message_read_u64(a);
	flags = message_read_u64(a);
	p->is_signed = flags & 1;
	p->is_pointer = flags & 2;
	p->place = (uint32_t)message_read_u64(a);
}

bool parser_prototype(struct dso *dso, const struct dso_function *f, struct dso_prototype *out)
{
	struct request r = { .question = ASK_PROTOTYPE, .n = number_of(dso, f) };
	struct answer a;
	uint64_t n, flags;
	bool known;
	char *room;

	*out = (struct dso_prototype){ .text = "" };
	if (!ask(dso, r, NULL, &room, &a))
		return false;
	known = message_read_u64(&a);
	if (known) {
		n = message_read_u64(&a);
		flags = message_read_u64(&a);
		out->variadic = flags & 1;
		out->changed = flags & 2;
		out->text = copy_string(dso, message_read_string(&a));
		read_parameter(dso, &a, &out->result);
		for (; out->n < n && out->n < DSO_PARAMETERS_MAX; out->n++)
			read_parameter(dso, &a, &out->parameters[out->n]);
	}
	finish(dso, &a, room);
	return known && !a.is_bad;
}

void parser_free(struct parser *p)
{
	if (!p)
		return;
	end(p);
	kept_bytes -= p->kept_bytes;
	strtab_release(&p->strings);
	free(p);
}
