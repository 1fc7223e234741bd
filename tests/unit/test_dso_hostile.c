/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are no programs, or lie: refused with the reason, or read as far as they are true. */
#include "dso_fixture.h"

#include <elf.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "dice.h"
#include "symbol/dso/buildid.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/data.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/markers.h"
#include "symbol/dso/symbols.h"

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
			size_t at = table + dice(&random) % (bytes / 8) * 8;

			memcpy(lie + at, &wild[dice(&random) % 8], round & 4 ? 8 : 4);
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
			lie[64 + dice(&random) % (n - 64)] = (uint8_t)dice(&random);
		write_file("flip", lie, n);
		ask_everything(s, "flip");
	}
}

static void flipped_bytes(void **state)
{
	flip(*state, "app", 150);
	make_marked();
	flip(*state, "marked", 100);
}

#define FUNCTION                                                                                \
	".text\n.globl outer\n.type outer,@function\nouter: ret\n.size outer,.-outer\n.Lend:\n" \
	".section .debug_abbrev,\"\",@progbits\n"                                               \
	".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,1,0,0\n"
#define UNIT                                                                                      \
	".section .debug_info,\"\",@progbits\n.Lcu: .4byte .Lunit_end-.Lunit\n.Lunit: .2byte 4\n" \
	".4byte .debug_abbrev\n.byte 8\n.uleb128 1\n.8byte outer\n.8byte .Lend\n"

static void ask_of_scopes(struct setup *s, const char *abbreviations, const char *dies)
{
	char *code = xasprintf(FUNCTION "%s.byte 0\n" UNIT "%s.Lunit_end:\n", abbreviations, dies);

	fixture_write("deep.s", code);
	fixture_run("gcc -shared -nostdlib -o deep deep.s");
	ask_everything(s, "deep");
	free(code);
}

/* 300,000 scopes: no stack is that deep. */
static void deep_namespaces(void **state)
{
	ask_of_scopes(*state, ".uleb128 2,0x39\n.byte 1\n.uleb128 0,0\n",
		      ".fill 300000,1,2\n.fill 300001,1,0\n");
}

/* All of which the address is in. */
static void deep_blocks(void **state)
{
	ask_of_scopes(*state,
		      ".uleb128 2,0x2e\n.byte 1\n.uleb128 0x11,1,0x12,1,0,0\n"
		      ".uleb128 3,0x0b\n.byte 1\n.uleb128 0x11,1,0x12,1,0,0\n",
		      ".uleb128 2\n.8byte outer\n.8byte .Lend\n"
		      ".rept 300000\n.uleb128 3\n.8byte outer\n.8byte .Lend\n.endr\n"
		      ".fill 300002,1,0\n");
}

/* Each says that the one behind it is the one inside it: twice as many ways at each. */
static void siblings_inside(void **state)
{
	ask_of_scopes(*state, ".uleb128 2,0x39\n.byte 1\n.uleb128 1,0x13\n.uleb128 0,0\n",
		      ".altmacro\n.macro scope at next\n"
		      ".Ld\\at: .uleb128 2\n.4byte .Ld\\next-.Lcu\n.endm\n"
		      ".set i,0\n.rept 50\nscope %i,%i+1\n.set i,i+1\n.endr\n"
		      ".Ld50: .fill 51,1,0\n");
}

static bool has(struct setup *s, const char *name, const char *symbol)
{
	const uint32_t *at;

	return dso_find(get(s, name), symbol, &at) > 0;
}

/* A stripped program without a build ID, whose link has that name and app.debug's checksum. */
static void link_to(const char *program, const char *name)
{
	char *line;

	line = xasprintf(
		"objcopy --only-keep-debug --remove-section .note.gnu.build-id app app.debug &&"
		"python3 -c 'import sys, zlib\n"
		"name = sys.argv[1].encode() + b\"\\0\"\n"
		"crc = zlib.crc32(open(\"app.debug\", \"rb\").read())\n"
		"open(\"link\", \"wb\").write(name + bytes(-len(name) %% 4) + crc.to_bytes(4, \"little\"))'"
		" %s && objcopy --strip-all --remove-section .note.gnu.build-id"
		" --add-section .gnu_debuglink=link app %s",
		name, program);
	fixture_run(line);
	free(line);
}

/* A debug link is a name beside the file: what lies elsewhere is not opened, and a FIFO is no file.
 */
static void debug_links(void **state)
{
	struct setup *s = *state;

	alarm(60); /* a FIFO that is waited at ends the test */
	link_to("link-plain", "app.debug");
	assert_true(has(s, "link-plain", "hidden"));
	fixture_run("mkdir -p out in && cp app.debug out");
	link_to("in/link-out", "../out/app.debug");
	assert_false(has(s, "in/link-out", "hidden"));
	fixture_run("mkfifo fifo.debug && ln -s fifo.debug linked.debug &&"
		    "ln -s /dev/zero zero.debug && cp app wrong.debug");
	link_to("link-fifo", "fifo.debug");
	assert_false(has(s, "link-fifo", "hidden"));
	link_to("link-link", "linked.debug");
	assert_false(has(s, "link-link", "hidden"));
	link_to("link-device", "zero.debug");
	assert_false(has(s, "link-device", "hidden"));
	link_to("link-wrong", "wrong.debug");
	assert_false(has(s, "link-wrong", "hidden"));
	alarm(0);
}

/* The same of what several debug files share, and of split units, which libdw opens by itself. */
static void other_links(void **state)
{
	struct setup *s = *state;

	alarm(60);
	fixture_run("mkdir -p alt && mkfifo alt/fifo;"
		    "printf 'fifo\\000aaaaaaaaaaaaaaaaaaaa' >alt-link &&"
		    "objcopy --add-section .gnu_debugaltlink=alt-link app alt/app &&"
		    "gcc -g -gsplit-dwarf -O1 -o fifo-split app.c && ls *.dwo >dwos &&"
		    "for f in $(cat dwos); do rm $f && mkfifo $f || exit; done");
	ask_everything(s, "alt/app");
	ask_everything(s, "fifo-split");
	fixture_run("rm -f *.dwo");
	alarm(0);
}

static bool is_mapped(const char *name)
{
	char line[4096];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, name) != NULL;
	fclose(f);
	return found;
}

/* What others may write is not what is mapped; so it may be cut. */
static void cut_while_open(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso;
	size_t code_n, sum = 0;

	fixture_run("cp app mine && chmod 666 mine");
	dso = get(s, "mine");
	assert_true(is_mapped("/memfd:ispot-elf"));
	assert_false(is_mapped("/mine"));
	fixture_run("truncate -s 0 mine");
	for (size_t i = 0, n = dso_functions(dso, &all); i < n; i++) {
		const uint8_t *code = dso_code(dso, all[i].address, &code_n);

		for (size_t j = 0; code && j < code_n; j++)
			sum += code[j];
		sum += dso_line_at(dso, all[i].address).line;
		sum += dso_function_line(dso, &all[i]).line;
	}
	assert_false(is_mapped("/mine"));
	assert_true(sum > 0);
}

/* A hole is no reason to fill the memory. */
static void huge(void **state)
{
	struct setup *s = *state;
	char id[130];

	fixture_run("cp app huge && chmod 666 huge && truncate -s 4T huge");
	refuse(s, "huge", -EFBIG, "others may write it");
	dso_file_build_id(fixture_path("huge"), id, sizeof(id));
	assert_string_equal(id, dso_build_id(get(s, "app")));
	fixture_run("rm -f huge");
}

/* Whatever the headers and notes say, what is read of them is an ID or none. */
static void build_ids(void **state)
{
	struct setup *s = *state;
	char id[2 * BUILD_ID_MAX + 2], short_id[5];
	uint8_t bytes[1024];
	FILE *f;

	dso_file_build_id(fixture_path("app"), id, sizeof(id));
	assert_string_equal(id, dso_build_id(get(s, "app")));
	assert_int_equal(strlen(id), 40);
	dso_file_build_id(fixture_path("app"), short_id, sizeof(short_id));
	assert_memory_equal(short_id, id, sizeof(short_id) - 1);
	fixture_run("cp app changed");
	f = fopen(fixture_path("changed"), "r+");
	assert_int_equal(fread(bytes, sizeof(bytes), 1, f), 1);
	for (long i = 0; i < (long)sizeof(bytes); i++) {
		fseek(f, i, SEEK_SET);
		fputc(bytes[i] ^ 0xff, f);
		fflush(f);
		dso_file_build_id(fixture_path("changed"), id, sizeof(id));
		assert_true(strlen(id) % 2 == 0 && strspn(id, "0123456789abcdef") == strlen(id));
		fseek(f, i, SEEK_SET);
		fputc(bytes[i], f);
		fflush(f);
	}
	fclose(f);
}

static Elf64_Phdr *make_header(uint8_t *image, unsigned n)
{
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)n,
	};

	memcpy(image, &header, sizeof(header));
	return (Elf64_Phdr *)(image + sizeof(header));
}

/* What is looked for in all segments at each symbol is looked for in as many as files have. */
static void many_segments(void **state)
{
	static _Alignas(8) uint8_t image[1 << 18];
	const uint64_t content = 1 << 17, address = 1 << 20, apart = 1 << 12;
	Elf64_Phdr *ph = make_header(image, 1000);
	struct dso *dso;

	for (uint64_t i = 0; i < 1000; i++)
		ph[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_offset = content + 16 * i,
				      .p_vaddr = address + apart * i,
				      .p_filesz = 16,
				      .p_memsz = 16 };
	write_file("segments", image, sizeof(image));
	dso = get(*state, "segments");
	assert_int_equal(dso_offset_to_address(dso, content + 16 * 100), address + apart * 100);
	assert_int_equal(dso_offset_to_address(dso, content + 16 * 500), UINT64_MAX);
}

/* Nor is each of any number of strings looked for to its end. */
static void many_strings(void **state)
{
	static _Alignas(8) uint8_t image[1 << 18];
	const unsigned n = 10000, at = 1 << 12, strings = (1 << 18) - 16;
	Elf64_Phdr *ph = make_header(image, 2);
	Elf64_Dyn *dynamic = (Elf64_Dyn *)(image + at);

	ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
			      .p_filesz = sizeof(image),
			      .p_memsz = sizeof(image) };
	ph[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
			      .p_offset = at,
			      .p_vaddr = at,
			      .p_filesz = n * sizeof(*dynamic) };
	memcpy(image + strings + 1, "lib.so", 7);
	for (unsigned i = 1; i < n - 1; i++)
		dynamic[i] = (Elf64_Dyn){ DT_NEEDED, { i < n - 2 ? 0 : 1 } };
	dynamic[0] = (Elf64_Dyn){ DT_STRTAB, { strings } };
	write_file("strings", image, sizeof(image));
	assert_true(dso_is_static(get(*state, "strings")));
	dynamic[1].d_un.d_val = 1;
	write_file("strings", image, sizeof(image));
	assert_false(dso_is_static(get(*state, "strings")));
}

static uint64_t address_of_main(struct dso *dso)
{
	const struct dso_function *all;
	const uint32_t *found;

	assert_int_equal(dso_find(dso, "main", &found), 1);
	dso_functions(dso, &all);
	return all[*found].address;
}

static bool is_roots(const char *name)
{
	struct stat st;

	return !stat(fixture_path(name), &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static struct dso *get_of(struct setup *s, enum dso_origin origin, const char *name)
{
	struct dso *dso = NULL;

	assert_int_equal(dso_get_of(s->cache, origin, fixture_path(name), &dso, &s->err), 0);
	return dso;
}

/* What looks like root's here may be written by the root of a container that has it mapped. */
static void of_containers(void **state)
{
	struct setup *s = *state;
	struct dso *ours, *theirs;
	const uint8_t *code;
	uint8_t first;
	size_t n;

	ours = get_of(s, DSO_OURS, "app");
	assert_ptr_equal(get_of(s, DSO_ENDED, "app"), ours);
	theirs = get_of(s, DSO_THEIRS, "app");
	if (!geteuid() && is_roots("app")) /* others' are copied anyway */
		assert_ptr_not_equal(theirs, ours);
	assert_ptr_equal(get_of(s, DSO_THEIRS, "app"), theirs);
	assert_ptr_equal(get_of(s, DSO_OURS, "app"), ours);
	fixture_run("cp app inside; cp app gone");
	theirs = get_of(s, DSO_THEIRS, "inside");
	assert_ptr_equal(get_of(s, DSO_OURS, "inside"), theirs);
	code = dso_code(theirs, address_of_main(theirs), &n);
	first = *code;
	fixture_run("truncate -s 0 inside");
	assert_int_equal(*code, first);
	theirs = get_of(s, DSO_ENDED, "gone");
	code = dso_code(theirs, address_of_main(theirs), &n);
	fixture_run("truncate -s 0 gone");
	assert_int_equal(*code, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(not_programs),    TEST(truncated),	     TEST(debug_links),
		TEST(other_links),     TEST(cut_while_open), TEST(huge),
		TEST(build_ids),       TEST(lying_headers),  TEST(flipped_bytes),
		TEST(deep_namespaces), TEST(deep_blocks),    TEST(siblings_inside),
		TEST(of_containers),   TEST(many_segments),  TEST(many_strings),
	};

	return unit_run(tests);
}
