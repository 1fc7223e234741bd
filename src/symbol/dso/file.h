/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that somebody else may have made, opened so that they can be mapped: a FIFO or a device
 * does not hold the reader up, and what another user may write is copied first. The bytes of a
 * mapped file change under a parser that has checked them, and if the file is cut the parser gets
 * SIGBUS. A copy is memory of this process alone (memfd, sealed).
 */
#ifndef ISPOT_SYMBOL_DSO_FILE_H
#define ISPOT_SYMBOL_DSO_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct dso_file {
	int fd;		 /* to be mapped */
	int original_fd; /* of what was copied; -1: nothing was */
	struct stat st;
	uint64_t copied_bytes; /* 0: nobody but root can write the file, so it is no copy */
};

/*
 * Opens a regular file; -EISDIR, -EINVAL: it is none, -EFBIG: it would have to be copied, and is
 * larger than what is left of DSO_COPIES_SHARE; or -errno of open(). file->fd is -1 then.
 * copied: even if its owner and mode say that only root writes it.
 */
int dso_file_open(struct dso_file *file, const char *path, bool copied);
void dso_file_close(struct dso_file *file);
/* Gives the caller the descriptor of the file that was copied, or -1 if none was. */
int dso_file_take_original(struct dso_file *file);
/* Gives the caller the descriptor. The copied bytes count until dso_file_forget(). */
int dso_file_take(struct dso_file *file);
void dso_file_forget(uint64_t copied_bytes);

#define DSO_COPIES_SHARE 4 /* all copies take at most a quarter of the machine's memory */

#endif
