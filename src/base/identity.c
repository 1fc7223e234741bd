/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

/* The groups that root had, which identity_files_back() restores. */
static gid_t own_groups[IDENTITY_GROUPS_MAX];
static int n_own_groups;

static void fill_account(struct identity *id, const struct passwd *account)
{
	id->n_groups = IDENTITY_GROUPS_MAX;
	snprintf(id->name, sizeof(id->name), "%s", account->pw_name);
	snprintf(id->home, sizeof(id->home), "%s", account->pw_dir);
	if (getgrouplist(account->pw_name, id->gid, id->groups, &id->n_groups) < 0)
		id->n_groups = IDENTITY_GROUPS_MAX;
}

static void fill_by_uid(struct identity *id)
{
	const struct passwd *account = getpwuid(id->uid);

	id->groups[0] = id->gid;
	id->n_groups = 1;
	if (account)
		fill_account(id, account);
}

static bool read_id(const char *name, uint64_t *value)
{
	const char *word = getenv(name);

	return word && !text_parse_u64(word, value) && *value < (uid_t)-1;
}

bool identity_of_sudo(struct identity *id)
{
	uint64_t uid, gid;

	if (geteuid() != 0 || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid))
		return false;
	*id = (struct identity){ .uid = (uid_t)uid, .gid = (gid_t)gid };
	fill_by_uid(id);
	return true;
}

#define NOBODYS_GROUP 65534

int identity_find(struct identity *id, const char *word, struct err *err)
{
	const struct passwd *account = getpwnam(word);
	uint64_t uid;

	*id = (struct identity){ 0 };
	if (!account && !text_parse_u64(word, &uid) && uid < (uid_t)-1) {
		account = getpwuid((uid_t)uid);
		if (!account) {
			/*
			 * a number without an account, as in sudo -u '#1234'; a group of the same
			 * number may be somebody else's
			 */
			id->uid = (uid_t)uid;
			id->gid = id->groups[0] = NOBODYS_GROUP;
			id->n_groups = 1;
			return 0;
		}
	}
	if (!account)
		return err_set(err, -ENOENT, "there is no user '%s'; give a name or a number",
			       word);
	id->uid = account->pw_uid;
	id->gid = account->pw_gid;
	fill_account(id, account);
	return 0;
}

/* Uses the system call itself: the C library's setgroups() changes every thread of the process. */
static int set_thread_groups(const gid_t *groups, int n)
{
	return syscall(SYS_setgroups, n, groups) ? -errno : 0;
}

int identity_files_as(const struct identity *id)
{
	int ret;

	n_own_groups = getgroups(IDENTITY_GROUPS_MAX, own_groups);
	if (n_own_groups < 0)
		return -errno;
	ret = set_thread_groups(id->groups, id->n_groups);
	if (ret)
		return ret;
	setfsgid(id->gid);
	setfsuid(id->uid);
	if ((uid_t)setfsuid((uid_t)-1) == id->uid)
		return 0;
	identity_files_back();
	return -EPERM;
}

void identity_files_back(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
	set_thread_groups(own_groups, n_own_groups);
}

int identity_become(const struct identity *id)
{
	if (setgroups(id->n_groups, id->groups) || setresgid(id->gid, id->gid, id->gid) ||
	    setresuid(id->uid, id->uid, id->uid))
		return -errno;
	if (*id->name) {
		setenv("USER", id->name, 1);
		setenv("LOGNAME", id->name, 1);
	}
	if (*id->home)
		setenv("HOME", id->home, 1);
	return 0;
}
