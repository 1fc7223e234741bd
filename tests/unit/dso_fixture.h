/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that tests of objects ask, and the cache that is asked. */
#ifndef ISPOT_TESTS_DSO_FIXTURE_H
#define ISPOT_TESTS_DSO_FIXTURE_H

#include "elf_fixture.h"

#include <errno.h>

#include "base/err.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/patience.h"

static const char source[] =
	"#include <stdio.h>\n"							     /* 1 */
	"#define KEEP __attribute__((noinline, used))\n"			     /* 2 */
	"static inline __attribute__((always_inline)) int inner(int a)\n"	     /* 3 */
	"{ for (volatile int i = 0; i < 3; i++) a += i; return a; }\n"		     /* 4 */
	"static inline __attribute__((always_inline)) int middle(int a)\n"	     /* 5 */
	"{ return inner(a) + 1; }\n"						     /* 6 */
	"KEEP static int hidden(int a) { return a * 3; }\n"			     /* 7 */
	"KEEP int outer(int a)\n"						     /* 8 */
	"{\n"									     /* 9 */
	"	return middle(a) + 2;\n"					     /* 10 */
	"}\n"									     /* 11 */
	"asm(\".text\\n.globl unsized\\nunsized:\\n nop\\n nop\\n nop\\n ret\\n\"\n" /* 12 */
	"    \".globl after\\n.type after,%function\\nafter:\\n ret\\n.size after, 1\\n\");\n"
	"int main(int c, char **v) { (void)v; puts(\"x\"); return outer(c) + hidden(c); }\n";

struct setup {
	struct dso_cache *cache;
	struct err err;
};

static inline int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));

	s->cache = dso_cache_new();
	patience_user_ns = 120000000000; /* all tests' files are one user's */
	if (access(fixture_path("app"), F_OK)) {
		fixture_write("app.c", source);
		fixture_run("gcc -g -O1 -Wl,--build-id -rdynamic -o app app.c");
		fixture_run("gcc -g -O1 -Wl,--build-id -o plain app.c");
	}
	*state = s;
	return 0;
}

static inline int tear_down(void **state)
{
	struct setup *s = *state;

	dso_cache_free(s->cache);
	free(s);
	return 0;
}

static inline struct dso *get(struct setup *s, const char *name)
{
	struct dso *dso = NULL;

	if (dso_get(s->cache, *name == '/' ? name : fixture_path(name), &dso, &s->err))
		fail_msg("%s", s->err.text);
	return dso;
}

static const char marker_source[] = /* what <sys/sdt.h> makes of DTRACE_PROBE */
	"#define PROBE(provider, name, arguments, semaphore) __asm__ volatile(\"990: nop\\n\" \\\n"
	"\".pushsection .note.stapsdt,\\\"\\\",\\\"note\\\"\\n.balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n\" \\\n"
	"\"991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n993: .8byte 990b\\n\" \\\n"
	"\".8byte _.stapsdt.base\\n.8byte \" semaphore \"\\n.asciz \\\"\" provider \"\\\"\\n\" \\\n"
	"\".asciz \\\"\" name \"\\\"\\n.asciz \\\"\" arguments \"\\\"\\n994: .balign 4\\n.popsection\\n\" \\\n"
	"\".ifndef _.stapsdt.base\\n.pushsection .stapsdt.base,\\\"aG\\\",\\\"progbits\\\",.stapsdt.base,comdat\\n\" \\\n"
	"\".weak _.stapsdt.base\\n.hidden _.stapsdt.base\\n_.stapsdt.base: .space 1\\n\" \\\n"
	"\".size _.stapsdt.base, 1\\n.popsection\\n.endif\\n\")\n"
	"unsigned short semaphore = 1;\n"
	"__attribute__((noinline)) int marked(int a)\n"
	"{ PROBE(\"app\", \"begin\", \"-4@%edi\", \"0\"); PROBE(\"app\", \"end\", \"\", \"semaphore\"); return a; }\n"
	"int main(int c, char **v) { (void)v; return marked(c); }\n";

/* "marked": a program with two probes. */
static inline void make_marked(void)
{
	fixture_write("marked.c", marker_source);
	fixture_run("gcc -O1 -no-pie -fno-pie -o marked marked.c");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
