/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dso_fixture.h"
#include "symbol/dso/called.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/markers.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"

#include <fcntl.h>
#include <sys/stat.h>

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

/* What has no size in a stripped file does not reach over all that has no name. */
static void stripped_size_zero(void **state)
{
	struct setup *s = *state;
	const struct dso_function *lone;
	struct dso *dso;

	fixture_run("printf '.globl lone\\nlone: ret\\n.skip 9999, 0x90\\n' >l.s &&"
		    "cc -shared -nostdlib -o l1 l.s && cp l1 l2 && strip l2");
	dso = get(s, "l1");
	lone = function(dso, "lone");
	assert_int_equal(lone->size, 10000);
	dso = get(s, "l2");
	lone = function(dso, "lone");
	assert_true(lone->size_guessed);
	assert_ptr_equal(dso_function_at(dso, lone->address + 4000), lone);
	assert_null(dso_function_at(dso, lone->address + 5000));
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

/* Writes a table of Go with the functions of "plain" that it names, and says that there are n. */
static void write_go_table(const char *file, uint64_t n, uint64_t text, uint64_t size)
{
	const uint32_t starts[] = { 0, 24, 16, 32, (uint32_t)size, 0 }, names[] = { 0, 0, 16, 6 };
	const uint64_t head[9] = { 0x08010000fffffff1, n, 0, text, 72, 0, 0, 0, 96 };
	const char strings[24] = "a.one\0a.(*T).two";
	FILE *f = fopen(fixture_path(file), "w");

	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	fwrite(strings, sizeof(strings), 1, f);
	fwrite(starts, sizeof(starts), 1, f);
	fwrite(names, sizeof(names), 1, f);
	fclose(f);
}

static void stripped_go(void **state)
{
	struct setup *s = *state;
	uint64_t text = function(get(s, "plain"), "hidden")->address;
	const struct dso_function *all;
	struct dso *dso;

	write_go_table("go.table", 2, text, 40);
	fixture_run("cp plain g && strip g && objcopy --add-section .gopclntab=go.table g");
	dso = get(s, "g");
	assert_string_equal(dso_symbol_source(dso), ".gopclntab");
	assert_int_equal(function(dso, "a.one")->address, text);
	assert_int_equal(function(dso, "a.one")->size, 16);
	assert_int_equal(function(dso, "a.(*T).two")->address, text + 16);
	assert_int_equal(function(dso, "a.(*T).two")->size, 24);
	/* more functions than there are bytes, and starts in no order */
	write_go_table("go.table", UINT64_MAX / 8 + 3, text, 8);
	fixture_run("cp plain h && strip h && objcopy --add-section .gopclntab=go.table h");
	assert_true(dso_functions(get(s, "h"), &all) < 6);
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

/* Each unit has functions of its own; what has none (assembly) is not its neighbour's. */
static void functions_of_units(void **state)
{
	struct setup *s = *state;
	struct dso *dso;

	fixture_write("second.c", "int second(int a);\n\nint second(int a)\n{ return a * 5; }\n");
	fixture_run("gcc -g -O1 -o units app.c second.c");
	dso = get(s, "units");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dso_function_line(dso, function(dso, "outer")).line, 8);
		assert_int_equal(dso_function_line(dso, function(dso, "second")).line, 3);
		assert_int_equal(dso_function_line(dso, function(dso, "hidden")).line, 7);
	}
	for (const char *const *name = (const char *const[]){ "unsized", "after", NULL }; *name;
	     name++) {
		struct dso_line line = dso_function_line(dso, function(dso, *name));

		assert_true(line.line == 0 || line.line == 12);
	}
}

/* Those in a namespace are found by clang's DIEs, which stand within it, too. */
static void functions_of_namespaces(void **state)
{
	struct setup *s = *state;
	struct dso *dso;

	if (system("command -v clang++ >/dev/null 2>&1"))
		skip(); /* no clang++ here */
	fixture_write("space.cc", "namespace n {\nint within(int a);\n"
				  "int within(int a)\n{\n\treturn a * 7;\n}\n}\n"
				  "int main() { return n::within(1); }\n");
	fixture_run("clang++ -g -O0 -o space space.cc");
	dso = get(s, "space");
	assert_int_equal(dso_function_line(dso, function(dso, "_ZN1n6withinEi")).line, 3);
}

/* Of two that begin together the longer one has what is beyond the other. */
static void functions_that_begin_together(void **state)
{
	struct setup *s = *state;
	struct dso *dso;
	Dwarf_Die die;
	uint64_t at;

	fixture_write("together.s",
		      ".text\n.globl outer\n.type outer,@function\nouter: ret\n.Lmid: ret\n"
		      ".size outer,.-outer\n.Lend:\n"
		      ".section .debug_abbrev,\"\",@progbits\n"
		      ".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,1,0,0\n"
		      ".uleb128 2,0x2e\n.byte 0\n.uleb128 3,8,0x11,1,0x12,1,0,0\n.byte 0\n"
		      ".section .debug_info,\"\",@progbits\n"
		      ".4byte .Lunit_end-.Lunit\n.Lunit: .2byte 4\n.4byte .debug_abbrev\n.byte 8\n"
		      ".uleb128 1\n.8byte outer\n.8byte .Lend\n"
		      ".uleb128 2\n.asciz \"long\"\n.8byte outer\n.8byte .Lend\n"
		      ".uleb128 2\n.asciz \"short\"\n.8byte outer\n.8byte .Lmid\n"
		      ".byte 0\n.Lunit_end:\n");
	fixture_run("gcc -shared -nostdlib -o together together.s");
	dso = get(s, "together");
	at = function(dso, "outer")->address;
	assert_true(dso_subprogram(dso, at + 1, &die));
	assert_string_equal(dwarf_diename(&die), "long");
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

static void markers(void **state)
{
	struct setup *s = *state;
	const struct dso_marker *all;
	const struct dso_function *marked;
	struct dso *dso;
	size_t n;

	assert_int_equal(dso_markers(get(s, "app"), &all), 0);
	make_marked();
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

/* Of a copy that the compiler made for one value of a parameter the others move up. */
static void changed_copies(void **state)
{
	struct setup *s = *state;
	struct dso_prototype p;
	struct dso *dso;

	fixture_write("scaled.c",
		      "static __attribute__((noinline)) long scaled(long mode, long x)\n"
		      "{ volatile long v = x * mode; return v + mode; }\n"
		      "__attribute__((noinline)) long whole(long mode, long x)\n"
		      "{ volatile long v = x - mode; return v; }\n"
		      "int main(int c, char **v)\n"
		      "{ (void)v; return scaled(3, c) + scaled(3, c + 1) + whole(c, 4); }\n");
	fixture_run("gcc -g -O2 -o scaled scaled.c");
	dso = get(s, "scaled");
	assert_true(dso_prototype(dso, function(dso, "scaled.constprop.0"), &p));
	assert_true(p.changed);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.parameters[0].name, "mode");
	assert_int_equal(p.parameters[0].place, DSO_NO_PLACE);
	assert_string_equal(p.parameters[1].name, "x");
	assert_int_equal(p.parameters[1].place, 0);
	assert_true(dso_prototype(dso, function(dso, "whole"), &p));
	assert_false(p.changed);
}

/* By a stub, by a slot, and not: main calls puts once, a function of its own, and by a pointer. */
static void calls_of_imports(void **state)
{
	static const char *const how[] = {
		"",
		"-static",
#if defined(__x86_64__)
		"-fcf-protection=none -Wl,-z,lazy",
		"-fno-plt",
#endif
	};
	struct setup *s = *state;

	for (unsigned i = 0; i < sizeof(how) / sizeof(*how); i++) {
		char name[] = "calls0", command[128];
		const struct dso_function *f;
		unsigned found = 0;
		struct dso *dso;

		name[5] += (char)i;
		snprintf(command, sizeof(command), "gcc -O1 %s -o %s app.c", how[i], name);
		fixture_run(command);
		dso = get(s, name);
		f = function(dso, "main");
		for (uint64_t at = 0; at < f->size; at++) {
			const char *import = dso_called_import(dso, f->address + at);

			if (import)
				assert_string_equal(import, "puts");
			found += import != NULL;
		}
		assert_int_equal(found, strcmp(how[i], "-static") != 0);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(identity),
		TEST(functions),
		TEST(size_zero),
		TEST(imports),
		TEST(lines_and_inlines),
		TEST(stripped),
		TEST(stripped_size_zero),
		TEST(separate_debug_file),
		TEST(mini_debuginfo),
		TEST(stripped_go),
		TEST(clang_without_aranges),
		TEST(functions_of_units),
		TEST(functions_of_namespaces),
		TEST(functions_that_begin_together),
		TEST(split_dwarf),
		TEST(assembler_has_no_prototypes),
		TEST(changed_copies),
		TEST(real_libc),
		TEST(closures),
		TEST(markers),
		TEST(calls_of_imports),
		TEST(rebuilt_in_place),
	};

	return unit_run(tests);
}
