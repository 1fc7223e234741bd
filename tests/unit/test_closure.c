/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's libraries as read from its files, against what its own loader answers for this
 * system's programs, which are trusted: one in CLOSURE_EVERY of those in /usr/bin (1: all).
 */
#include "dso_fixture.h"

#include <glob.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "symbol/dso/cache.h"
#include "symbol/library/closure.h"
#include "symbol/library/ldcache.h"

static int set_up_nothing(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));

	s->cache = dso_cache_new();
	*state = s;
	return 0;
}

#define PLAIN_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_nothing, tear_down)

/* Not of the loader's preloads; nor links, whose file comes by its own name. */
static bool is_asked(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH | S_ISUID | S_ISGID));
}

/* The loader's "name => path (0x…)" and "path (0x…)" lines, one path a line; "missing" for what it
 * does not find. */
static void ask_loader(const char *interp, const char *program, char *out, size_t n)
{
	char command[1024];
	FILE *f;

	snprintf(command, sizeof(command),
		 "%s --list '%s' 2>&1 | sed -n 's/.*not found.*/missing/p; "
		 "s/^Error loading .*/missing/p; s/.*error while loading.*/missing/p; s/.*=> //; "
		 "s/^\t//; s, (0x.*,,; /^\\//p'",
		 interp, program);
	f = popen(command, "r");
	assert_non_null(f);
	out[fread(out, 1, n - 1, f)] = '\0';
	pclose(f);
}

/* In the loader's order; that of the loader itself, which it names when it likes, is not asked. */
static void read_closure(const struct dso_closure *c, const char *interp, char *out, size_t n)
{
	size_t at = 0;

	*out = '\0';
	for (size_t i = 1; i < c->n && at < n; i++)
		if (strcmp(c->paths[i], interp) != 0)
			at += snprintf(out + at, n - at, "%s\n", c->paths[i]);
}

static void without_line(char *lines, const char *line)
{
	size_t n = strlen(line);
	char *at = strstr(lines, line);

	while (at && at != lines && at[-1] != '\n')
		at = strstr(at + 1, line);
	if (at && at[n] == '\n')
		memmove(at, at + n + 1, strlen(at + n + 1) + 1);
}

static char theirs[1 << 16], ours[1 << 16];

static bool agrees(struct setup *s, const char *program, const char *interp)
{
	struct dso_closure closure = { 0 };
	int ret;

	ask_loader(interp, program, theirs, sizeof(theirs));
	without_line(theirs, interp);
	ret = dso_closure(s->cache, program, &closure, &s->err);
	read_closure(&closure, interp, ours, sizeof(ours));
	dso_closure_release(&closure);
	if (ret == -ENOENT && strstr(theirs, "missing\n"))
		return true;
	if (strcmp(ours, theirs) != 0)
		print_error("%s: ispot reads\n%s%s\nits loader says\n%s", program, ours,
			    ret ? s->err.text : "", theirs);
	return !ret && !strcmp(ours, theirs);
}

static void this_systems_programs(void **state)
{
	const char *word = getenv("CLOSURE_EVERY");
	size_t every = word ? strtoul(word, NULL, 10) : 40, asked = 0, wrong = 0;
	struct setup *s = *state;
	glob_t all;

	unsetenv("LD_LIBRARY_PATH");
	unsetenv("LD_PRELOAD");
	assert_int_equal(glob("/usr/bin/*", 0, NULL, &all), 0);
	glob("/usr/sbin/*", GLOB_APPEND, NULL, &all);
	glob("/usr/libexec/*", GLOB_APPEND, NULL, &all);
	glob("/usr/lib/*/*", GLOB_APPEND, NULL, &all);
	glob("/usr/lib/*/*/*", GLOB_APPEND, NULL, &all);
	for (size_t i = 0; i < all.gl_pathc; i += every ? every : 1) {
		const char *path = all.gl_pathv[i], *interp;
		struct dso *dso;

		if (!is_asked(path) || dso_get(s->cache, path, &dso, &s->err))
			continue;
		interp = dso_interp(dso);
		if (!interp || access(interp, X_OK))
			continue;
		asked++;
		wrong += !agrees(s, path, interp);
	}
	globfree(&all);
	print_message("# %zu programs asked, %zu disagree\n", asked, wrong);
	assert_true(asked >= 5 || every > 40);
	assert_int_equal(wrong, 0);
}

/* ---- each rule ---- */

/* liba needs libb; app needs liba, and finds them as the linker's options and the environment say.
 */
static void make_libraries(void)
{
	fixture_run("mkdir -p one two/lib three/glibc-hwcaps/x86-64-v2 && echo 'int b;' >b.c &&"
		    "echo 'extern int b; int *a = &b;' >a.c &&"
		    "echo 'extern int *a; int main(void) { return *a; }' >m.c &&"
		    "gcc -shared -fPIC -Wl,-soname,libb.so.1 -o one/libb.so.1 b.c &&"
		    "for d in two two/lib three three/glibc-hwcaps/x86-64-v2;"
		    " do cp one/libb.so.1 $d; done &&"
		    "gcc -shared -fPIC -Wl,-soname,liba.so.1 -o one/liba.so.1 a.c one/libb.so.1");
}

/* The program is linked with liba and what else is said; what is read is what the loader says. */
static void check_linked(struct setup *s, const char *options)
{
	struct dso *dso;
	char line[1024];

	snprintf(line, sizeof(line),
		 "rm -f app && gcc -o app m.c -Wl,--allow-shlib-undefined one/liba.so.1 %s",
		 options);
	fixture_run(line);
	dso_cache_free(s->cache);
	s->cache = dso_cache_new();
	dso = get(s, "app");
	print_message("# %s\n", options);
	assert_true(agrees(s, fixture_path("app"), dso_interp(dso)));
}

static void search_rules(void **state)
{
	static const char *const linked[] = {
		"", /* without a path nothing is found */
		"-Wl,--disable-new-dtags,-rpath,$PWD/one",
		"-Wl,--enable-new-dtags,-rpath,$PWD/one",
		"-Wl,--enable-new-dtags,-rpath,$PWD/one -Wl,--no-as-needed one/libb.so.1",
		"-Wl,--disable-new-dtags,-rpath,'$ORIGIN/one'",
		"-Wl,--disable-new-dtags,-rpath,'${ORIGIN}/one//'",
		"-Wl,--disable-new-dtags,-rpath,$PWD/three:$PWD/one",
		"-Wl,--disable-new-dtags,-rpath,$PWD/nowhere::$PWD/one",
		"-Wl,--disable-new-dtags,-rpath,$PWD/two/'$LIB':$PWD/two/'$PLATFORM':$PWD/one",
		"-Wl,--disable-new-dtags,-rpath,$PWD/one,-z,nodefaultlib",
	};
	struct setup *s = *state;
	char path[600];

	make_libraries();
	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++)
		check_linked(s, linked[i]);
	fixture_run("gcc -shared -fPIC -Wl,-soname,liba.so.1 -o one/liba.so.1 a.c one/libb.so.1 "
		    "-Wl,--enable-new-dtags,-rpath,$PWD/two");
	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++)
		check_linked(s, linked[i]);
	snprintf(path, sizeof(path), "%s/nowhere;%s/three:%s/one", fixture_open(), fixture_open(),
		 fixture_open());
	setenv("LD_LIBRARY_PATH", path, 1);
	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++)
		check_linked(s, linked[i]);
	snprintf(path, sizeof(path), "%s/two/libb.so.1:libm.so.6 libnowhere.so", fixture_open());
	setenv("LD_PRELOAD", path, 1);
	check_linked(s, "");
	unsetenv("LD_PRELOAD");
	setenv("LD_LIBRARY_PATH", "", 1);
	check_linked(s, linked[1]);
	unsetenv("LD_LIBRARY_PATH");
}

/* What a library is a filter for is loaded as well; glibc's list has it before the filter. */
static void filters(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;

	make_libraries();
	fixture_run(
		"gcc -shared -fPIC -Wl,-soname,liba.so.1 -o two/liba.so.1 a.c "
		"-Wl,-rpath,$PWD/one,-f,libb.so.1,-f,libnowhere.so &&"
		"gcc -o filtered m.c -Wl,--allow-shlib-undefined,-rpath,$PWD/two two/liba.so.1");
	ask_loader(dso_interp(get(s, "filtered")), fixture_path("filtered"), theirs,
		   sizeof(theirs));
	assert_non_null(strstr(theirs, "/one/libb.so.1\n"));
	assert_int_equal(dso_closure(s->cache, fixture_path("filtered"), &closure, &s->err), 0);
	read_closure(&closure, "", ours, sizeof(ours));
	assert_non_null(strstr(ours, "/one/libb.so.1\n"));
	dso_closure_release(&closure);
}

/* A set-user-ID program gets none of the environment's. */
static void raised_programs(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;
	char path[300];

	make_libraries();
	fixture_run("gcc -o raised m.c -Wl,--allow-shlib-undefined one/liba.so.1");
	snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s/one", fixture_open());
	assert_int_equal(dso_closure_in(s->cache, fixture_path("raised"),
					(char *const[]){ path, NULL }, &closure, &s->err),
			 0);
	dso_closure_release(&closure);
	fixture_run("cp raised raised2 && chmod u+s raised2");
	assert_int_equal(dso_closure_in(s->cache, fixture_path("raised2"),
					(char *const[]){ path, NULL }, &closure, &s->err),
			 -ENOENT);
}

/* musl's loader has rules and a list of its own. */
static void musl(void **state)
{
	struct setup *s = *state;
	struct dso *dso;

	if (system("command -v musl-gcc >/dev/null")) {
		print_message("# no musl-gcc here\n");
		skip();
	}
	make_libraries();
	fixture_run("musl-gcc -shared -fPIC -o one/libb.so.1 b.c &&"
		    "musl-gcc -shared -fPIC -o one/liba.so.1 a.c one/libb.so.1 &&"
		    "musl-gcc -o musl-app m.c -Wl,--allow-shlib-undefined one/liba.so.1 "
		    "-Wl,-rpath,'$ORIGIN/one' && musl-gcc -o musl-none m.c "
		    "-Wl,--allow-shlib-undefined one/liba.so.1");
	dso = get(s, "musl-app");
	assert_non_null(strstr(dso_interp(dso), "/ld-musl-"));
	assert_true(agrees(s, fixture_path("musl-app"), dso_interp(dso)));
	assert_true(agrees(s, fixture_path("musl-none"), dso_interp(dso)));
}

/* A file that asks for more than there can be ends the search, with a sentence. */
static void endless(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;

	make_libraries();
	fixture_run("mkdir -p n && gcc -c -fPIC b.c && for i in $(seq 40); do"
		    " ld -shared -soname libx$i.so -o n/libx$i.so b.o || exit; done;"
		    "gcc -o many m.c -Wl,--allow-shlib-undefined -Wl,--no-as-needed "
		    "n/*.so one/liba.so.1 "
		    "-Wl,--disable-new-dtags,-rpath,$(printf '/no-%s:' $(seq 6000))$PWD/n");
	assert_int_equal(dso_closure(s->cache, fixture_path("many"), &closure, &s->err), -E2BIG);
	assert_non_null(strstr(s->err.text, "more libraries"));
}

/* Nor does a search go on for what may be missing once it has had all its tries. */
static void endless_and_optional(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;

	make_libraries();
	fixture_run(
		"mkdir -p o && gcc -c -fPIC b.c &&"
		"ld -shared -soname libo.so -o o/libo.so b.o $(printf -- '-f libx%s.so ' $(seq 40)) "
		"--enable-new-dtags -rpath $(printf 'a%.0s:' $(seq 16000))a &&"
		"gcc -o optional m.c -Wl,--allow-shlib-undefined -Wl,--no-as-needed o/libo.so "
		"one/liba.so.1 one/libb.so.1 -Wl,-rpath,$PWD/o:$PWD/one");
	assert_int_equal(dso_closure(s->cache, fixture_path("optional"), &closure, &s->err),
			 -E2BIG);
	assert_non_null(strstr(s->err.text, "more libraries"));
}

/* ---- the cache of a loader that the program brings along ---- */

#define CACHED_MAX (1u << 17)
#define HEAD	   48u
#define ENTRY	   24u

/* Every entry has the name and the value; the value has 5000 bytes if it is a long one. */
static struct ldcache make_cache(uint32_t n, bool is_long)
{
	const uint32_t entry[ENTRY / 4] = { 0x303, HEAD + n * ENTRY, HEAD + n * ENTRY + 5 };
	struct ldcache c = { .n = HEAD + (size_t)n * ENTRY + 5 + 5001 };

	c.data = xcalloc(1, c.n);
	memcpy(c.data, "glibc-ld.so.cache1.1", 20);
	memcpy(c.data + 20, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++)
		memcpy(c.data + HEAD + (size_t)i * ENTRY, entry, ENTRY);
	memcpy(c.data + entry[1], "a.so", 5);
	memset(c.data + entry[2], '/', is_long ? 5000 : 5);
	return c;
}

static void caches_have_an_end(void **state)
{
	struct ldcache c = make_cache(CACHED_MAX + 9, false);
	uint64_t compared = 0;

	assert_string_equal(ldcache_find(&c, "a.so", DSO_X86_64, &compared), "/////");
	assert_null(ldcache_find(&c, "b.so", DSO_X86_64, &compared));
	assert_null(ldcache_find(&c, "a.s", DSO_X86_64, &compared));
	assert_int_equal(compared, 3 * CACHED_MAX);
	ldcache_release(&c);
	c = make_cache(1, true);
	assert_null(ldcache_find(&c, "a.so", DSO_X86_64, &compared));
	ldcache_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN_TEST(this_systems_programs),
		PLAIN_TEST(search_rules),
		PLAIN_TEST(filters),
		PLAIN_TEST(raised_programs),
		PLAIN_TEST(musl),
		PLAIN_TEST(endless),
		PLAIN_TEST(endless_and_optional),
		cmocka_unit_test(caches_have_an_end),
	};

	return unit_run(tests);
}
