/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/session/select.h"

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
#include "probes/recording/meta.h"
#include "probes/recording/options.h"
#include "probes/recording/recording.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "probes/session/beside.h"
#include "probes/session/set.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"
#include "symbol/maps.h"
#include "trace/meta/print.h"

/* Returns the share that the first pass saw of a function. */
static double known_share(const struct recording *r, const struct planned *p)
{
	for (size_t i = 0; r->options->cpu_shares && i < r->options->n_patterns; i++)
		if (p->what.pattern && !strcmp(p->what.pattern, r->options->patterns[i]))
			return r->options->cpu_shares[i];
	return NAN;
}

bool session_is_region(const struct recording *r, const char *symbol)
{
	for (const char *const *glob = r->options->regions; glob && *glob; glob++)
		if (!fnmatch(*glob, symbol, 0))
			return true;
	return false;
}

/* Returns whether no function of a glob has the wanted arguments. Some may lack them, but one must
 * have them. */
static bool are_wrong(const struct recording *r, const struct planned *p)
{
	if (!p->wrong_arguments.code || p->what.by_name)
		return p->wrong_arguments.code;
	vec_for_each (&r->plan, struct planned *, other)
		if ((*other)->what.pattern == p->what.pattern && !(*other)->wrong_arguments.code)
			return false;
	return true;
}

/* Selects functions. The executable's object comes first, whatever else is known by then. */
static int select_in(struct select *sel, struct recording *r, size_t first, size_t n_executables,
		     struct err *err)
{
	size_t n = r->objects.n - first, chosen = sel->selection.chosen.n;
	struct dso **dsos = xcalloc(n ? n : 1, sizeof(*dsos));
	int ret;

	for (size_t i = 0; i < n; i++)
		dsos[i] = r->objects.data[first + i].dso;
	ret = n && !r->is_hybrid
		      ? selection_add(&sel->selection, r->patterns, dsos, n, n_executables, err)
		      : 0;
	if (!ret) {
		session_beside_choose(r, &sel->selection, dsos, n, n_executables);
		session_plan_selected(sel, r, chosen);
	}
	for (size_t i = chosen; i < r->plan.n && !ret; i++) {
		struct planned *p = r->plan.data[i];

		p->cpu_share = known_share(r, p);
		p->region = session_is_region(r, p->what.function->symbol);
		if (are_wrong(r, p)) {
			*err = p->wrong_arguments;
			ret = err->code;
		}
	}
	if (!ret)
		session_beside_offer(sel->beside, r, chosen);
	free(dsos);
	return ret;
}

static void name_program(struct select *sel, const char *path)
{
	free(sel->program);
	sel->program = xstrdup(text_base_name(path));
}

/* Names the program after the first attached process. */
static void name_process(struct select *sel, pid_t pid)
{
	char *name = program_of_process(pid);

	if (!name)
		return;
	free(sel->program);
	sel->program = name;
}

/*
 * Adds programs that a shell's words name by path, so that their probes are in before they start.
 * Other programs are handled when they start.
 */
static void add_started(struct recording *r, const char *words)
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
		if (!access(path, X_OK) && !dso_get(r->objects.dsos, path, &dso, NULL))
			objects_add(&r->objects, dso, path, true);
	}
}

static void add_started_by_script(struct recording *r, const char *path)
{
	char words[65536];
	FILE *f = regular_fopen(path);
	size_t n = f ? fread(words, 1, sizeof(words) - 1, f) : 0;

	if (f)
		fclose(f);
	words[n] = '\0';
	add_started(r, words);
}

static int objects_of_command(struct select *sel, struct recording *r, size_t *n_executables,
			      struct err *err)
{
	struct dso_closure closure = { 0 };
	struct command_program program;
	struct dso *dso;
	int ret = command_program_find(&program, r->options->argv, err);

	if (ret)
		return ret;
	ret = translator_refuse(program.script ? program.script : program.path, err);
	if (ret) {
		command_program_release(&program);
		return ret;
	}
	name_program(sel, program.script ? program.script : program.path);
	sel->starts_others = program.is_shell;
	r->objects.traits.forks |= program.forks;
	if (program.is_shell)
		log_detail("%s is a shell's: what it starts is looked at when it starts",
			   sel->program);
	ret = dso_closure_in(r->objects.dsos, program.path, program.environment, &closure, err);
	for (size_t i = 0; i < closure.n && !ret; i++) {
		ret = dso_get(r->objects.dsos, closure.paths[i], &dso, err);
		if (!ret)
			objects_add(&r->objects, dso, closure.paths[i], i == 0);
		if (!ret && i == 0 && program.is_shell) {
			for (char *const *word = r->options->argv + 1; !program.script && *word;
			     word++)
				add_started(r, *word);
			if (program.script)
				add_started_by_script(r, program.script);
			*n_executables = r->objects.n;
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
static void add_mapping(struct recording *r, pid_t pid, const struct mapping *m, bool executable)
{
	struct err why = { 0 };
	char path[4096];
	struct dso *dso;

	if (mapping_path(m, pid, path, sizeof(path), &why) ||
	    dso_get_of(r->objects.dsos, dso_origin_of_process(pid), path, &dso, &why)) {
		log_detail("%s is left out: %s", m->path, why.text);
		return;
	}
	objects_add(&r->objects, dso, path, executable);
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
static int add_mappings(struct recording *r, pid_t pid, size_t *n_executables, struct err *err)
{
	struct mappings maps = { 0 };
	struct map seen = { 0 }; /* a file may be mapped thousands of times */
	ino_t program = executable_of(pid);
	size_t before = r->objects.n;
	int ret = mappings_read(&maps, pid, err);

	vec_for_each (&maps, struct mapping, m)
		if (m->inode == program && is_new(&seen, m))
			add_mapping(r, pid, m, true);
	*n_executables = r->objects.n - before;
	vec_for_each (&maps, struct mapping, m)
		if (is_new(&seen, m))
			add_mapping(r, pid, m, false);
	map_release(&seen);
	mappings_release(&maps);
	return ret;
}

/* Returns an error if no function that -F matches can be traced and no other will join. */
static int refuse_impossible(const struct recording *r, struct err *err)
{
	const struct planned *p = r->plan.n ? r->plan.data[0] : NULL;

	if (!p || !patterns_all_matched(r->patterns))
		return 0;
	for (size_t i = 0; i < r->plan.n; i++)
		if (r->plan.data[i]->possible || r->plan.data[i]->is_beside)
			return 0;
	return err_set(err, -ENOTSUP,
		       "%s in %s%s cannot be traced: %s; name other functions with -F",
		       dso_function_name(p->what.dso, p->what.function), dso_path(p->what.dso),
		       r->plan.n > 1 ? " and the others" : "", p->reason);
}

/* Returns the first program if all that are known are written in Go, or NULL. */
static const struct dso *go_program(const struct recording *r)
{
	const struct dso *first = NULL;

	vec_for_each (&r->objects, const struct traced_object, o) {
		if (o->executable && !dso_is_go(o->dso))
			return NULL;
		if (o->executable && !first)
			first = o->dso;
	}
	return first;
}

/* Without functions, only samples and what threads wait for are left; a file shows them, but what
 * needs calls shows nothing. */
static int refuse_go_programs(const struct recording *r, struct err *err)
{
	const struct dso *program = go_program(r);

	return program && (r->options->live || r->options->scout)
		       ? selection_refuse_go(program, err)
		       : 0;
}

void session_report_go(struct recording *r)
{
	const struct dso *program = r->is_hybrid ? go_program(r) : NULL;
	char words[512], name[128];

	if (!program)
		return;
	snprintf(words, sizeof(words),
		 "%s is a Go program: no function of it is traced, and what its goroutines wait "
		 "for is unknown; Go's own mutex and block profiles show that (go tool pprof)",
		 text_printable(name, sizeof(name), text_base_name(dso_path(program))));
	recording_write_notice(r, "go", words);
}

void session_report_unselected(struct select *sel, struct recording *r)
{
	for (; sel->n_reported < sel->selection.left_out.n; sel->n_reported++) {
		const struct unselected *u = &sel->selection.left_out.data[sel->n_reported];
		struct meta_not_traced n = { .name = u->name,
					     .object = u->object,
					     .reason = u->reason,
					     .cpu_share = NAN,
					     .calls_per_s = NAN,
					     .cost_share = NAN };
		struct text line = { 0 };

		if (!u->marker)
			continue;
		log_notice("marker %s in %s is not traced: %s", u->name, u->object, u->reason);
		meta_print_not_traced(&n, &line);
		recording_write_line(r, &line);
	}
}

int session_select(struct select *sel, struct recording *r, struct err *err)
{
	size_t n_executables = 1, n;
	struct dso **dsos;
	int ret = 0;

	if (r->options->n_pids)
		name_process(sel, r->options->pids[0]);
	if (!r->options->n_pids) {
		ret = objects_of_command(sel, r, &n_executables, err);
		if (!ret)
			ret = select_in(sel, r, 0, n_executables, err);
	}
	for (size_t i = 0; i < r->options->n_pids; i++) {
		size_t first = r->objects.n;

		ret = add_mappings(r, r->options->pids[i], &n_executables, err);
		if (!ret)
			ret = select_in(sel, r, first, n_executables, err);
		if (ret)
			break;
	}
	if (!ret && r->is_hybrid)
		ret = refuse_go_programs(r, err);
	/* The functions that a first pass chose are there, or will come. */
	if (ret || r->is_hybrid || sel->starts_others || r->options->cpu_shares ||
	    (r->options->some_match && r->plan.n))
		return ret;
	n = r->objects.n;
	dsos = xcalloc(n ? n : 1, sizeof(*dsos));
	for (size_t i = 0; i < n; i++)
		dsos[i] = r->objects.data[i].dso;
	ret = selection_missing(&sel->selection, r->patterns, dsos, n, err);
	free(dsos);
	return ret ? ret : refuse_impossible(r, err);
}

/* Notes that functions of the plan came with the last set. Their objects had been mapped since
 * mapped_ns. */
static void note_late(struct select *sel, const struct recording *r, size_t planned,
		      uint64_t mapped_ns)
{
	uint64_t now_ns = clock_now_ns();
	const struct dso *last = NULL;

	if (!r->begun)
		return;
	for (size_t i = planned; i < r->plan.n; i++) {
		struct dso *dso = r->plan.data[i]->what.dso;

		if (dso == last || !r->plan.data[i]->possible)
			continue;
		if (!sel->late.objects++)
			sel->late.path = dso_path(dso);
		sel->late.has_executable |=
			r->objects.data[objects_id(&r->objects, dso)].executable;
		last = dso;
	}
	if (!mapped_ns ||
	    r->is_between_bursts) /* in that case the probes come with the next burst */
		sel->late.unknown = true;
	else if (now_ns > mapped_ns + sel->late.most_ns)
		sel->late.most_ns = now_ns - mapped_ns;
}

void session_report_late(const struct select *sel, struct recording *r)
{
	char others[64] = "", moment[TEXT_NUMBER], objects[TEXT_COUNTED], name[128];
	char words[512];
	const char *remedy = "";

	if (r->is_hybrid || !sel->late.objects)
		return;
	if (sel->late.objects > 1)
		snprintf(others, sizeof(others), " and %s more",
			 text_counted(objects, sel->late.objects - 1, "file"));
	if (sel->late.has_executable)
		remedy = "; record the program itself to see its beginning";
	snprintf(
		words, sizeof(words),
		"functions of %s%s, mapped while it was recorded, are traced from %s%s after that: "
		"earlier calls are in no count%s",
		text_printable(name, sizeof(name), text_base_name(sel->late.path)), others,
		sel->late.unknown ? "some time" : "at most ",
		sel->late.unknown ? "" : text_time(moment, sel->late.most_ns), remedy);
	recording_write_notice(r, "joined-late", words);
}

static int join_process(struct select *sel, struct recording *r, pid_t pid, uint64_t mapped_ns,
			struct err *err)
{
	size_t objects = r->objects.n, planned = r->plan.n, n_executables = 0;
	struct err gone = { 0 };
	bool added;
	int ret;

	if (add_mappings(r, pid, &n_executables, &gone) || r->objects.n == objects)
		return 0;
	objects_write(r, objects);
	ret = select_in(sel, r, objects, n_executables, err);
	for (size_t i = planned; i < r->plan.n && ret; i++)
		r->plan.data[i]->possible = false;
	if (ret || r->plan.n == planned)
		return ret;
	session_report_unselected(sel, r);
	ret = session_add_set(sel->attach, r, sel->costs, planned, &added, err);
	if (!ret && added)
		note_late(sel, r, planned, mapped_ns);
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
static bool may_join(const struct select *sel, const struct recording *r, uint64_t now_ns)
{
	return sel->late.joined_ns <= JOIN_FIRST_NS + (now_ns - r->open_ns) / JOIN_ONE_IN &&
	       !interrupt_pending();
}

static void join_all(struct select *sel, struct recording *r, const struct joinings *joinings)
{
	vec_for_each (joinings, const struct joining, j) {
		uint64_t began_ns = clock_now_ns();
		struct err err = { 0 };

		if (interrupt_pending())
			return;
		if (join_process(sel, r, j->pid, j->mapped_ns, &err))
			recording_write_notice(r, "join", err.text);
		sel->late.joined_ns += clock_now_ns() - began_ns;
	}
}

void session_join_mapped(struct select *sel, struct recording *r)
{
	struct joinings joinings = { 0 };
	struct pids pids = { 0 };

	if (!may_join(sel, r, clock_now_ns())) {
		sel->late.waits |= r->drain.n_mappings || r->drain.mappings_overflowed;
		r->drain.n_mappings = 0;
		r->drain.mappings_overflowed = false;
		return;
	}
	if (r->drain.mappings_overflowed ||
	    sel->late.waits) /* it is unknown which processes mapped something, so all are read */
		bpfprog_targets(r->programs, &pids);
	vec_for_each (&pids, pid_t, pid)
		add_joining(&joinings, *pid, 0);
	for (size_t i = 0; i < r->drain.n_mappings; i++)
		add_joining(&joinings, r->drain.mappings[i].pid, r->drain.mappings[i].time_ns);
	r->drain.n_mappings = 0;
	r->drain.mappings_overflowed = sel->late.waits = false;
	join_all(sel, r, &joinings);
	vec_release(&joinings);
	vec_release(&pids);
}

void session_report_no_keys(struct recording *r)
{
	for (size_t k = 0; k < r->plan.no_key.n; k++) {
		const char *name = r->plan.no_key.names[k];
		bool known = !strcmp(name, "*");
		char words[256], shown[128];

		for (size_t i = 0; i < r->plan.n && !known; i++)
			known = no_key_means(name, r->plan.data[i]->what.dso,
					     r->plan.data[i]->what.function);
		snprintf(words, sizeof(words), "--no-key %s: no function of that name was traced",
			 text_printable(shown, sizeof(shown), name));
		if (!known)
			recording_write_notice(r, "no-key", words);
	}
}

void session_select_init(struct select *sel, const struct recording *r)
{
	sel->selection.excluding = r->is_hybrid ? r->patterns : NULL;
}

int session_select_matching(struct select *sel, const struct recording *r,
			    struct patterns *patterns, struct err *err)
{
	const struct objects *objects = &r->objects;
	struct dso **dsos = xcalloc(objects->n + 1, sizeof(*dsos));
	int ret;

	for (size_t i = 0; i < objects->n; i++)
		dsos[i] = objects->data[i].dso;
	ret = selection_add(&sel->selection, patterns, dsos, objects->n, 0, err);
	free(dsos);
	return ret;
}

void session_select_function(struct select *sel, struct dso *dso, const struct dso_function *f)
{
	selection_add_function(&sel->selection, dso, f);
}

void session_select_dropped_again(struct select *sel, const struct recording *r)
{
	for (size_t i = 0; i < r->plan.n; i++)
		if (r->plan.data[i]->what.is_dropped)
			selection_drop(&sel->selection, i);
}

size_t session_n_selected(const struct select *sel)
{
	return sel->selection.chosen.n;
}

void session_select_keep(struct select *sel, size_t n)
{
	selection_keep(&sel->selection, n);
}

void session_plan_selected(const struct select *sel, struct recording *r, size_t first)
{
	plan_add(&r->plan, &sel->selection, first, &r->objects.traits, r->kernel_version);
}

bool session_waits_to_join(const struct select *sel)
{
	return sel->late.waits;
}

const char *session_program(const struct select *sel)
{
	return sel->program;
}

void session_select_release(struct select *sel)
{
	selection_release(&sel->selection);
	free(sel->program);
}
