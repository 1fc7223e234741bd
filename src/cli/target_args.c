/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/target_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/identity.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args.h"

int target_pids(const struct arg_list *words, pid_t **pids, size_t *n, struct err *err)
{
	struct {
		VEC(pid_t)
	} all = { 0 };
	uint64_t value;

	vec_for_each (words, const char *, word) {
		char *copy = xstrdup(*word), *rest = copy, *item;
		int ret = 0;

		while (!ret && (item = strsep(&rest, ","))) {
			ret = text_parse_u64(item, &value) || !value || value > 1u << 30 ? -EINVAL
											 : 0;
			if (ret)
				args_refuse(err, "'%s' is not a process id; give numbers: -p 12,34",
					    item);
			else
				*vec_add(&all) = value;
		}
		free(copy);
		if (ret) {
			vec_release(&all);
			return ret;
		}
	}
	*pids = all.data;
	*n = all.n;
	return 0;
}

void target_words(struct text *out, char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		text_add(out, i ? " " : "");
		text_shell_word(out, words[i]);
	}
}

int target_user(struct identity *user, const char *word, bool no_command, struct err *err)
{
	if (no_command)
		return args_refuse(err, "--user is for a command, and there is none; leave it out");
	if (geteuid())
		return err_set(err, -EPERM,
			       "only root may run a command as another user; run with sudo");
	return identity_find(user, word, err);
}
