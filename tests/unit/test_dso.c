/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_fixture.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/err.h"
#include "symbol/dso.h"

/* libdw 0.188 itself loses a block where a line table is damaged. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw";
}

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

static int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));

	s->cache = dso_cache_new();
	if (access(fixture_path("app"), F_OK)) {
		fixture_write("app.c", source);
		fixture_run("gcc -g -O1 -Wl,--build-id -rdynamic -o app app.c");
		fixture_run("gcc -g -O1 -Wl,--build-id -o plain app.c");
	}
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct setup *s = *state;

	dso_cache_free(s->cache);
	free(s);
	return 0;
}

static struct dso *get(struct setup *s, const char *name)
{
	struct dso *dso = NULL;

	if (dso_get(s->cache, *name == '/' ? name : fixture_path(name), &dso, &s->err))
		fail_msg("%s", s->err.text);
	return dso;
}

static const struct dso_function *function(struct dso *dso, const char *symbol)
{
	const struct dso_function *all;
	const uint32_t *at;

	dso_functions(dso, &all);
	if (!dso_find(dso, symbol, &at))
		fail_msg("no %s in %s", symbol, dso_path(dso));
	return &all[at[0]];
}

static bool has(struct dso *dso, const char *symbol)
{
	const uint32_t *at;

	return dso_find(dso, symbol, &at) > 0;
}

static void identity(void **state)
{
	struct setup *s = *state;
	struct dso *app = get(s, "app"), *again = get(s, "app");
	struct stat st;

	assert_ptr_equal(app, again);
	assert_int_equal(stat(fixture_path("app"), &st), 0);
	assert_int_equal(dso_inode(app), st.st_ino);
	assert_int_equal(dso_device(app), st.st_dev);
	assert_int_equal(strlen(dso_build_id(app)), 40);
	assert_int_equal(strspn(dso_build_id(app), "0123456789abcdef"), 40);
	assert_non_null(dso_interp(app));
	assert_false(dso_is_static(app));
	assert_false(dso_is_go(app));
	assert_false(dso_is_setuid(app));
	assert_true(dso_has_dwarf(app));
	fixture_run("cp app link-target && ln -s link-target link");
	assert_ptr_equal(get(s, "link"), get(s, "link-target"));
}

static void functions(void **state)
{
	struct setup *s = *state;
	struct dso *app = get(s, "app");
	const struct dso_function *outer = function(app, "outer"),
				  *hidden = function(app, "hidden"), *all;
	size_t n = dso_functions(app, &all), code_n;
	const uint8_t *code;
	uint8_t bytes[16];
	int fd;

	assert_string_equal(dso_symbol_source(app), ".symtab");
	assert_true(outer->exported);
	assert_false(hidden->exported);
	assert_true(outer->size > 0);
	assert_false(outer->size_guessed);
	assert_false(has(app, "puts")); /* imported */
	assert_false(has(app, "inner"));
	for (size_t i = 1; i < n; i++)
		assert_true(all[i - 1].address <= all[i].address);
	assert_ptr_equal(dso_function_at(app, outer->address + outer->size - 1), outer);
	assert_ptr_not_equal(dso_function_at(app, outer->address + outer->size), outer);
	assert_null(dso_function_at(app, 0));
	assert_null(dso_function_at(app, UINT64_MAX));
	assert_int_equal(dso_offset_to_address(app, outer->file_offset), outer->address);
	assert_int_equal(dso_address_to_offset(app, outer->address), outer->file_offset);
	assert_true(dso_offset_to_address(app, UINT64_MAX) == UINT64_MAX);

	code = dso_code(app, outer->address, &code_n);
	assert_non_null(code);
	assert_true(code_n >= outer->size);
	fd = open(fixture_path("app"), O_RDONLY);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)outer->file_offset), sizeof(bytes));
	close(fd);
	assert_memory_equal(code, bytes, sizeof(bytes));
	assert_null(dso_code(app, 0, &code_n));
}

static void size_zero(void **state)
{
	struct setup *s = *state;
	struct dso *app = get(s, "app");
	const struct dso_function *unsized = function(app, "unsized"),
				  *after = function(app, "after");

	assert_true(unsized->size_guessed);
	assert_int_equal(unsized->size, after->address - unsized->address);
	assert_false(after->size_guessed);
}

static void imports(void **state)
{
	struct setup *s = *state;
	const char *const *names;
	size_t n = dso_imports(get(s, "app"), &names), puts_seen = 0;

	for (size_t i = 0; i < n; i++) {
		puts_seen += !strcmp(names[i], "puts");
		assert_string_not_equal(names[i], "outer");
	}
	assert_int_equal(puts_seen, 1);
}

static void lines_and_inlines(void **state)
{
	struct setup *s = *state;
	struct dso *app = get(s, "app");
	const struct dso_function *outer = function(app, "outer");
	struct dso_line line = dso_function_line(app, outer);
	struct dso_inline chain[8];
	size_t deepest = 0;

	assert_non_null(strstr(line.file, "app.c"));
	assert_int_equal(line.line, 8);
	line = dso_line_at(app, outer->address + outer->size - 1);
	assert_int_equal(line.line, 11); /* its ret: the closing brace */
	for (uint64_t at = outer->address; at < outer->address + outer->size; at++) {
		size_t n = dso_inlines_at(app, at, chain, 8);

		if (n > deepest)
			deepest = n;
		if (n != 2)
			continue;
		assert_string_equal(chain[0].name, "inner");
		assert_int_equal(chain[0].call.line, 6);
		assert_string_equal(chain[1].name, "middle");
		assert_int_equal(chain[1].call.line, 10);
		assert_non_null(strstr(chain[1].call.file, "app.c"));
		assert_int_equal(dso_inlines_at(app, at, chain, 1), 1); /* room for one */
	}
	assert_int_equal(deepest, 2);
	assert_int_equal(dso_line_at(app, 0).line, 0);
	assert_string_equal(dso_line_at(app, 0).file, "");
	assert_int_equal(dso_language_at(app, outer->address), LANG_C);
	assert_true(dso_only_inlined(app, "inner"));
	assert_false(dso_only_inlined(app, "outer"));
	assert_false(dso_only_inlined(app, "hidden"));
	assert_false(dso_only_inlined(app, "nowhere"));
}

static void stripped(void **state)
{
	struct setup *s = *state;
	struct dso *dso;
	const struct dso_function *all;

	fixture_run("cp app s1 && strip s1 && cp plain s2 && strip s2");
	dso = get(s, "s1");
	assert_true(has(dso, "outer")); /* -rdynamic exports it */
	assert_false(has(dso, "hidden"));
	assert_string_equal(dso_symbol_source(dso), ".dynsym");
	assert_false(dso_has_dwarf(dso));
	dso = get(s, "s2");
	assert_int_equal(dso_functions(dso, &all), 0);
	assert_string_equal(dso_symbol_source(dso), "none");
}

static void separate_debug_file(void **state)
{
	struct setup *s = *state;
	uint64_t address = function(get(s, "plain"), "hidden")->address;
	struct dso *dso;

	fixture_run("cp plain d && objcopy --only-keep-debug d d.debug && strip d &&"
		    "objcopy --add-gnu-debuglink=d.debug d");
	dso = get(s, "d");
	assert_string_equal(dso_symbol_source(dso), "debuglink");
	assert_int_equal(function(dso, "hidden")->address, address);
	assert_int_equal(dso_function_line(dso, function(dso, "outer")).line, 8);

	/* .debug/ beside it; and one that belongs to another build is not taken */
	fixture_run("mkdir -p sub/.debug && cp d sub/e && cp d.debug sub/.debug/d.debug");
	assert_string_equal(dso_symbol_source(get(s, "sub/e")), "debuglink");
	fixture_run(
		"mkdir -p wrong && cp d wrong/f && objcopy --only-keep-debug app wrong/d.debug");
	assert_string_equal(dso_symbol_source(get(s, "wrong/f")), "none");
}

static void mini_debuginfo(void **state)
{
	struct setup *s = *state;
	uint64_t address = function(get(s, "plain"), "hidden")->address;
	struct dso *dso;

	fixture_run("cp plain m && objcopy --only-keep-debug m m.mini &&"
		    "objcopy -S --remove-section .gdb_index --remove-section .comment "
		    "--keep-symbol=hidden --keep-symbol=outer m.mini m.mini2 && xz -kf m.mini2 &&"
		    "strip m && objcopy --add-section .gnu_debugdata=m.mini2.xz m");
	dso = get(s, "m");
	assert_string_equal(dso_symbol_source(dso), ".gnu_debugdata");
	assert_int_equal(function(dso, "hidden")->address, address);
}

static void clang_without_aranges(void **state)
{
	struct setup *s = *state;
	struct dso *dso;

	if (system("command -v clang >/dev/null 2>&1")) {
		print_message("# SKIP no clang here\n");
		return;
	}
	fixture_run("clang -g -O1 -o c app.c");
	dso = get(s, "c");
	assert_int_equal(dso_function_line(dso, function(dso, "outer")).line, 8);
	assert_int_equal(dso_language_at(dso, function(dso, "outer")->address), LANG_C);
}

static void split_dwarf(void **state)
{
	struct setup *s = *state;
	struct dso *dso;
	const struct dso_function *outer;
	struct dso_inline chain[8];
	size_t deepest = 0;

	fixture_run("gcc -g -gsplit-dwarf -O1 -o split app.c");
	dso = get(s, "split");
	outer = function(dso, "outer");
	assert_int_equal(dso_function_line(dso, outer).line, 8);
	for (uint64_t at = outer->address; at < outer->address + outer->size; at++) {
		size_t n = dso_inlines_at(dso, at, chain, 8);

		deepest = n > deepest ? n : deepest;
	}
	assert_int_equal(deepest, 2);
}

static void real_libc(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;
	struct dso *libc = NULL;
	const struct dso_function *f, *all;
	const uint32_t *at;
	size_t n;

	assert_int_equal(dso_closure(s->cache, fixture_path("app"), &closure, &s->err), 0);
	assert_string_equal(closure.paths[0], fixture_path("app"));
	assert_true(closure.n >= 3); /* app, libc, the loader */
	for (size_t i = 0; i < closure.n; i++) {
		if (strstr(closure.paths[i], "/libc.so"))
			libc = get(s, closure.paths[i]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(closure.paths[i], closure.paths[j]);
	}
	assert_non_null(libc);
	assert_true(dso_functions(libc, &all) > 1000);
	n = dso_find(libc, "pthread_cond_wait", &at);
	assert_true(n >= 1);
	assert_true(all[at[0]].default_version);
	for (size_t i = 1; i < n; i++)
		assert_false(all[at[i]].default_version);
	f = function(libc, "pthread_mutex_lock");
	assert_true(f->exported);
	assert_string_equal(dso_function_at(libc, f->address)->symbol, "pthread_mutex_lock");
	assert_true(function(libc, "memcpy")->ifunc);
	dso_closure_release(&closure);
	dso_closure_release(&closure);
}

static void closures(void **state)
{
	struct setup *s = *state;
	struct dso_closure closure;
	char path[300];

	fixture_run("gcc -static -o static app.c && gcc -static-pie -o static-pie app.c");
	assert_int_equal(dso_closure(s->cache, fixture_path("static"), &closure, &s->err), 0);
	assert_int_equal(closure.n, 1);
	assert_true(dso_is_static(get(s, "static")));
	dso_closure_release(&closure);
	assert_int_equal(dso_closure(s->cache, fixture_path("static-pie"), &closure, &s->err), 0);
	assert_int_equal(closure.n, 1);
	dso_closure_release(&closure);

	fixture_run("echo 'int lib(void) { return 1; }' >lib.c && mkdir -p 'lib dir' &&"
		    "gcc -shared -fPIC -Wl,-soname,libmine.so.1 -o 'lib dir/libmine.so.1' lib.c &&"
		    "echo 'int lib(void); int main(void) { return lib(); }' >uses.c &&"
		    "gcc -o uses uses.c 'lib dir/libmine.so.1'");
	assert_int_equal(dso_closure(s->cache, fixture_path("uses"), &closure, &s->err), -ENOENT);
	assert_non_null(strstr(s->err.text, "libmine.so.1"));
	assert_int_equal(closure.n, 0);

	snprintf(path, sizeof(path), "%s/lib dir", fixture_open());
	setenv("LD_LIBRARY_PATH", path, 1);
	assert_int_equal(dso_closure_in(s->cache, fixture_path("uses"), (char *const[]){ NULL },
					&closure, &s->err),
			 -ENOENT);
	assert_int_equal(dso_closure(s->cache, fixture_path("uses"), &closure, &s->err), 0);
	unsetenv("LD_LIBRARY_PATH");
	strcat(path, "/libmine.so.1");
	assert_string_equal(closure.paths[1], path);
	dso_closure_release(&closure);

	fixture_run("cp app no-loader && patch=no-loader &&"
		    "sed -i 's|/lib64/ld-linux-x86-64.so.2|/lib64/ld-nowhere-86-64.so|;"
		    "s|/lib/ld-linux-aarch64.so.1|/lib/ld-nowhere-arch64.so|' $patch");
	if (!strstr(dso_interp(get(s, "no-loader")), "nowhere"))
		return; /* a loader of another name: nothing was changed */
	assert_int_equal(dso_closure(s->cache, fixture_path("no-loader"), &closure, &s->err),
			 -ENOENT);
	assert_non_null(strstr(s->err.text, "nowhere"));
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

static void markers(void **state)
{
	struct setup *s = *state;
	const struct dso_marker *all;
	const struct dso_function *marked;
	struct dso *dso;
	size_t n;

	assert_int_equal(dso_markers(get(s, "app"), &all), 0);
	fixture_write("marked.c", marker_source);
	fixture_run("gcc -O1 -no-pie -fno-pie -o marked marked.c");
	dso = get(s, "marked");
	marked = function(dso, "marked");
	assert_int_equal(dso_markers(dso, &all), 2);
	assert_string_equal(all[0].provider, "app");
	assert_string_equal(all[0].name, "begin");
	assert_string_equal(all[0].arguments, "-4@%edi");
	assert_int_equal(all[0].semaphore_offset, 0);
	assert_ptr_equal(dso_function_at(dso, all[0].address), marked);
	assert_int_equal(dso_address_to_offset(dso, all[0].address), all[0].file_offset);
#ifdef __x86_64__
	assert_int_equal(*dso_bytes(dso, all[0].address, 1), 0x90); /* the nop */
#endif
	assert_string_equal(all[1].name, "end");
	assert_int_equal(*dso_bytes(dso, dso_offset_to_address(dso, all[1].semaphore_offset), 1),
			 1);
	n = dso_markers(dso, &all);
	assert_int_equal(n, 2);
}

/* What an assembler says of a function is where it is, not what it takes. */
static void assembler_has_no_prototypes(void **state)
{
	struct setup *s = *state;
	struct dso_prototype p;
	struct dso *dso;

	fixture_write("copy.s",
		      ".text\n.globl copy\n.type copy,%function\ncopy:\n ret\n.size copy, .-copy\n"
		      ".section .note.GNU-stack,\"\",%progbits\n");
	fixture_write("copies.c", "void copy(void *a, long n);\nint none(void) { return 3; }\n"
				  "int main(int c, char **v) { copy(v, c); return none(); }\n");
	fixture_run("gcc -g -O0 -o copies copies.c copy.s");
	dso = get(s, "copies");
	assert_true(dso_prototype(dso, function(dso, "main"), &p));
	assert_int_equal(p.n, 2);
	assert_true(dso_prototype(dso, function(dso, "none"), &p));
	assert_int_equal(p.n, 0);
	assert_false(dso_prototype(dso, function(dso, "copy"), &p));
}

/* A file that is written again under its old name is another object. */
static void rebuilt_in_place(void **state)
{
	struct setup *s = *state;
	struct dso *before, *after;

	fixture_run("cp plain r");
	before = get(s, "r");
	assert_true(has(before, "hidden"));
	fixture_run("cp app r2 && strip r2 && cat r2 >r");
	after = get(s, "r");
	assert_ptr_not_equal(before, after);
	assert_false(has(after, "hidden"));
}

static void refuse(struct setup *s, const char *name, int code, const char *part)
{
	struct dso *dso = NULL;

	assert_int_equal(dso_get(s->cache, *name == '/' ? name : fixture_path(name), &dso, &s->err),
			 code);
	assert_null(dso);
	if (!strstr(s->err.text, part))
		fail_msg("'%s' not in '%s'", part, s->err.text);
}

static void not_programs(void **state)
{
	struct setup *s = *state;

	fixture_write("script", "#! /bin/sh -e\necho\n");
	fixture_write("empty", "");
	fixture_write("text", "hello\n");
	fixture_write("elf", "\177ELF");
	fixture_run("gcc -c -o app.o app.c && ar rc app.a app.o && mkfifo -m 600 pipe &&"
		    "head -c 40 app >head && cp app class32 && printf '\\001' |"
		    "dd of=class32 bs=1 seek=4 conv=notrunc 2>/dev/null");
	refuse(s, "script", -ENOEXEC, "a script for /bin/sh; name the program it starts");
	refuse(s, "empty", -ENOEXEC, "is empty");
	refuse(s, "text", -ENOEXEC, "not an ELF file");
	refuse(s, "elf", -ENOEXEC, "damaged");
	refuse(s, "head", -ENOEXEC, "damaged");
	refuse(s, "app.o", -ENOEXEC, "unlinked object");
	refuse(s, "app.a", -ENOEXEC, "static library");
	refuse(s, "class32", -ENOEXEC, "32-bit");
	refuse(s, "pipe", -ENOEXEC, "not a regular file");
	refuse(s, "/tmp", -ENOEXEC, "directory");
	refuse(s, "nowhere", -ENOENT, "does not exist");
	refuse(s, "/etc/passwd/x", -ENOENT, "does not exist");
}

/* Everything that may be asked of a file, on a file that lies. */
static void ask_everything(struct setup *s, const char *name)
{
	const struct dso_function *all;
	const struct dso_marker *markers_there;
	const char *const *names;
	struct dso_inline chain[4];
	struct dso *dso;
	const uint32_t *at;
	size_t n, code_n, sum = 0;

	if (dso_get(s->cache, fixture_path(name), &dso, &s->err))
		return;
	n = dso_functions(dso, &all);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = dso_code(dso, all[i].address, &code_n);

		for (size_t j = 0; code && j < code_n && j < all[i].size; j++)
			sum += code[j];
		sum += strlen(dso_function_name(dso, &all[i]));
		sum += dso_line_at(dso, all[i].address).line;
		sum += dso_function_line(dso, &all[i]).line;
		sum += dso_inlines_at(dso, all[i].address, chain, 4);
		sum += dso_language_at(dso, all[i].address);
	}
	for (uint64_t address = 0; address < 65536; address += 512) {
		uint64_t offset = 0;
		const char *variable = dso_variable_at(dso, address, &offset);

		sum += variable ? strlen(variable) + offset : 0;
		sum += dso_is_data(dso, address);
		sum += dso_load_bias(dso, 1 << 20, address);
	}
	sum += dso_markers(dso, &markers_there);
	n = dso_imports(dso, &names);
	for (size_t i = 0; i < n; i++)
		sum += strlen(names[i]);
	sum += dso_only_inlined(dso, "inner");
	sum += dso_find(dso, "outer", &at);
	sum += strlen(dso_build_id(dso)) + strlen(dso_symbol_source(dso));
	assert_true(sum > 0); /* the symbol source is never empty */
}

static size_t read_file(const char *name, uint8_t *buf, size_t room)
{
	FILE *file = fopen(fixture_path(name), "r");
	size_t n;

	assert_non_null(file);
	n = fread(buf, 1, room, file);
	fclose(file);
	return n;
}

static void write_file(const char *name, const uint8_t *buf, size_t n)
{
	FILE *file = fopen(fixture_path(name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(buf, 1, n, file), n);
	fclose(file);
}

static void truncated(void **state)
{
	static uint8_t image[1 << 20];
	size_t n = read_file("app", image, sizeof(image));
	struct setup *s = *state;

	for (size_t keep = 0; keep < n; keep += n / 97 + 1) {
		write_file("cut", image, keep);
		ask_everything(s, "cut");
	}
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

/* Wild values where headers, section headers and symbols hold offsets, sizes and links. */
static void lying_headers(void **state)
{
	static uint8_t image[1 << 20], lie[1 << 20];
	static const uint64_t wild[] = { 0,	     1,		0x7fffffff,	 0xffffffff,
					 UINT64_MAX, INT64_MAX, UINT64_MAX - 64, 1 << 20 };
	size_t n = read_file("app", image, sizeof(image));
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	struct setup *s = *state;
	uint64_t random = 88172645463325252;

	for (int round = 0; round < 200; round++) {
		size_t table = round & 1 ? header->e_shoff : round & 2 ? header->e_phoff : 16;
		size_t bytes = round & 1   ? header->e_shnum * sizeof(Elf64_Shdr)
			       : round & 2 ? header->e_phnum * sizeof(Elf64_Phdr)
					   : sizeof(Elf64_Ehdr) - 16;

		memcpy(lie, image, n);
		for (int i = 0; i < 1 + round % 3; i++) {
			size_t at = table + next_random(&random) % (bytes / 8) * 8;

			memcpy(lie + at, &wild[next_random(&random) % 8], round & 4 ? 8 : 4);
		}
		write_file("lie", lie, n);
		ask_everything(s, "lie");
	}
}

static void flip(struct setup *s, const char *name, int rounds)
{
	static uint8_t image[1 << 20], lie[1 << 20];
	size_t n = read_file(name, image, sizeof(image));
	uint64_t random = 362436069;

	for (int round = 0; round < rounds; round++) {
		memcpy(lie, image, n);
		for (int i = 0; i < 200; i++)
			lie[64 + next_random(&random) % (n - 64)] = (uint8_t)next_random(&random);
		write_file("flip", lie, n);
		ask_everything(s, "flip");
	}
}

static void flipped_bytes(void **state)
{
	flip(*state, "app", 150);
	flip(*state, "marked", 100); /* made by markers() */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(identity),
		TEST(functions),
		TEST(size_zero),
		TEST(imports),
		TEST(lines_and_inlines),
		TEST(stripped),
		TEST(separate_debug_file),
		TEST(mini_debuginfo),
		TEST(clang_without_aranges),
		TEST(split_dwarf),
		TEST(assembler_has_no_prototypes),
		TEST(real_libc),
		TEST(closures),
		TEST(markers),
		TEST(rebuilt_in_place),
		TEST(not_programs),
		TEST(truncated),
		TEST(lying_headers),
		TEST(flipped_bytes),
	};

	return unit_run(tests);
}
