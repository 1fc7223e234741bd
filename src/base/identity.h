/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose files and whose processes: ispot needs root for probes, not for the files it writes nor for
 * the command it runs.
 */
#ifndef ISPOT_BASE_IDENTITY_H
#define ISPOT_BASE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

#define IDENTITY_GROUPS_MAX 256

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[IDENTITY_GROUPS_MAX];
	int n_groups;
	char name[64], home[256]; /* "" unknown: a number without an account */
};

/* The user behind sudo (SUDO_UID, SUDO_GID); false: none, or ispot does not run as root. */
bool identity_of_sudo(struct identity *id);

/* A name or number as typed. -ENOENT with its sentence. */
int identity_find(struct identity *id, const char *word, struct err *err);

/*
 * Files are opened, made and renamed as that user, until identity_files_back(): of this thread
 * only, without giving up root otherwise. 0 or -errno, then nothing has changed.
 */
int identity_files_as(const struct identity *id);
void identity_files_back(void);

/* The whole process for good, with HOME, USER and LOGNAME. 0 or -errno. */
int identity_become(const struct identity *id);

#endif
