/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/err.h"
#include "base/place.h"
#include "base/regular.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/dso/buildid.h"
#include "symbol/dso/file.h"
#include "symbol/dso/parser.h"

#define FILES_MAX \
	16384 /* kept, or known to be none: a program cannot make ispot read without end */

/* A file that was read once and is none: not read again for each of its mappings. */
struct refusal {
	struct stat st;
	int code;
	struct err err;
};

struct dso_cache {
	VEC(struct dso *)
	struct {
		VEC(struct refusal)
	} refused;
};

/* Kinds of files that are no ELF programs, by their first bytes. */
static const struct magic {
	const char *bytes;
	size_t n;
	const char *what, *hint;
} magics[] = {
	{ "MZ", 2, "a Windows program", "ispot needs an ELF program" },
	{ "\xca\xfe\xba\xbe", 4, "a Java class or macOS program", "name the java that runs it" },
	{ "PK\x03\x04", 4, "a zip or jar file", "name the program that runs it" },
	{ "!<arch>\n", 8, "a static library", "name the program that was linked with it" },
	{ "!<thin>\n", 8, "a static library", "name the program that was linked with it" },
	{ "PERFILE2", 8, "a perf.data file", "name the program that was recorded" },
};

static int script_error(struct err *err, const char *path, const char *head, size_t n)
{
	size_t end = 2, start;

	while (end < n && (head[end] == ' ' || head[end] == '\t'))
		end++;
	start = end;
	while (end < n && head[end] > ' ')
		end++;
	return err_set(err, -ENOEXEC, "%s is a script for %.*s; name the program it starts", path,
		       (int)(end - start), head + start);
}

static int not_elf_error(struct err *err, const char *path, const char *head, size_t n)
{
	if (n == 0)
		return err_set(err, -ENOEXEC, "%s is empty; name an ELF program", path);
	if (n > 2 && head[0] == '#' && head[1] == '!')
		return script_error(err, path, head, n);
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (n >= magics[i].n && !memcmp(head, magics[i].bytes, magics[i].n))
			return err_set(err, -ENOEXEC, "%s is %s; %s", path, magics[i].what,
				       magics[i].hint);
	}
	return err_set(err, -ENOEXEC, "%s is not an ELF file; name a compiled program", path);
}

static int open_error(struct err *err, const char *path, int code)
{
	if (code == -ENOENT || code == -ENOTDIR)
		return err_set(err, -ENOENT, "%s does not exist; check the path", path);
	if (code == -EACCES || code == -EPERM)
		return err_set(err, -EACCES, "%s may not be read; run with sudo", path);
	return err_set(err, code, "cannot open %s: %s; name a file that may be read", path,
		       strerror(-code));
}

static int open_file(struct dso *dso, const char *path, bool copied, struct err *err)
{
	struct dso_file file;
	char size[TEXT_NUMBER];
	int ret = dso_file_open(&file, path, copied);

	if (ret == -EISDIR)
		return err_set(err, -ENOEXEC, "%s is a directory; name a program in it", path);
	if (ret == -EINVAL)
		return err_set(err, -ENOEXEC, "%s is not a regular file; name a program", path);
	if (ret == -EFBIG)
		return err_set(err, ret,
			       "%s has %s, and others may write it: ispot would have to copy it, "
			       "but all copies together may take a quarter of the memory; strip "
			       "it, or install it where only root can write",
			       path, text_bytes(size, (uint64_t)file.st.st_size));
	if (ret)
		return open_error(err, path, ret);
	dso->st = file.st;
	dso->copied_bytes = file.copied_bytes;
	dso->is_roots = !geteuid() && !file.copied_bytes;
	dso->original_fd = dso_file_take_original(&file);
	dso->fd = dso_file_take(&file);
	return 0;
}

static int check_kind(const struct dso *dso, struct err *err)
{
	const char *ident = (const char *)dso->ehdr.e_ident;

	if (ident[EI_CLASS] != ELFCLASS64)
		return err_set(err, -ENOEXEC, "%s is a 32-bit ELF; ispot traces 64-bit programs",
			       dso->path);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -ENOEXEC,
			       "%s is a big-endian ELF; ispot traces little-endian programs",
			       dso->path);
	if (dso->ehdr.e_type == ET_REL)
		return err_set(err, -ENOEXEC, "%s is an unlinked object file; link it first",
			       dso->path);
	if (dso->ehdr.e_type == ET_CORE)
		return err_set(err, -ENOEXEC, "%s is a core dump; name the program that left it",
			       dso->path);
	return 0;
}

static int check_magic(const struct dso *dso, struct err *err)
{
	char head[128];
	ssize_t n = pread(dso->fd, head, sizeof(head), 0);

	if (n < 0)
		return open_error(err, dso->path, -errno);
	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0)
		return not_elf_error(err, dso->path, head, (size_t)n);
	return 0;
}

static int read_header(struct dso *dso, struct err *err)
{
	dso->elf = elf_begin(dso->fd, ELF_C_READ_MMAP, NULL);
	if (!dso->elf || elf_kind(dso->elf) != ELF_K_ELF || !gelf_getehdr(dso->elf, &dso->ehdr))
		return err_set(err, -ENOEXEC, "%s is cut off or damaged; build or install it again",
			       dso->path);
	dso->image = (const uint8_t *)elf_rawfile(dso->elf, &dso->image_bytes);
	return check_kind(dso, err);
}

static void add_segment(struct dso *dso, const GElf_Phdr *ph)
{
	struct dso_segment s = { .address = ph->p_vaddr,
				 .file_offset = ph->p_offset,
				 .file_size = ph->p_filesz,
				 .memory_size = ph->p_memsz,
				 .executable = ph->p_flags & PF_X };

	/* Cut to the file, so that nobody has to ask again. */
	if (s.file_offset > dso->image_bytes)
		return;
	if (s.file_size > dso->image_bytes - s.file_offset)
		s.file_size = dso->image_bytes - s.file_offset;
	dso_add_segment(dso, &s);
}

void dso_add_segment(struct dso *dso, const struct dso_segment *s)
{
	if (dso->segments.n < DSO_SEGMENTS_MAX && s->file_offset <= dso->image_bytes &&
	    s->file_size <= dso->image_bytes - s->file_offset && s->file_size &&
	    s->address + s->file_size > s->address)
		*vec_add(&dso->segments) = *s;
}

static void read_interp(struct dso *dso, const GElf_Phdr *ph)
{
	const char *s;

	if (dso->interp || ph->p_offset >= dso->image_bytes ||
	    ph->p_filesz > dso->image_bytes - ph->p_offset)
		return;
	s = (const char *)dso->image + ph->p_offset;
	dso->interp = xstrndup(s, strnlen(s, ph->p_filesz));
}

static void read_dynamic(struct dso *dso, const GElf_Phdr *ph)
{
	struct dso_dynamic d;

	dso->dynamic_address = ph->p_vaddr;
	dso->dynamic_bytes = ph->p_filesz;
	dso_dynamic_read(dso, &d);
	dso->has_needed = d.needed.n > 0;
	dso_dynamic_release(&d);
}

static void read_segments(struct dso *dso)
{
	GElf_Phdr ph, dynamic = { 0 };
	size_t n = 0;

	if (elf_getphdrnum(dso->elf, &n))
		return;
	for (size_t i = 0; i < n && gelf_getphdr(dso->elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_LOAD)
			add_segment(dso, &ph);
		else if (ph.p_type == PT_INTERP)
			read_interp(dso, &ph);
		else if (ph.p_type == PT_DYNAMIC)
			dynamic = ph;
		if (ph.p_type == PT_GNU_EH_FRAME && !dso->frames_bytes) {
			dso->frames_address = ph.p_vaddr;
			dso->frames_bytes = ph.p_filesz;
		}
	}
	read_dynamic(dso, &dynamic);
}

void dso_add_code(struct dso *dso, uint64_t address, uint64_t size)
{
	if (dso->code.n <= DSO_CODE_MAX && size && address + size > address &&
	    dso_address_to_offset(dso, address) != UINT64_MAX)
		*vec_add(&dso->code) = (struct dso_range){ address, address + size };
}

static int compare_ranges(const void *a, const void *b)
{
	const struct dso_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_sections(struct dso *dso)
{
	size_t names = 0;
	GElf_Shdr sh;

	elf_getshdrstrndx(dso->elf, &names);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		const char *name = elf_strptr(dso->elf, names, sh.sh_name);

		if (name && (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab")))
			dso->go = true;
		if (name && !strncmp(name, "__rseq_cs", 9))
			dso->restartable = true;
		if ((sh.sh_flags & SHF_EXECINSTR) && (sh.sh_flags & SHF_ALLOC) &&
		    sh.sh_type == SHT_PROGBITS)
			dso_add_code(dso, sh.sh_addr, sh.sh_size);
	}
	dso_finish_code(dso);
}

void dso_finish_code(struct dso *dso)
{
	if (dso->code.n > DSO_CODE_MAX)
		dso->code.n = 0;
	if (!dso->code.n) {
		vec_for_each (&dso->segments, struct dso_segment, s)
			if (s->executable)
				dso_add_code(dso, s->address, s->file_size);
	}
	vec_sort(&dso->code, compare_ranges);
}

/* hex: 2 * BUILD_ID_MAX + 1 */
static void read_build_id(Elf *elf, char *hex)
{
	const void *bytes = NULL;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	*hex = '\0';
	for (ssize_t i = 0; i < n && n <= BUILD_ID_MAX; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)bytes)[i]);
}

static void dso_free(struct dso *dso)
{
	if (!dso)
		return;
	parser_free(dso->parser);
	dso_lines_free(dso->lines);
	if (dso->dwfl)
		dwfl_end(dso->dwfl);
	if (!dso->elf && dso->image)
		munmap((void *)dso->image, dso->image_bytes);
	elf_end(dso->elf);
	if (dso->fd >= 0)
		close(dso->fd);
	if (dso->original_fd >= 0)
		close(dso->original_fd);
	dso_file_forget(dso->copied_bytes);
	vec_release(&dso->segments);
	vec_release(&dso->code);
	vec_release(&dso->functions);
	vec_release(&dso->imports);
	vec_release(&dso->markers);
	vec_release(&dso->variables);
	vec_release(&dso->slot_names);
	map_release(&dso->slots);
	free(dso->by_name);
	arena_release(&dso->strings);
	free(dso->build_id);
	free(dso->interp);
	free(dso->path);
	free(dso->kernel_path);
	free(dso);
}

int dso_read_elf(struct dso *dso, struct err *err)
{
	char build_id[2 * BUILD_ID_MAX + 1];
	int ret = read_header(dso, err);

	if (ret)
		return ret;
	read_segments(dso);
	read_sections(dso);
	read_build_id(dso->elf, build_id);
	dso->build_id = xstrdup(build_id);
	return 0;
}

static int dso_open(const char *path, bool copied, struct dso **out, struct err *err)
{
	struct dso *dso = xcalloc(1, sizeof(*dso));
	int ret;

	dso->fd = dso->original_fd = -1;
	dso->path = xstrdup(path);
	ret = open_file(dso, path, copied, err);
	if (!ret)
		ret = check_magic(dso, err);
	if (!ret)
		ret = dso_is_foreign(dso) ? parser_elf(dso, err) : dso_read_elf(dso, err);
	if (ret)
		dso_free(dso);
	else
		*out = dso;
	return ret;
}

/* A program that was built again keeps its inode where the linker writes in place: time and size
 * tell. */
static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Of a file that is none; what may be otherwise in a moment (memory, descriptors) is not. */
static void refuse(struct dso_cache *cache, const struct stat *st, int code, const struct err *err)
{
	struct refusal *r;

	if ((code != -ENOEXEC && code != -EBADMSG) || !err)
		return;
	r = vec_add(&cache->refused);
	*r = (struct refusal){ .st = *st, .code = code, .err = *err };
}

static bool will_do(const struct dso *known, const struct stat *st, enum dso_origin origin)
{
	return same_file(&known->st, st) && (origin != DSO_THEIRS || known->original_fd >= 0);
}

int dso_get_of(struct dso_cache *cache, enum dso_origin origin, const char *path, struct dso **dso,
	       struct err *err)
{
	struct stat st;
	bool known_file = !stat(path, &st);
	int ret;

	if (known_file) {
		vec_for_each (cache, struct dso *, known) {
			if (will_do(*known, &st, origin)) {
				*dso = *known;
				return 0;
			}
		}
		vec_for_each (&cache->refused, const struct refusal, r) {
			if (same_file(&r->st, &st))
				return err_take(err, &r->err);
		}
	}
	if (cache->n + cache->refused.n >= FILES_MAX)
		return err_set(
			err, -EMFILE,
			"%s: %d other files were read before it, which is the most; name objects with -F OBJECT:FUNCTION",
			path, FILES_MAX);
	ret = dso_open(path, origin != DSO_OURS, dso, err);
	if (!ret)
		*vec_add(cache) = *dso;
	else if (known_file)
		refuse(cache, &st, ret, err);
	return ret;
}

int dso_get(struct dso_cache *cache, const char *path, struct dso **dso, struct err *err)
{
	return dso_get_of(cache, DSO_OURS, path, dso, err);
}

enum dso_origin dso_origin_of_process(pid_t pid)
{
	struct stat own, its;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &own) || stat(name, &its))
		return DSO_ENDED;
	return own.st_dev == its.st_dev && own.st_ino == its.st_ino ? DSO_OURS : DSO_THEIRS;
}

struct dso_cache *dso_cache_new(void)
{
	elf_version(EV_CURRENT);
	return xcalloc(1, sizeof(struct dso_cache));
}

void dso_cache_free(struct dso_cache *cache)
{
	if (!cache)
		return;
	vec_for_each (cache, struct dso *, dso)
		dso_free(*dso);
	vec_release(&cache->refused);
	vec_release(cache);
	free(cache);
}

/* At base 0 with p_vaddr added, libdwfl's addresses are the file's own. */
Dwfl_Module *dso_module(struct dso *dso)
{
	void **user = NULL;
	int fd;

	if (dso->module_tried)
		return dso->module;
	dso->module_tried = true;
	fd = fcntl(dso->fd, F_DUPFD_CLOEXEC, 0);
	dso->dwfl = dwfl_begin(&dso_callbacks);
	if (fd < 0 || !dso->dwfl)
		goto out;
	dwfl_report_begin(dso->dwfl);
	dso->module = dwfl_report_elf(dso->dwfl, dso->path, dso->path, fd, 0, true);
	dwfl_report_end(dso->dwfl, NULL, NULL);
	if (dso->module) {
		dwfl_module_info(dso->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
		*user = dso;
		fd = -1; /* libdwfl owns it now */
	}
out:
	if (fd >= 0)
		close(fd);
	return dso->module;
}

const struct dso_range *dso_code_range(const struct dso *dso, uint64_t address)
{
	size_t low = 0, high = dso->code.n;

	while (low < high) { /* no two of them overlap */
		size_t mid = low + (high - low) / 2;

		if (dso->code.data[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == dso->code.n || dso->code.data[low].start > address)
		return NULL;
	return &dso->code.data[low];
}

const uint8_t *dso_code(struct dso *dso, uint64_t address, size_t *n)
{
	const struct dso_range *range = dso_code_range(dso, address);

	*n = 0;
	vec_for_each (&dso->segments, struct dso_segment, s) {
		if (!range || address < s->address || address - s->address >= s->file_size)
			continue;
		*n = s->file_size - (address - s->address);
		if (*n > range->end - address)
			*n = range->end - address;
		return dso->image + s->file_offset + (address - s->address);
	}
	return NULL;
}

const uint8_t *dso_bytes(const struct dso *dso, uint64_t address, uint64_t n)
{
	vec_for_each (&dso->segments, struct dso_segment, s) {
		uint64_t at = address - s->address;

		if (address >= s->address && at < s->file_size && n <= s->file_size - at)
			return dso->image + s->file_offset + at;
	}
	return NULL;
}

bool dso_code_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end)
{
	if (i >= dso->code.n)
		return false;
	*start = dso->code.data[i].start;
	*end = dso->code.data[i].end;
	return true;
}

bool dso_loaded_stretch(const struct dso *dso, size_t i, uint64_t *start, uint64_t *end)
{
	if (i >= dso->segments.n)
		return false;
	*start = dso->segments.data[i].address;
	*end = *start + dso->segments.data[i].file_size;
	return true;
}

uint64_t dso_offset_to_address(const struct dso *dso, uint64_t file_offset)
{
	vec_for_each (&dso->segments, struct dso_segment, s) {
		if (file_offset >= s->file_offset && file_offset - s->file_offset < s->file_size)
			return s->address + (file_offset - s->file_offset);
	}
	return UINT64_MAX;
}

uint64_t dso_address_to_offset(const struct dso *dso, uint64_t address)
{
	vec_for_each (&dso->segments, struct dso_segment, s) {
		if (address >= s->address && address - s->address < s->file_size)
			return s->file_offset + (address - s->address);
	}
	return UINT64_MAX;
}

const char *dso_path(const struct dso *dso)
{
	return dso->path;
}

/* Where only root changes what is there, and it is this file; NULL: nowhere. To be freed. */
static char *sound_path(const struct dso *dso, const char *path)
{
	char *real = dso->is_roots ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real && place_is_fixed(real, 0) && !stat(real, &st) && st.st_dev == dso->st.st_dev &&
	    st.st_ino == dso->st.st_ino)
		return real;
	free(real);
	return NULL;
}

const char *dso_kernel_path(struct dso *dso, const char *path)
{
	int fd = dso->original_fd >= 0 ? dso->original_fd : dso->fd;

	if (geteuid() || fd < 0)
		return path;
	if (!dso->kernel_path)
		dso->kernel_path = sound_path(dso, path);
	if (!dso->kernel_path)
		dso->kernel_path = xasprintf("/proc/self/fd/%d", fd);
	return dso->kernel_path;
}

const char *dso_build_id(const struct dso *dso)
{
	return dso->build_id;
}

dev_t dso_device(const struct dso *dso)
{
	return dso->st.st_dev;
}

ino_t dso_inode(const struct dso *dso)
{
	return dso->st.st_ino;
}

enum dso_machine dso_machine(const struct dso *dso)
{
	if (dso->ehdr.e_machine == EM_X86_64)
		return DSO_X86_64;
	return dso->ehdr.e_machine == EM_AARCH64 ? DSO_AARCH64 : DSO_OTHER;
}

bool dso_is_static(const struct dso *dso)
{
	return !dso->interp && !dso->has_needed;
}

bool dso_is_restartable(const struct dso *dso)
{
	return dso->restartable;
}

bool dso_is_go(const struct dso *dso)
{
	return dso->go;
}

bool dso_is_setuid(const struct dso *dso)
{
	return dso->st.st_mode & (S_ISUID | S_ISGID);
}

char *dso_demangle(struct dso *dso, const char *symbol)
{
	bool of_others = symbol_is_mangled(symbol) && dso_is_foreign(dso);

	return of_others ? parser_demangle(dso, symbol) : demangle(symbol);
}

const char *dso_interp(const struct dso *dso)
{
	return dso->interp;
}
