/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_fixture.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "probes/select/match.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"

static const char app_source[] =
	"#include <vector>\n"
	"#include <string>\n"
	"#define KEEP __attribute__((noinline, used))\n"
	"extern \"C\" { int lib_work(int); int lib_both(int); }\n"
	"namespace ns {\n"
	"struct Box { KEEP Box(int n) : n(n) {} KEEP int operator()(int k) { return n + k; }\n"
	"	KEEP bool operator<(const Box &o) const { return n < o.n; } int n; };\n"
	"KEEP int plain(int a) { return a + 1; }\n"
	"KEEP int plain(const char *a) { return a[0]; }\n"
	"template <typename T> KEEP T twice(T t) { return t + t; }\n"
	"}\n"
	"namespace { KEEP int hidden(int a) { return a * 3; } }\n"
	"KEEP int free_function(int a) { return a * 5; }\n"
	"static inline __attribute__((always_inline)) int only_inline(int a)\n"
	"{ for (int i = 0; i < 3; i++) a = a * 7 + i; return a; }\n"
	"extern \"C\" {\n"
	"KEEP int original(int a) { return a - 1; }\n"
	"int __original(int a) __attribute__((alias(\"original\")));\n"
	"KEEP int lib_both(int a) { return a; }\n"
	"KEEP int parse_head(int a) { return a + 11; }\n"
	"KEEP int parse_tail(int a) { return a + 12; }\n"
	"KEEP int copied_copy(int a) asm(\"copied.constprop.0\");\n"
	"int copied_copy(int a) { return a + 13; }\n"
	"KEEP int cold_part(int a) asm(\"parse_head.cold\");\n"
	"int cold_part(int a) { return a + 14; }\n"
	"KEEP int cold_cxx(int a) asm(\"_Z13free_functioni.cold\");\n"
	"int cold_cxx(int a) { return a + 15; }\n"
	"static int one(int a) { return a; }\n"
	"static void *resolve() { return (void *)one; }\n"
	"int chosen_late(int a) __attribute__((ifunc(\"resolve\")));\n"
	"}\n"
	"int main(int c, char **v) {\n"
	"	ns::Box b(c); std::vector<int> w; w.push_back(c);\n"
	"	return ns::plain(c) + ns::plain(v[0]) + ns::twice(c) + (int)ns::twice(2.0 * c) + hidden(c) +\n"
	"		free_function(c) + only_inline(c) + original(c) + lib_work(c) + b(c) + (b < b) + w[0] +\n"
	"		parse_head(c) + parse_tail(c) + copied_copy(c) + cold_part(c) +\n"
	"		cold_cxx(c) + chosen_late(c) + lib_both(c); }\n";

static const char lib_source[] = "__attribute__((noinline)) int lib_work(int a) { return a * 2; }\n"
				 "__attribute__((noinline)) int lib_both(int a) { return a * 3; }\n"
				 "int lib_glob_a(int a) { return a * 4; }\n"
				 "int lib_glob_b(int a) { return a * 5; }\n";

struct setup {
	struct dso_cache *cache;
	struct dso *dsos[3]; /* app, libit.so, libc */
	struct patterns *patterns;
	struct selection selection;
	struct err err;
};

static int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));
	struct dso_closure closure;

	fixture_write("app.cc", app_source);
	fixture_write("lib.c", lib_source);
	if (access(fixture_path("app"), F_OK))
		fixture_run(
			"gcc -g -O1 -shared -fPIC -Wl,-soname,libit-1.2.so.3 -o libit-1.2.so.3 lib.c &&"
			"g++ -g -O1 -o app app.cc ./libit-1.2.so.3 -Wl,-rpath,$PWD");
	s->cache = dso_cache_new();
	assert_int_equal(dso_get(s->cache, fixture_path("app"), &s->dsos[0], &s->err), 0);
	assert_int_equal(dso_get(s->cache, fixture_path("libit-1.2.so.3"), &s->dsos[1], &s->err),
			 0);
	assert_int_equal(dso_closure(s->cache, fixture_path("app"), &closure, &s->err), 0);
	for (size_t i = 0; i < closure.n; i++) {
		if (strstr(closure.paths[i], "/libc.so"))
			assert_int_equal(dso_get(s->cache, closure.paths[i], &s->dsos[2], &s->err),
					 0);
	}
	dso_closure_release(&closure);
	assert_non_null(s->dsos[2]);
	*state = s;
	return 0;
}

static void reset(struct setup *s)
{
	selection_release(&s->selection);
	patterns_free(s->patterns);
	s->patterns = NULL;
	s->err = (struct err){ 0 };
}

static int tear_down(void **state)
{
	struct setup *s = *state;

	reset(s);
	dso_cache_free(s->cache);
	free(s);
	return 0;
}

/* Symbols chosen by a list of patterns, in order, with blanks between. */
static const char *chosen(struct setup *s, const char *const *words, size_t n)
{
	static char out[4096];

	reset(s);
	out[0] = '\0';
	assert_int_equal(patterns_parse(&s->patterns, words, n, &s->err), 0);
	assert_int_equal(selection_add(&s->selection, s->patterns, s->dsos, 3, 1, &s->err), 0);
	vec_for_each (&s->selection.chosen, struct selected, c) {
		assert_non_null(c->function->name);
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%s", *out ? " " : "",
			 c->function->name);
	}
	return out;
}

#define CHOSEN(s, ...)                                  \
	chosen(s, (const char *const[]){ __VA_ARGS__ }, \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void names(void **state)
{
	struct setup *s = *state;

	/* and not its .cold piece */
	assert_string_equal(CHOSEN(s, "free_function"), "free_function(int)");
	assert_string_equal(CHOSEN(s, "::free_function"), "free_function(int)");
	assert_string_equal(CHOSEN(s, "_Z13free_functioni"), "free_function(int)");
	assert_string_equal(CHOSEN(s, "free_function(int)"), "free_function(int)");
	assert_string_equal(CHOSEN(s, "parse_tail"), "parse_tail");
	assert_string_equal(CHOSEN(s, "plain"), ""); /* no such function without ns:: */
	assert_string_equal(CHOSEN(s, "ns::plain(char const*)"), "ns::plain(char const*)");
	assert_string_equal(CHOSEN(s, "ns::plain"), "ns::plain(int) ns::plain(char const*)");
	assert_string_equal(CHOSEN(s, "(anonymous namespace)::hidden"),
			    "(anonymous namespace)::hidden(int)");
}

static void templates_and_operators(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "ns::twice<int>"), "int ns::twice<int>(int)");
	assert_string_equal(CHOSEN(s, "ns::twice"),
			    "int ns::twice<int>(int) double ns::twice<double>(double)");
	assert_string_equal(CHOSEN(s, "ns::Box::operator()"), "ns::Box::operator()(int)");
	assert_string_equal(CHOSEN(s, "ns::Box::operator<"),
			    "ns::Box::operator<(ns::Box const&) const");
	assert_string_equal(CHOSEN(s, "ns::Box::Box"),
			    "ns::Box::Box(int)"); /* C1 and C2: one place */
}

static void globs_and_regexes(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "parse_*"), "parse_head parse_tail");
	assert_string_equal(CHOSEN(s, "parse_[h]ead"), "parse_head");
	assert_string_equal(CHOSEN(s, "/^parse_(head|tail)$/"), "parse_head parse_tail");
	assert_string_equal(CHOSEN(s, "ns::pl*"), "ns::plain(int) ns::plain(char const*)");
	assert_string_equal(CHOSEN(s, "*::twice<d*>"), "double ns::twice<double>(double)");
	assert_string_equal(CHOSEN(s, "parse_*", "!parse_head"), "parse_tail");
	assert_string_equal(CHOSEN(s, "!*_head", "parse_*"), "parse_tail");
	assert_string_equal(CHOSEN(s, "parse_*", "!libit:*"), "parse_head parse_tail");
}

static void libraries(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "lib_work"), "lib_work");
	assert_ptr_equal(s->selection.chosen.data[0].dso, s->dsos[1]);
	assert_string_equal(CHOSEN(s, "lib_both"), "lib_both");
	assert_ptr_equal(s->selection.chosen.data[0].dso,
			 s->dsos[0]); /* the executable's own first */
	assert_string_equal(CHOSEN(s, "lib_glob*"),
			    "lib_glob_a lib_glob_b"); /* not in the executable */
	assert_string_equal(CHOSEN(s, "libit:lib_both"), "lib_both");
	assert_ptr_equal(s->selection.chosen.data[0].dso, s->dsos[1]);
	assert_string_equal(CHOSEN(s, "libit-1.2:lib_both"), "lib_both");
	assert_string_equal(CHOSEN(s, "libit*:lib_both"), "lib_both");
	assert_string_equal(CHOSEN(s, "app:ns::twice<int>"), "int ns::twice<int>(int)");
	assert_string_equal(CHOSEN(s, "app:::free_function"), "free_function(int)");
	assert_string_equal(CHOSEN(s, "libit-1.2.so.3:/^lib_gl/"), "lib_glob_a lib_glob_b");
}

static void path_as_object(void **state)
{
	struct setup *s = *state;
	char word[300];

	snprintf(word, sizeof(word), "%s:lib_work", fixture_path("libit-1.2.so.3"));
	assert_string_equal(CHOSEN(s, word), "lib_work");
	snprintf(word, sizeof(word), "%s:/^lib_work$/", fixture_path("libit-1.2.so.3"));
	assert_string_equal(CHOSEN(s, word), "lib_work");
}

static void path_with_colons(void **state)
{
	static const char *const words[] = { "/odd/a:b/exact:middle", "/odd/a:b/exact:/^mid|:/",
					     "/odd/a:b:mid*", "/odd/a::b/exact:ns::*" };
	static const char *const paths[] = { "/odd/a:b/exact", "/odd/a:b/exact", "/odd/a:b",
					     "/odd/a::b/exact" };
	struct patterns *p;

	(void)state;
	assert_int_equal(patterns_parse(&p, words, 4, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(
			pattern_matches_names(&p->data[i], paths[i], i == 3 ? "ns::f" : "middle"));
	assert_false(pattern_matches_names(&p->data[0], "/odd/a", "middle"));
	patterns_free(p);
}

static void aliases_are_one(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "original"), "original");
	assert_string_equal(CHOSEN(s, "__original"), "__original"); /* as asked for */
	assert_string_equal(CHOSEN(s, "*original"), "original");    /* the public one */
	assert_string_equal(CHOSEN(s, "*original", "__original"), "__original");
	assert_string_equal(CHOSEN(s, "*original", "!__original"), "");
	assert_string_equal(CHOSEN(s, "pthread_mutex_lock", "__pthread_mutex_lock"),
			    "pthread_mutex_lock");
}

static void default_versions(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "pthread_cond_wait"), "pthread_cond_wait");
	assert_true(s->selection.chosen.data[0].function->default_version);
	assert_string_equal(CHOSEN(s, "libc:pthread_cond_wai[t]"), "pthread_cond_wait");
	assert_true(s->selection.chosen.data[0].function->default_version);
}

static void clones(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "copied"), "copied.constprop.0");
	assert_string_equal(CHOSEN(s, "cop[i]ed"), "copied.constprop.0");
	assert_string_equal(CHOSEN(s, "parse_head"), "parse_head"); /* .cold is a piece */
}

static void arguments(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "parse_head@1,2"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1,2");
	assert_string_equal(s->selection.chosen.data[0].pattern, "parse_head@1,2");
	assert_string_equal(CHOSEN(s, "/^parse_h/@1"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1");
	assert_string_equal(CHOSEN(s, "parse_head"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "");
}

/* A function that several patterns mean has the arguments of all of them. */
static void arguments_of_several(void **state)
{
	struct setup *s = *state;

	assert_string_equal(CHOSEN(s, "parse_head@1", "parse_head@2"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1,2");
	assert_string_equal(CHOSEN(s, "parse_h*@1", "parse_head"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1");
	assert_string_equal(s->selection.chosen.data[0].pattern, "parse_head");
	assert_string_equal(CHOSEN(s, "parse_h*@1", "parse_head@2", "parse_head@2"), "parse_head");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1,2,2");
	assert_string_equal(CHOSEN(s, "parse_head@1", "parse_*@1"), "parse_head parse_tail");
	assert_string_equal(s->selection.chosen.data[0].arguments, "1");
}

static void only_exclusions(void **state)
{
	struct setup *s = *state;
	const struct dso_function *f;
	const uint32_t *at;

	assert_string_equal(CHOSEN(s, "!__original"), "");
	assert_int_equal(patterns_n(s->patterns), 0);
	assert_int_equal(dso_find(s->dsos[0], "original", &at), 1);
	dso_functions(s->dsos[0], &f);
	assert_true(patterns_exclude(s->patterns, s->dsos[0], &f[at[0]]));
	assert_int_equal(dso_find(s->dsos[0], "parse_head", &at), 1);
	assert_false(patterns_exclude(s->patterns, s->dsos[0], &f[at[0]]));
}

static void what_is_excluded_nobody_chooses(void **state)
{
	struct setup *s = *state;
	const struct dso_function *f;
	struct patterns *excluding;
	const char *word = "!parse_head";
	const uint32_t *at;

	assert_int_equal(patterns_parse(&excluding, &word, 1, NULL), 0);
	assert_string_equal(CHOSEN(s, "parse_tail"), "parse_tail");
	s->selection.excluding = excluding;
	assert_int_equal(selection_add(&s->selection, s->patterns, s->dsos, 3, 1, NULL), 0);
	assert_int_equal(s->selection.chosen.n, 1);
	dso_functions(s->dsos[0], &f);
	assert_int_equal(dso_find(s->dsos[0], "parse_head", &at), 1);
	selection_add_function(&s->selection, s->dsos[0], &f[at[0]]);
	assert_int_equal(s->selection.chosen.n, 1);
	s->selection.excluding = NULL;
	selection_add_function(&s->selection, s->dsos[0], &f[at[0]]);
	assert_int_equal(s->selection.chosen.n, 2);
	patterns_free(excluding);
}

static void what_is_not_kept_can_be_chosen_again(void **state)
{
	struct setup *s = *state;
	const struct dso_function *f;
	const uint32_t *at;

	assert_string_equal(CHOSEN(s, "parse_*"), "parse_head parse_tail");
	selection_keep(&s->selection, 2);
	assert_int_equal(s->selection.chosen.n, 2);
	selection_keep(&s->selection, 1);
	assert_int_equal(s->selection.chosen.n, 1);
	assert_int_equal(dso_find(s->dsos[0], "parse_tail", &at), 1);
	dso_functions(s->dsos[0], &f);
	for (int i = 0; i < 2; i++)
		selection_add_function(&s->selection, s->dsos[0], &f[at[0]]);
	assert_int_equal(s->selection.chosen.n, 2);
}

static void what_is_dropped_keeps_its_place(void **state)
{
	struct setup *s = *state;
	const struct selected *all;

	assert_string_equal(CHOSEN(s, "parse_*"), "parse_head parse_tail");
	selection_drop(&s->selection, 0);
	all = s->selection.chosen.data;
	selection_add_function(&s->selection, s->dsos[0], all[1].function);
	assert_int_equal(s->selection.chosen.n, 2);
	for (int i = 0; i < 2; i++)
		selection_add_function(&s->selection, s->dsos[0],
				       s->selection.chosen.data[0].function);
	assert_int_equal(s->selection.chosen.n, 3);
	all = s->selection.chosen.data;
	assert_ptr_equal(all[2].function, all[0].function);
	/* what sorts the new ones, or leaves some out, does not bring it back either */
	selection_keep(&s->selection, 2);
	selection_add_function(&s->selection, s->dsos[0], all[0].function);
	assert_int_equal(s->selection.chosen.n, 3);
}

static void objects_that_come_later(void **state)
{
	struct setup *s = *state;
	const char *words[] = { "lib_both", "libit:lib_work", "parse_tail" };

	reset(s);
	assert_int_equal(patterns_parse(&s->patterns, words, 3, &s->err), 0);
	assert_int_equal(selection_add(&s->selection, s->patterns, &s->dsos[0], 1, 1, &s->err), 0);
	assert_int_equal(s->selection.chosen.n, 2);
	log_set_level(LOG_QUIET); /* a notice about libit */
	assert_int_equal(selection_missing(&s->selection, s->patterns, s->dsos, 1, &s->err), 0);
	log_set_level(LOG_NOTICE);
	assert_int_equal(selection_add(&s->selection, s->patterns, &s->dsos[1], 1, 0, &s->err), 0);
	assert_int_equal(s->selection.chosen.n, 3); /* lib_both is the executable's already */
	assert_string_equal(s->selection.chosen.data[2].function->name, "lib_work");
}

static void pattern_files(void **state)
{
	struct setup *s = *state;
	char word[300], self[300];

	fixture_write("patterns", "# mine\n\n  parse_*  \n!parse_head\n\tns::plain(int)\r\n");
	snprintf(word, sizeof(word), "@%s", fixture_path("patterns"));
	assert_string_equal(CHOSEN(s, word), "ns::plain(int) parse_tail");

	snprintf(self, sizeof(self), "@%s", fixture_path("self"));
	fixture_write("self", self);
	reset(s);
	assert_int_equal(patterns_parse(&s->patterns, (const char *const[]){ self }, 1, &s->err),
			 -ELOOP);
	assert_int_equal(s->err.exit_status, 2);
}

/* For Java: a file's patterns are in the place of its name, the others untouched. */
static void expanded_words(void **state)
{
	struct setup *s = *state;
	struct pattern_words all = { 0 };
	char word[300];
	const char *words[] = { "!*.choose", word, "/open" };

	fixture_write("methods", "# mine\n  Exact.add*  \nsynchronized:Exact.*\n!Exact.fail\n");
	snprintf(word, sizeof(word), "@%s", fixture_path("methods"));
	assert_int_equal(pattern_words_expand(&all, words, 3, &s->err), 0);
	assert_int_equal(all.n, 5);
	assert_string_equal(all.data[0], "!*.choose");
	assert_string_equal(all.data[1], "Exact.add*");
	assert_string_equal(all.data[2], "synchronized:Exact.*");
	assert_string_equal(all.data[3], "!Exact.fail");
	assert_string_equal(all.data[4], "/open");
	pattern_words_release(&all);

	snprintf(word, sizeof(word), "@%s", fixture_path("missing"));
	assert_true(pattern_words_expand(&all, words, 3, &s->err) < 0);
	assert_int_equal(s->err.exit_status, 2);
	pattern_words_release(&all);
}

static void refuse(struct setup *s, const char *word, const char *part)
{
	reset(s);
	assert_true(patterns_parse(&s->patterns, &word, 1, &s->err) < 0);
	assert_int_equal(s->err.exit_status, 2);
	if (!strstr(s->err.text, part))
		fail_msg("'%s' not in '%s'", part, s->err.text);
}

static void bad_patterns(void **state)
{
	struct setup *s = *state;

	refuse(s, "", "names no function");
	refuse(s, "libc:", "names no function");
	refuse(s, "!", "names no function");
	refuse(s, "@1", "No such file");
	refuse(s, "99", "frequency");
	refuse(s, "/a(/", "regular expression");
	refuse(s, "libc:/abc", "closing '/'");
	refuse(s, "a,libc:b", "commas");
	refuse(s, "parse_head@", "no argument stands behind '@'");
	refuse(s, "!parse_head@", "no argument stands behind '@'");
	refuse(s, "/parse/@", "no argument stands behind '@'");
	refuse(s, ":parse_head", "names no object");
	refuse(s, "@/nonexistent/file", "No such file");
	refuse(s, "@/tmp", "cannot be read");
	refuse(s, "@/dev/null", "no pattern in it");
}

static void missing(struct setup *s, const char *word, const char *part)
{
	reset(s);
	assert_int_equal(patterns_parse(&s->patterns, &word, 1, &s->err), 0);
	assert_int_equal(selection_add(&s->selection, s->patterns, s->dsos, 3, 1, &s->err), 0);
	assert_int_equal(selection_missing(&s->selection, s->patterns, s->dsos, 3, &s->err),
			 -ENOENT);
	if (!strstr(s->err.text, part))
		fail_msg("'%s' not in '%s'", part, s->err.text);
}

static void missing_names(void **state)
{
	struct setup *s = *state;

	missing(s, "parse_haed", "did you mean parse_head (app)");
	missing(s, "pthread_mutx_lock", "did you mean pthread_mutex_lock (libc.so.6)");
	missing(s, "plain", "did you mean ns::plain (app)");
	missing(s, "ns::twise", "did you mean ns::twice<int> (app)");
	missing(s, "only_inline", "only inlined");
	missing(s, "chosen_late", "IFUNC");
	missing(s, "memcpy", "IFUNC");
	missing(s, "zzz_nothing_like_it*",
		"no function matches 'zzz_nothing_like_it*' in app or its 2 libraries");
}

static void no_symbols_at_all(void **state)
{
	struct setup *s = *state;
	struct dso *dso;
	const char *word = "parse_head";

	reset(s);
	/* -static-pie would keep .dynsym; a plain static program keeps nothing */
	fixture_run("echo 'int main(void) { return 0; }' >s.c && gcc -static -o s s.c && strip s");
	assert_int_equal(dso_get(s->cache, fixture_path("s"), &dso, &s->err), 0);
	assert_int_equal(patterns_parse(&s->patterns, &word, 1, &s->err), 0);
	assert_int_equal(selection_add(&s->selection, s->patterns, &dso, 1, 1, &s->err), 0);
	assert_int_equal(selection_missing(&s->selection, s->patterns, &dso, 1, &s->err), -ENOENT);
	assert_non_null(strstr(s->err.text, "no symbols at all"));
	assert_non_null(strstr(s->err.text, "DEBUGINFOD_URLS is not set"));
}

/* A file may give one address any number of names: that does not make choosing take longer for each
 * of them. */
static void any_number_of_aliases(void **state)
{
	struct setup *s = *state;
	struct dso *dso;

	fixture_run(
		"for i in $(seq 60000); do printf '.globl f%d\n.type f%d,%%function\n"
		".set f%d,base\n.size f%d,2\n' $i $i $i $i; done >many.s && "
		"printf 'base: nop\nret\n' >>many.s && gcc -shared -nostdlib -o many.so many.s");
	assert_int_equal(dso_get(s->cache, fixture_path("many.so"), &dso, &s->err), 0);
	s->dsos[0] = dso;
	alarm(120); /* it would take several times as long for each name */
	assert_int_equal(strlen(CHOSEN(s, "f*", "!*g*")), 2);
	assert_int_equal(strlen(CHOSEN(s, "f*", "!f5*")), 0);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(templates_and_operators, set_up, tear_down),
		cmocka_unit_test_setup_teardown(globs_and_regexes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(libraries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(path_as_object, set_up, tear_down),
		cmocka_unit_test(path_with_colons),
		cmocka_unit_test_setup_teardown(aliases_are_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(default_versions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(clones, set_up, tear_down),
		cmocka_unit_test_setup_teardown(arguments, set_up, tear_down),
		cmocka_unit_test_setup_teardown(arguments_of_several, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_exclusions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_excluded_nobody_chooses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_kept_can_be_chosen_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_dropped_keeps_its_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(objects_that_come_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pattern_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(expanded_words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_patterns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_number_of_aliases, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_symbols_at_all, set_up, tear_down),
	};

	return unit_run(tests);
}
