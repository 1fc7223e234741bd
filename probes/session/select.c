/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/regular.h"
#include "base/text.h"
#include "probes/kernel/bpfprog.h"
#include "probes/process/program.h"
#include "probes/process/status.h"
#include "probes/process/translator.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "probes/session/internal.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"
#include "symbol/maps.h"

/* Returns the share that the first pass saw of a function. */
static double known_share(const struct session *s, const struct planned *p)
{
	for (size_t i = 0; s->r.options->cpu_shares && i < s->r.options->n_patterns; i++)
		if (p->what.pattern && !strcmp(p->what.pattern, s->r.options->patterns[i]))
			return s->r.options->cpu_shares[i];
	return NAN;
}

bool session_is_region(const struct session *s, const char *symbol)
{
	for (const char *const *glob = s->r.options->regions; glob && *glob; glob++)
		if (!fnmatch(*glob, symbol, 0))
			return true;
	return false;
}

/* Returns whether no function of a glob has the wanted arguments. Some may lack them, but one must
 * have them. */
static bool are_wrong(const struct session *s, const struct planned *p)
{
	if (!p->wrong_arguments.code || p->what.by_name)
		return p->wrong_arguments.code;
	vec_for_each (&s->r.plan, struct planned *, other)
		if ((*other)->what.pattern == p->what.pattern && !(*other)->wrong_arguments.code)
			return false;
	return true;
}

/* Selects functions. The executable's object comes first, whatever else is known by then. */
static int select_in(struct session *s, size_t first, size_t n_executables, struct err *err)
{
	size_t n = s->r.objects.n - first, chosen = s->selection.chosen.n;
	struct dso **dsos = xcalloc(n ? n : 1, sizeof(*dsos));
	int ret;

	for (size_t i = 0; i < n; i++)
		dsos[i] = s->r.objects.data[first + i].dso;
	ret = n && !s->r.is_hybrid
		      ? selection_add(&s->selection, s->r.patterns, dsos, n, n_executables, err)
		      : 0;
	if (!ret)
		plan_add(&s->r.plan, &s->selection, chosen, &s->r.objects.traits,
			 s->r.kernel_version);
	for (size_t i = chosen; i < s->r.plan.n && !ret; i++) {
		struct planned *p = s->r.plan.data[i];

		p->cpu_share = known_share(s, p);
		p->region = session_is_region(s, p->what.function->symbol);
		if (are_wrong(s, p)) {
			*err = p->wrong_arguments;
			ret = err->code;
		}
	}
	if (!ret)
		session_beside_offer(s, chosen);
	free(dsos);
	return ret;
}

static void name_program(struct session *s, const char *path)
{
	free(s->program);
	s->program = xstrdup(text_base_name(path));
}

/* Names the program by the word that started it: its file may have another name (redis-server is a
 * link) or be an interpreter. Titles that a process gives itself begin with its name. */
static bool name_as_started(struct session *s, pid_t pid)
{
	char words[4096];

	if (!status_words(pid, words, sizeof(words)))
		return false;
	words[strcspn(words, " :")] = '\0';
	name_program(s, words + (*words == '-')); /* a login shell's name begins with '-' */
	return *s->program != '\0';
}

/* Names the program after the first attached process. The name of a deleted file ends with "
 * (deleted)". */
static void name_process(struct session *s, pid_t pid)
{
	char link[64], path[4096], *deleted;
	ssize_t n;

	if (name_as_started(s, pid))
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	deleted = strstr(path, " (deleted)");
	if (deleted)
		*deleted = '\0';
	name_program(s, path);
}

/*
 * Adds programs that a shell's words name by path, so that their probes are in before they start.
 * Other programs are handled when they start.
 */
static void add_started(struct session *s, const char *words)
{
	static const char ends[] = " \t\n'\"`;|&()<>";
	char path[4096];

	for (size_t n; *words; words += n + (words[n] != '\0')) {
		struct dso *dso;

		n = strcspn(words, ends);
		if (!n || n >= sizeof(path) || !memchr(words, '/', n))
			continue;
		memcpy(path, words, n);
		path[n] = '\0';
		if (!access(path, X_OK) && !dso_get(s->r.objects.dsos, path, &dso, NULL))
			session_add_object(&s->r.objects, dso, path, true);
	}
}

static void add_started_by_script(struct session *s, const char *path)
{
	char words[65536];
	FILE *f = regular_fopen(path);
	size_t n = f ? fread(words, 1, sizeof(words) - 1, f) : 0;

	if (f)
		fclose(f);
	words[n] = '\0';
	add_started(s, words);
}

static int objects_of_command(struct session *s, size_t *n_executables, struct err *err)
{
	struct dso_closure closure = { 0 };
	struct command_program program;
	struct dso *dso;
	int ret = command_program_find(&program, s->r.options->argv, err);

	if (ret)
		return ret;
	ret = translator_refuse(program.script ? program.script : program.path, err);
	if (ret) {
		command_program_release(&program);
		return ret;
	}
	name_program(s, program.script ? program.script : program.path);
	s->starts_others = program.is_shell;
	s->r.objects.traits.forks |= program.forks;
	if (program.is_shell)
		log_detail("%s is a shell's: what it starts is looked at when it starts",
			   s->program);
	ret = dso_closure_in(s->r.objects.dsos, program.path, program.environment, &closure, err);
	for (size_t i = 0; i < closure.n && !ret; i++) {
		ret = dso_get(s->r.objects.dsos, closure.paths[i], &dso, err);
		if (!ret)
			session_add_object(&s->r.objects, dso, closure.paths[i], i == 0);
		if (!ret && i == 0 && program.is_shell) {
			for (char *const *word = s->r.options->argv + 1; !program.script && *word;
			     word++)
				add_started(s, *word);
			if (program.script)
				add_started_by_script(s, program.script);
			*n_executables = s->r.objects.n;
		}
	}
	dso_closure_release(&closure);
	command_program_release(&program);
	return ret;
}

static ino_t executable_of(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* Adds the file of a mapping, without an error if it cannot be opened. *executable is set if the
 * file is the process's program. */
static void add_mapping(struct session *s, pid_t pid, const struct mapping *m, bool executable)
{
	struct err why = { 0 };
	char path[4096];
	struct dso *dso;

	if (mapping_path(m, pid, path, sizeof(path), &why) ||
	    dso_get_of(s->r.objects.dsos, dso_origin_of_process(pid), path, &dso, &why)) {
		log_detail("%s is left out: %s", m->path, why.text);
		return;
	}
	session_add_object(&s->r.objects, dso, path, executable);
}

static bool is_new(struct map *seen, const struct mapping *m)
{
	uint64_t key = hash_u64(m->device) ^ hash_u64(~m->inode);
	bool is_known = map_get(seen, key) != MAP_NONE;

	map_put(seen, key, 0);
	return !is_known;
}

/* Adds the program first: patterns without an object are searched there before they are searched in
 * libraries. */
static int add_mappings(struct session *s, pid_t pid, size_t *n_executables, struct err *err)
{
	struct mappings maps = { 0 };
	struct map seen = { 0 }; /* a file may be mapped thousands of times */
	ino_t program = executable_of(pid);
	size_t before = s->r.objects.n;
	int ret = mappings_read(&maps, pid, err);

	vec_for_each (&maps, struct mapping, m)
		if (m->inode == program && is_new(&seen, m))
			add_mapping(s, pid, m, true);
	*n_executables = s->r.objects.n - before;
	vec_for_each (&maps, struct mapping, m)
		if (is_new(&seen, m))
			add_mapping(s, pid, m, false);
	map_release(&seen);
	mappings_release(&maps);
	return ret;
}

/* Returns an error if no function that -F matches can be traced and no other will join. */
static int refuse_impossible(const struct session *s, struct err *err)
{
	const struct planned *p = s->r.plan.n ? s->r.plan.data[0] : NULL;

	if (!p || !patterns_all_matched(s->r.patterns))
		return 0;
	for (size_t i = 0; i < s->r.plan.n; i++)
		if (s->r.plan.data[i]->possible || s->r.plan.data[i]->is_beside)
			return 0;
	return err_set(err, -ENOTSUP,
		       "%s in %s%s cannot be traced: %s; name other functions with -F",
		       dso_function_name(p->what.dso, p->what.function), dso_path(p->what.dso),
		       s->r.plan.n > 1 ? " and the others" : "", p->reason);
}

/* Refuses Go programs without -F: they have none of the functions that ispot would choose. */
static int refuse_go_programs(const struct session *s, struct err *err)
{
	const struct dso *first = NULL;

	vec_for_each (&s->r.objects, const struct session_object, o) {
		if (o->executable && !dso_is_go(o->dso))
			return 0;
		if (o->executable && !first)
			first = o->dso;
	}
	return first ? selection_refuse_go(first, err) : 0;
}

int session_select(struct session *s, struct err *err)
{
	size_t n_executables = 1, n;
	struct dso **dsos;
	int ret = 0;

	if (s->r.options->n_pids)
		name_process(s, s->r.options->pids[0]);
	if (!s->r.options->n_pids) {
		ret = objects_of_command(s, &n_executables, err);
		if (!ret)
			ret = select_in(s, 0, n_executables, err);
	}
	for (size_t i = 0; i < s->r.options->n_pids; i++) {
		size_t first = s->r.objects.n;

		ret = add_mappings(s, s->r.options->pids[i], &n_executables, err);
		if (!ret)
			ret = select_in(s, first, n_executables, err);
		if (ret)
			break;
	}
	if (!ret && s->r.is_hybrid)
		ret = refuse_go_programs(s, err);
	/* The functions that a first pass chose are there, or will come. */
	if (ret || s->r.is_hybrid || s->starts_others || s->r.options->cpu_shares ||
	    (s->r.options->some_match && s->r.plan.n))
		return ret;
	n = s->r.objects.n;
	dsos = xcalloc(n ? n : 1, sizeof(*dsos));
	for (size_t i = 0; i < n; i++)
		dsos[i] = s->r.objects.data[i].dso;
	ret = selection_missing(&s->selection, s->r.patterns, dsos, n, err);
	free(dsos);
	return ret ? ret : refuse_impossible(s, err);
}

/* Notes that functions of the plan came with the last set. Their objects had been mapped since
 * mapped_ns. */
static void note_late(struct session *s, size_t planned, uint64_t mapped_ns)
{
	uint64_t now_ns = clock_now_ns();
	const struct dso *last = NULL;

	if (!s->r.begun)
		return;
	for (size_t i = planned; i < s->r.plan.n; i++) {
		struct dso *dso = s->r.plan.data[i]->what.dso;

		if (dso == last || !s->r.plan.data[i]->possible)
			continue;
		if (!s->late.objects++)
			s->late.path = dso_path(dso);
		s->late.has_executable |=
			s->r.objects.data[session_object_id(&s->r.objects, dso)].executable;
		last = dso;
	}
	if (!mapped_ns ||
	    s->r.is_between_bursts) /* in that case the probes come with the next burst */
		s->late.unknown = true;
	else if (now_ns > mapped_ns + s->late.most_ns)
		s->late.most_ns = now_ns - mapped_ns;
}

void session_report_late(struct session *s)
{
	char others[64] = "", moment[TEXT_NUMBER], objects[TEXT_COUNTED], name[128];
	char words[512];
	const char *remedy = "";

	if (s->r.is_hybrid || !s->late.objects)
		return;
	if (s->late.objects > 1)
		snprintf(others, sizeof(others), " and %s more",
			 text_counted(objects, s->late.objects - 1, "file"));
	if (s->late.has_executable)
		remedy = "; record the program itself to see its beginning";
	snprintf(
		words, sizeof(words),
		"functions of %s%s, mapped while it was recorded, are traced from %s%s after that: "
		"earlier calls are in no count%s",
		text_printable(name, sizeof(name), text_base_name(s->late.path)), others,
		s->late.unknown ? "some time" : "at most ",
		s->late.unknown ? "" : text_time(moment, s->late.most_ns), remedy);
	session_write_notice(&s->r, "joined-late", words);
}

static int join_process(struct session *s, pid_t pid, uint64_t mapped_ns, struct err *err)
{
	size_t objects = s->r.objects.n, planned = s->r.plan.n, n_executables = 0;
	struct probeset *set = NULL;
	struct err gone = { 0 };
	int ret;

	if (add_mappings(s, pid, &n_executables, &gone) || s->r.objects.n == objects)
		return 0;
	session_write_objects(&s->r, objects);
	ret = select_in(s, objects, n_executables, err);
	for (size_t i = planned; i < s->r.plan.n && ret; i++)
		s->r.plan.data[i]->possible = false;
	if (ret || s->r.plan.n == planned)
		return ret;
	ret = session_build_set(s, planned, &set, err);
	if (!ret && set)
		ret = session_open_on_targets(&s->attach, &s->r, set, err);
	if (!ret && set) {
		session_write_set(&s->r, set, true);
		note_late(s, planned, mapped_ns);
	}
	return ret;
}

struct joining {
	pid_t pid;
	uint64_t mapped_ns; /* the earliest; 0: unknown */
};

struct joinings {
	VEC(struct joining)
};

static void add_joining(struct joinings *joinings, pid_t pid, uint64_t mapped_ns)
{
	vec_for_each (joinings, struct joining, j)
		if (j->pid == pid) {
			j->mapped_ns = mapped_ns < j->mapped_ns ? mapped_ns : j->mapped_ns;
			return;
		}
	*vec_add(joinings) = (struct joining){ pid, mapped_ns };
}

#define JOIN_FIRST_NS 1000000000ull /* of reading mappings; later, also a share of the time */
#define JOIN_ONE_IN   20

/* Returns whether mappings may still be read: a program that maps files without end decides how
 * long that takes. */
static bool may_join(const struct session *s, uint64_t now_ns)
{
	return s->late.joined_ns <= JOIN_FIRST_NS + (now_ns - s->r.open_ns) / JOIN_ONE_IN &&
	       !interrupt_pending();
}

static void join_all(struct session *s, const struct joinings *joinings)
{
	vec_for_each (joinings, const struct joining, j) {
		uint64_t began_ns = clock_now_ns();
		struct err err = { 0 };

		if (interrupt_pending())
			return;
		if (join_process(s, j->pid, j->mapped_ns, &err))
			session_write_notice(&s->r, "join", err.text);
		s->late.joined_ns += clock_now_ns() - began_ns;
	}
}

void session_join_mapped(struct session *s)
{
	struct joinings joinings = { 0 };
	struct pids pids = { 0 };

	if (!may_join(s, clock_now_ns())) {
		s->late.waits |= s->r.drain.n_mappings || s->r.drain.mappings_overflowed;
		s->r.drain.n_mappings = 0;
		s->r.drain.mappings_overflowed = false;
		return;
	}
	if (s->r.drain.mappings_overflowed ||
	    s->late.waits) /* it is unknown which processes mapped something, so all are read */
		bpfprog_targets(s->r.programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		add_joining(&joinings, *pid, 0);
	for (size_t i = 0; i < s->r.drain.n_mappings; i++)
		add_joining(&joinings, s->r.drain.mappings[i].pid, s->r.drain.mappings[i].time_ns);
	s->r.drain.n_mappings = 0;
	s->r.drain.mappings_overflowed = s->late.waits = false;
	join_all(s, &joinings);
	vec_release(&joinings);
	vec_release(&pids);
}

void session_report_no_keys(struct session *s)
{
	for (size_t k = 0; k < s->r.plan.no_key.n; k++) {
		const char *name = s->r.plan.no_key.names[k];
		bool known = !strcmp(name, "*");
		char words[256], shown[128];

		for (size_t i = 0; i < s->r.plan.n && !known; i++)
			known = no_key_means(name, s->r.plan.data[i]->what.dso,
					     s->r.plan.data[i]->what.function);
		snprintf(words, sizeof(words), "--no-key %s: no function of that name was traced",
			 text_printable(shown, sizeof(shown), name));
		if (!known)
			session_write_notice(&s->r, "no-key", words);
	}
}
