/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user that ispot writes files and runs commands as: it needs root for probes only. */
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
	char name[64], home[256]; /* "": unknown, as of a number without an account */
};

/*
 * Finds the user who called sudo (SUDO_UID, SUDO_GID). False: nobody did, or ispot does not run as
 * root.
 */
bool identity_of_sudo(struct identity *id);

/* Finds the user of a name or number as typed. -ENOENT: there is none; err has the sentence. */
int identity_find(struct identity *id, const char *word, struct err *err);

/*
 * Makes this thread open, create and rename files as that user until identity_files_back(). Other
 * threads do not change, and this thread stays root for everything else. Returns 0, or -errno if
 * nothing was changed.
 */
int identity_files_as(const struct identity *id);
void identity_files_back(void);

/* Makes the whole process that user for good, with HOME, USER and LOGNAME. Returns 0 or -errno. */
int identity_become(const struct identity *id);

#endif
