/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens files that another user may have made, so that they can be mapped. A FIFO or a device does
 * not block the reader. A file that another user may write is copied first: the bytes of a mapped
 * file could change after a parser has checked them, and if the file is cut the parser gets SIGBUS.
 * The copy is memory of this process alone (memfd, sealed).
 */
#ifndef ISPOT_SYMBOL_DSO_FILE_H
#define ISPOT_SYMBOL_DSO_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct dso_file {
	int fd;		 /* to be mapped */
	int original_fd; /* of the file that was copied; -1: no copy */
	struct stat st;
	uint64_t copied_bytes; /* 0: only root can write the file, so there is no copy */
};

/*
 * Opens a regular file. Returns 0, or with file->fd set to -1: -EISDIR or -EINVAL if the file is
 * not regular, -EFBIG if its copy would exceed what is left of DSO_COPIES_SHARE, or -errno of
 * open(). copied: the file is copied even if, by its owner and mode, only root writes it.
 */
int dso_file_open(struct dso_file *file, const char *path, bool copied);
void dso_file_close(struct dso_file *file);
/* Moves the descriptor of the file that was copied to the caller; -1 if there is no copy. */
int dso_file_take_original(struct dso_file *file);
/* Moves the descriptor to the caller. The copied bytes count until dso_file_forget(). */
int dso_file_take(struct dso_file *file);
void dso_file_forget(uint64_t copied_bytes);

#define DSO_COPIES_SHARE 4 /* all copies take at most a quarter of the machine's memory */

#endif
