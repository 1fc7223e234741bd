/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/dso.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/place.h"
#include "symbol/dso/internal.h"

void dso_add_segment(struct dso *dso, const struct dso_segment *s)
{
	if (dso->segments.n < DSO_SEGMENTS_MAX && s->file_offset <= dso->image_bytes &&
	    s->file_size <= dso->image_bytes - s->file_offset && s->file_size &&
	    s->address + s->file_size > s->address)
		*vec_add(&dso->segments) = *s;
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

const struct dso_range *dso_code_range(const struct dso *dso, uint64_t address)
{
	/* no two ranges overlap */
	size_t low = vec_search(i, 0, dso->code.n, dso->code.data[i].end <= address);

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

const uint8_t *dso_image(const struct dso *dso, size_t *n)
{
	*n = dso->image_bytes;
	return dso->image;
}

const char *dso_path(const struct dso *dso)
{
	return dso->path;
}

/*
 * Returns the real path if only root can change any part of it, it leads to this file, and the
 * kernel accepts it in a probe definition; otherwise NULL. The caller frees it.
 */
static char *sound_path(const struct dso *dso, const char *path)
{
	char *real = dso->is_roots ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real && place_is_plain(real) && place_is_fixed(real, 0) && !stat(real, &st) &&
	    st.st_dev == dso->st.st_dev && st.st_ino == dso->st.st_ino)
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

const char *dso_interp(const struct dso *dso)
{
	return dso->interp;
}
