/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/parser.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/sanitizer.h"
#include "base/text.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/patience.h"
#include "symbol/dso/sandbox.h"

#define ANSWER_BYTES_MAX (1u << 29)

#define TURN_NS	      100000000ull /* a look for signals in between */
#define CHILDREN_MAX  64 /* at once: for a further file the one that was asked longest ago ends */
#define INLINES_MAX   64
#define NAMES_AT_ONCE 1024
#define NOBODY	      65534

enum question {
	ASK_ELF,
	ASK_IMPORTS,
	ASK_MARKERS,
	ASK_SLOTS,
	ASK_FUNCTIONS,
	ASK_VARIABLES,
	ASK_HAS_DWARF,
	ASK_LINE,
	ASK_FUNCTION_LINE,
	ASK_INLINES,
	ASK_LANGUAGE,
	ASK_ONLY_INLINED,
	ASK_PROTOTYPE,
	ASK_NAMES, /* of NAMES_AT_ONCE functions from the n-th on */
	ASK_DEMANGLED,
};

struct request {
	uint32_t question, name_bytes; /* a name follows, without a NUL */
	uint64_t address, n;
};

struct parser {
	pid_t pid;	/* 0: it is not there */
	bool failed;	/* it is not asked any more */
	uint64_t asked; /* when last: a count of questions */
	int fd;
	struct strtab strings; /* of answers to single questions */
	uint64_t kept_bytes;   /* of its answers */
	bool is_child;
};

/* The parsers that have a child. */
static struct {
	VEC(struct parser *)
} alive;
static uint64_t questions; /* so far, of all */
static uint64_t kept_bytes;

static bool told_of_room;
uint64_t parser_bytes_most = 768ull << 20;
static uint64_t ends_ns; /* since when a signal that ends ispot waits; 0: none does */

/* ---- both sides: an answer is numbers and strings, one behind the other ---- */

static void put_u64(struct text *t, uint64_t v)
{
	text_addn(t, (const char *)&v, sizeof(v));
}

static void put_string(struct text *t, const char *s)
{
	text_addn(t, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void put_line(struct text *t, const struct dso_line *line)
{
	put_u64(t, line->line);
	put_string(t, line->file);
}

struct answer {
	const char *at, *end;
	bool is_bad;
	uint64_t since_ns; /* when it was there */
};

static uint64_t take_u64(struct answer *a)
{
	uint64_t v = 0;

	if ((size_t)(a->end - a->at) < sizeof(v)) {
		a->is_bad = true;
		return 0;
	}
	memcpy(&v, a->at, sizeof(v));
	a->at += sizeof(v);
	return v;
}

static const char *take_string(struct answer *a)
{
	const char *s = a->at, *end = memchr(s, '\0', (size_t)(a->end - s));

	if (!end) {
		a->is_bad = true;
		return "";
	}
	a->at = end + 1;
	return s;
}

/* The other side. */
struct peer {
	int fd;
	pid_t pid;	      /* of the child; in it: 0 */
	uint64_t deadline_ns; /* 0: none */
};

/*
 * Whether the child is stopped: its owner may stop it. A child that stops with its terminal goes on
 * with it.
 */
static bool is_stopped(pid_t pid)
{
	siginfo_t info = { 0 };

	return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
	       info.si_pid == pid;
}

/* One turn until the descriptor can be used; 0: not yet, or -errno. */
static int await(const struct peer *peer, short events)
{
	struct pollfd p = { .fd = peer->fd, .events = events };
	uint64_t deadline_ns = peer->deadline_ns;
	uint64_t now_ns = clock_now_ns();
	int ready;

	if (!deadline_ns)
		return 1;
	if (!interrupt_pending())
		ends_ns = 0;
	else if (!ends_ns)
		ends_ns = now_ns;
	if (now_ns >= deadline_ns || (ends_ns && now_ns - ends_ns >= PATIENCE_LEAST_NS))
		return -ETIMEDOUT;
	ready = poll(&p, 1, (int)(TURN_NS / 1000000));
	if (!ready && is_stopped(peer->pid))
		return -ETIMEDOUT;
	return ready < 0 && errno != EINTR ? -errno : ready > 0;
}

static int send_all(const struct peer *peer, const void *data, size_t n)
{
	int flags = MSG_NOSIGNAL | (peer->deadline_ns ? MSG_DONTWAIT : 0);

	for (const char *at = data; n;) {
		int ready = await(peer, POLLOUT);
		ssize_t sent = ready > 0 ? send(peer->fd, at, n, flags) : 0;

		if (ready < 0)
			return ready;
		if (sent < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		at += sent > 0 ? sent : 0;
		n -= sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* All of it until the deadline; 0: whenever it comes. */
static int receive_all(const struct peer *peer, void *data, size_t n)
{
	for (char *at = data; n;) {
		int ready = await(peer, POLLIN);
		ssize_t got = ready > 0 ? read(peer->fd, at, n) : -1;

		if (ready < 0)
			return ready;
		if (!ready)
			continue;
		if (!got)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		at += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* ---- the child ---- */

static void answer_elf(struct dso *dso, struct text *out)
{
	struct err err = { 0 };
	int ret = dso->elf ? 0 : dso_read_elf(dso, &err);

	put_u64(out, (uint64_t)-ret);
	put_string(out, err.text);
	if (ret)
		return;
	put_u64(out, dso->ehdr.e_machine);
	put_u64(out,
		(uint64_t)dso->go | (uint64_t)dso->has_needed << 1 | (uint64_t) !!dso->interp << 2);
	put_string(out, dso->interp);
	put_string(out, dso->build_id);
	put_u64(out, dso->dynamic_address);
	put_u64(out, dso->dynamic_bytes);
	put_u64(out, dso->frames_address);
	put_u64(out, dso->frames_bytes);
	put_u64(out, dso->segments.n);
	vec_for_each (&dso->segments, const struct dso_segment, s)
		text_addn(out, (const char *)s, sizeof(*s));
	put_u64(out, dso->code.n);
	vec_for_each (&dso->code, const struct dso_range, r)
		text_addn(out, (const char *)r, sizeof(*r));
}

static void answer_imports(struct dso *dso, struct text *out)
{
	const char *const *names;
	size_t n = dso_imports(dso, &names);

	put_u64(out, n);
	for (size_t i = 0; i < n; i++)
		put_string(out, names[i]);
}

static void answer_markers(struct dso *dso, struct text *out)
{
	const struct dso_marker *all;
	size_t n = dso_markers(dso, &all);

	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_string(out, all[i].provider);
		put_string(out, all[i].name);
		put_string(out, all[i].arguments);
		put_u64(out, all[i].address);
		put_u64(out, all[i].semaphore_offset);
	}
}

static void answer_slots(struct dso *dso, struct text *out)
{
	if (!dso->slots_loaded)
		dso_load_slots(dso);
	put_u64(out, dso->slots.n);
	for (uint32_t i = 0; dso->slots.n && i <= dso->slots.mask; i++) {
		const struct map_slot *slot = &dso->slots.slots[i];

		if (slot->value == MAP_NONE)
			continue;
		put_u64(out, slot->key);
		put_string(out, dso->slot_names.data[slot->value]);
	}
}

static void answer_functions(struct dso *dso, struct text *out)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);

	put_string(out, dso_symbol_source(dso));
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_u64(out, all[i].address);
		put_u64(out, all[i].size);
		put_u64(out, (uint64_t)all[i].size_guessed | (uint64_t)all[i].ifunc << 1 |
				     (uint64_t)all[i].default_version << 2 |
				     (uint64_t)all[i].exported << 3);
		put_string(out, all[i].symbol);
	}
}

static void answer_variables(struct dso *dso, struct text *out)
{
	uint64_t offset;

	dso_variable_at(dso, 0, &offset);
	put_u64(out, dso->variables.n);
	vec_for_each (&dso->variables, const struct dso_variable, v) {
		put_u64(out, v->address);
		put_u64(out, v->size);
		put_string(out, v->symbol);
	}
}

static void answer_names(struct dso *dso, uint64_t first, struct text *out)
{
	const struct dso_function *all;
	size_t n = dso_functions(dso, &all);

	for (uint64_t i = first; i < n && i < first + NAMES_AT_ONCE; i++) {
		put_string(out, dso_function_name(dso, &all[i]));
		put_string(out, dso_function_bare_name(dso, &all[i]));
	}
}

static void answer_demangled(struct dso *dso, const char *symbol, struct text *out)
{
	char *name = dso_demangle(dso, symbol);

	put_string(out, name);
	free(name);
}

static void answer_inlines(struct dso *dso, const struct request *r, struct text *out)
{
	struct dso_inline chain[INLINES_MAX];
	size_t n = dso_inlines_at(dso, r->address, chain, r->n < INLINES_MAX ? r->n : INLINES_MAX);

	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_string(out, chain[i].name);
		put_line(out, &chain[i].call);
	}
}

static void put_parameter(struct text *out, const struct dso_parameter *p)
{
	put_string(out, p->name);
	put_string(out, p->type);
	put_u64(out, p->passed);
	put_u64(out, p->bytes);
	put_u64(out, (uint64_t)p->is_signed | (uint64_t)p->is_pointer << 1);
	put_u64(out, p->place);
}

static void answer_prototype(struct dso *dso, const struct dso_function *f, struct text *out)
{
	struct dso_prototype p;
	bool known = f && dso_prototype(dso, f, &p);

	put_u64(out, known);
	if (!known)
		return;
	put_u64(out, p.n);
	put_u64(out, (uint64_t)p.variadic | (uint64_t)p.changed << 1);
	put_string(out, p.text);
	put_parameter(out, &p.result);
	for (uint32_t i = 0; i < p.n; i++)
		put_parameter(out, &p.parameters[i]);
}

static const struct dso_function *function_of(struct dso *dso, const struct request *r)
{
	const struct dso_function *all;

	return r->n < dso_functions(dso, &all) ? &all[r->n] : NULL;
}

static void answer_line(struct dso *dso, const struct request *r, struct text *out)
{
	struct dso_line line = { "", 0 };
	const struct dso_function *f;

	if (r->question == ASK_LINE) {
		line = dso_line_at(dso, r->address);
	} else {
		f = function_of(dso, r);
		if (f)
			line = dso_function_line(dso, f);
	}
	put_line(out, &line);
}

static void answer(struct dso *dso, const struct request *r, const char *name, struct text *out)
{
	switch ((enum question)r->question) {
	case ASK_ELF:
		answer_elf(dso, out);
		break;
	case ASK_IMPORTS:
		answer_imports(dso, out);
		break;
	case ASK_MARKERS:
		answer_markers(dso, out);
		break;
	case ASK_SLOTS:
		answer_slots(dso, out);
		break;
	case ASK_FUNCTIONS:
		answer_functions(dso, out);
		break;
	case ASK_VARIABLES:
		answer_variables(dso, out);
		break;
	case ASK_HAS_DWARF:
		put_u64(out, dso_has_dwarf(dso));
		break;
	case ASK_LINE:
	case ASK_FUNCTION_LINE:
		answer_line(dso, r, out);
		break;
	case ASK_INLINES:
		answer_inlines(dso, r, out);
		break;
	case ASK_LANGUAGE:
		put_u64(out, dso_language_at(dso, r->address));
		break;
	case ASK_ONLY_INLINED:
		put_u64(out, dso_only_inlined(dso, name));
		break;
	case ASK_PROTOTYPE:
		answer_prototype(dso, function_of(dso, r), out);
		break;
	case ASK_NAMES:
		answer_names(dso, r->n, out);
		break;
	case ASK_DEMANGLED:
		answer_demangled(dso, name, out);
		break;
	}
}

static void serve(struct dso *dso, int fd)
{
	const struct peer parent = { .fd = fd };

	for (;;) {
		struct text out = { 0 };
		struct request r;
		uint64_t bytes;
		char *name;

		if (receive_all(&parent, &r, sizeof(r)))
			_exit(0);
		name = xcalloc(1, (size_t)r.name_bytes + 1);
		if (receive_all(&parent, name, r.name_bytes))
			_exit(0);
		answer(dso, &r, name, &out);
		bytes = out.n;
		if (send_all(&parent, &bytes, sizeof(bytes)) || send_all(&parent, out.s, out.n))
			_exit(0);
		text_release(&out);
		free(name);
	}
}

/* Whose rights it has: the owner's, who gains nothing by them, and who may read what the file
 * refers to. Not the file's group's: a directory may have given it one that its owner is not in. */
static void become_child(struct dso *dso, int fd)
{
	uid_t uid = dso->st.st_uid ? dso->st.st_uid : NOBODY;

	dso->parser->is_child = true;
	if (sandbox_enter(uid, NOBODY, fd, dso->fd))
		_exit(126);
	serve(dso, fd);
}

/* ---- the parent ---- */

static void note_given_up(struct dso *dso)
{
	if (!dso->given_up)
		patience_give_up();
	dso->given_up = true;
}

bool dso_is_foreign(const struct dso *dso)
{
#if BUILT_WITH_SANITIZER
	(void)dso; /* a sanitizer asks for more than the sandbox allows, and is to see the parsing
		    */
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
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (p->fd >= 0)
		close(p->fd);
	p->pid = 0;
	p->fd = -1;
}

/* A program may have any number of files; what was read of one stays, and it can be asked again. */
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

/* The answer's bytes, which are to be freed; false: there is none. */
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
	ret = send_all(&child, &r, sizeof(r));
	if (!ret)
		ret = send_all(&child, name, r.name_bytes);
	if (!ret)
		ret = receive_all(&child, &bytes, sizeof(bytes));
	if (!ret && bytes > ANSWER_BYTES_MAX)
		ret = -EFBIG;
	*room = ret ? NULL : xmalloc(bytes + 1);
	if (!ret)
		ret = receive_all(&child, *room, bytes);
	patience_waited(dso->st.st_uid, now_ns, ret == -ETIMEDOUT && !ends_ns);
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

/* False: there is no room for so much more of this file. */
static bool take_room(struct dso *dso, uint64_t bytes)
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

/* An answer that stays, as most of it does. */
static bool ask_all(struct dso *dso, struct request r, char **room, struct answer *a)
{
	if (!ask(dso, r, NULL, room, a))
		return false;
	if (take_room(dso, (uint64_t)(a->end - a->at)))
		return true;
	free(*room);
	return false;
}

/* What this process does with an answer takes from the same time; ends what ask() has begun. */
static void taken(struct dso *dso, const struct answer *a, char *room)
{
	free(room);
	patience_waited(dso->st.st_uid, a->since_ns, false);
}

static const char *keep(struct dso *dso, const char *s)
{
	struct strtab *strings = &dso->parser->strings;

	if (strtab_find(strings, s) == MAP_NONE && !take_room(dso, strlen(s) + 1))
		return "";
	return strtab_get(strings, strtab_add(strings, s));
}

static const void *take_bytes(struct answer *a, size_t n)
{
	const void *bytes = a->at;

	a->is_bad |= (size_t)(a->end - a->at) < n;
	if (!a->is_bad)
		a->at += n;
	return a->is_bad ? NULL : bytes;
}

static void take_segments(struct dso *dso, struct answer *a)
{
	for (uint64_t n = take_u64(a); n && !a->is_bad; n--) {
		const void *bytes = take_bytes(a, sizeof(struct dso_segment));
		struct dso_segment s;

		if (!bytes)
			return;
		memcpy(&s, bytes, sizeof(s));
		dso_add_segment(dso, &s);
	}
}

static void take_code(struct dso *dso, struct answer *a)
{
	for (uint64_t n = take_u64(a); n && !a->is_bad; n--) {
		const void *bytes = take_bytes(a, sizeof(struct dso_range));
		struct dso_range r;

		if (!bytes)
			return;
		memcpy(&r, bytes, sizeof(r));
		dso_add_code(dso, r.start, r.end - r.start);
	}
	dso_finish_code(dso);
}

static void take_elf(struct dso *dso, struct answer *a)
{
	const char *interp;
	uint64_t flags;

	dso->ehdr.e_machine = (Elf64_Half)take_u64(a);
	flags = take_u64(a);
	dso->go = flags & 1;
	dso->has_needed = flags & 2;
	interp = take_string(a);
	dso->interp = flags & 4 ? xstrdup(interp) : NULL;
	dso->build_id = xstrdup(take_string(a));
	dso->dynamic_address = take_u64(a);
	dso->dynamic_bytes = take_u64(a);
	dso->frames_address = take_u64(a);
	dso->frames_bytes = take_u64(a);
	take_segments(dso, a);
	take_code(dso, a);
}

static int take_file(struct dso *dso, struct answer *a, struct err *err)
{
	int ret = -(int)(take_u64(a) & 0xfff);
	const char *why = take_string(a);
	void *image;

	if (ret)
		return err_set(err, ret, "%s", why);
	image = mmap(NULL, dso->copied_bytes, PROT_READ, MAP_PRIVATE, dso->fd, 0);
	if (image == MAP_FAILED)
		return err_set(err, -errno, "cannot map %s: %s; free some memory", dso->path,
			       strerror(errno));
	dso->image = image;
	dso->image_bytes = dso->copied_bytes;
	take_elf(dso, a);
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
	ret = take_file(dso, &a, err);
	taken(dso, &a, room);
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
	for (uint64_t n = take_u64(&a); n && !a.is_bad; n--) {
		const char *name = take_string(&a);

		if (*name)
			*vec_add(&dso->imports) = arena_strdup(&dso->strings, name);
	}
	taken(dso, &a, room);
}

void parser_markers(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_MARKERS }, &room, &a);

	dso->markers_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = take_u64(&a); n && !a.is_bad; n--) {
		struct dso_marker m = { .provider = arena_strdup(&dso->strings, take_string(&a)) };

		m.name = arena_strdup(&dso->strings, take_string(&a));
		m.arguments = arena_strdup(&dso->strings, take_string(&a));
		m.address = take_u64(&a);
		m.semaphore_offset = take_u64(&a);
		m.file_offset = dso_address_to_offset(dso, m.address);
		if (!a.is_bad && dso_code_range(dso, m.address) && m.file_offset != UINT64_MAX)
			*vec_add(&dso->markers) = m;
	}
	taken(dso, &a, room);
}

void parser_slots(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_SLOTS }, &room, &a);

	dso->slots_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = take_u64(&a); n && !a.is_bad; n--) {
		uint64_t address = take_u64(&a);

		map_put(&dso->slots, address, (uint32_t)dso->slot_names.n);
		*vec_add(&dso->slot_names) = arena_strdup(&dso->strings, take_string(&a));
	}
	taken(dso, &a, room);
}

void parser_functions(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_FUNCTIONS }, &room, &a);

	dso->symbols_loaded = true; /* not before the child is there, which loads them */
	dso->symbol_source = "none";
	if (!answered)
		return;
	dso->symbol_source = keep(dso, take_string(&a));
	for (uint64_t n = take_u64(&a); n && !a.is_bad; n--) {
		struct dso_function f = { .address = take_u64(&a), .size = take_u64(&a) };
		uint64_t flags = take_u64(&a), file_offset;
		const char *symbol = take_string(&a);

		file_offset = dso_address_to_offset(dso, f.address);
		if (a.is_bad || file_offset == UINT64_MAX)
			continue;
		if (!take_room(dso, 2 * sizeof(f))) /* and while there are more, twice */
			break;
		f.file_offset = file_offset;
		f.symbol = arena_strdup(&dso->strings, symbol);
		f.size_guessed = flags & 1;
		f.ifunc = flags & 2;
		f.default_version = flags & 4;
		f.exported = flags & 8;
		*vec_add(&dso->functions) = f;
	}
	taken(dso, &a, room);
}

void parser_variables(struct dso *dso)
{
	struct answer a;
	char *room;
	bool answered = ask_all(dso, (struct request){ .question = ASK_VARIABLES }, &room, &a);

	dso->variables_loaded = true;
	if (!answered)
		return;
	for (uint64_t n = take_u64(&a); n && !a.is_bad; n--) {
		struct dso_variable v = { .address = take_u64(&a), .size = take_u64(&a) };

		v.symbol = arena_strdup(&dso->strings, take_string(&a));
		if (!a.is_bad)
			*vec_add(&dso->variables) = v;
	}
	taken(dso, &a, room);
}

static uint64_t ask_number(struct dso *dso, struct request r, const char *name)
{
	uint64_t number = 0;
	struct answer a;
	char *room;

	if (ask(dso, r, name, &room, &a)) {
		number = take_u64(&a);
		taken(dso, &a, room);
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

static struct dso_line take_line(struct dso *dso, struct answer *a)
{
	uint32_t line = (uint32_t)take_u64(a);

	return (struct dso_line){ keep(dso, take_string(a)), line };
}

static struct dso_line ask_line(struct dso *dso, struct request r)
{
	struct dso_line line = { "", 0 };
	struct answer a;
	char *room;

	if (ask(dso, r, NULL, &room, &a)) {
		line = take_line(dso, &a);
		taken(dso, &a, room);
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

/* Without an answer they are the symbol. */
static void take_names(struct dso *dso, struct answer *a, struct dso_function *f)
{
	const char *name = take_string(a), *bare = take_string(a);

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
			take_names(dso, &a, &dso->functions.data[i]);
		taken(dso, &a, room);
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
	name = xstrdup(take_string(&a));
	taken(dso, &a, room);
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
	for (uint64_t left = take_u64(&a); left && n < room_n && !a.is_bad; left--, n++) {
		chain[n].name = keep(dso, take_string(&a));
		chain[n].call = take_line(dso, &a);
	}
	taken(dso, &a, room);
	return a.is_bad ? 0 : n;
}

static void take_parameter(struct dso *dso, struct answer *a, struct dso_parameter *p)
{
	uint64_t passed, flags;

	p->name = keep(dso, take_string(a));
	p->type = keep(dso, take_string(a));
	passed = take_u64(a);
	p->passed = passed <= DSO_PASSED_AGGREGATE ? (enum dso_passed)passed : DSO_PASSED_NOT;
	p->bytes = (uint32_t)take_u64(a);
	flags = take_u64(a);
	p->is_signed = flags & 1;
	p->is_pointer = flags & 2;
	p->place = (uint32_t)take_u64(a);
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
	known = take_u64(&a);
	if (known) {
		n = take_u64(&a);
		flags = take_u64(&a);
		out->variadic = flags & 1;
		out->changed = flags & 2;
		out->text = keep(dso, take_string(&a));
		take_parameter(dso, &a, &out->result);
		for (; out->n < n && out->n < DSO_PARAMETERS_MAX; out->n++)
			take_parameter(dso, &a, &out->parameters[out->n]);
	}
	taken(dso, &a, room);
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
