/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/wrapper.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const struct wrapper wrappers[] = {
	{ "env", "uC", " --unset --chdir ", 0, TAKES_ASSIGNMENTS | SPLITS, "S" },
	{ "nice", "n", " --adjustment ", 0, NUMBER_OPTION, "" },
	{ "ionice", "cn", " --class --classdata ", 0, 0, "pPu" },
	{ "nohup", "", "", 0, 0, "" },
	{ "setsid", "", "", 0, FORKS, "" },
	{ "stdbuf", "ioe", " --input --output --error ", 0, 0, "" },
	{ "timeout", "ks", " --kill-after --signal ", 1, FORKS, "" },
	{ "taskset", "", "", 1, 0, "p" },
	{ "chrt", "TPD", " --sched-runtime --sched-period --sched-deadline ", 1, 0, "pm" },
	{ "numactl", "NmCpiPwMl",
	  " --cpunodebind --membind --physcpubind --interleave --preferred --weighted-interleave ",
	  0, 0, "sH" },
	{ "setarch", "", "", 0, ARCH_OPERAND, "" },
	{ "linux64", "", "", 0, 0, "" },
	{ "linux32", "", "", 0, 0, "" },
	{ "x86_64", "", "", 0, 0, "" },
	{ "prlimit", "", "", 0, 0, "p" },
	{ "setpriv", "", " --reuid --regid --groups --inh-caps --bounding-set --securebits ", 0, 0,
	  "d" },
	{ "unshare", "RwSGl",
	  " --root --wd --setuid --setgid --map-user --map-group --map-users --map-groups --propagation --load-interp --monotonic --boottime ",
	  0, FORKS, "" },
	{ "flock", "wE", " --timeout --wait --conflict-exit-code ", 1, FORKS, "cu" },
	{ "time", "fo", " --format --output ", 0, FORKS, "" },
	{ "sudo", "ugChpDRrtTU",
	  " --user --group --close-from --host --prompt --chdir --chroot --role --type --command-timeout --other-user ",
	  0, TAKES_ASSIGNMENTS | DROPS_LOADER | FORKS, "lveKkis" },
	{ "doas", "uC", "", 0, DROPS_LOADER | FORKS, "Ls" },
	{ "chronic", "", "", 0, FORKS, "" },
	{ "eatmydata", "", "", 0, 0, "" },
	{ "ld-linux*.so.*", "",
	  " --library-path --preload --argv0 --audit --inhibit-rpath --glibc-hwcaps-mask --glibc-hwcaps-prepend ",
	  0, 0, "" },
	{ "ld-musl-*.so.*", "", " --library-path --preload --argv0 ", 0, 0, "" },
	{ "sh", "oO", "", 0, SHELL | FORKS, "s" },
	{ "bash", "oO", " --rcfile --init-file ", 0, SHELL | FORKS, "s" },
	{ "dash", "o", "", 0, SHELL | FORKS, "s" },
	{ "ksh", "o", "", 0, SHELL | FORKS, "s" },
	{ "zsh", "o", "", 0, SHELL | FORKS, "s" },
};

const struct wrapper *wrapper_find(const char *word)
{
	const char *base = text_base_name(word);

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		if (fnmatch(wrappers[i].name, base, 0) == 0)
			return &wrappers[i];
	}
	return NULL;
}

bool word_is_assignment(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals && equals > word && (isalpha((unsigned char)*word) || *word == '_');
}

static bool is_architecture(const char *word)
{
	static const char *const known[] = { "x86_64",	"i386",	   "i586",    "i686",
					     "linux32", "linux64", "uname26", "aarch64",
					     "arm64",	"armv7l",  "arm" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(word, known[i]))
			return true;
	}
	return false;
}

static bool in_list(const char *names, const char *word)
{
	char *key = xasprintf(" %s ", word);
	bool found = strstr(names, key) != NULL;

	free(key);
	return found;
}

/*
 * Returns how many words the option argv[0] takes, or 0 if no command runs with this option, or
 * none that can be found.
 */
static int option_words(const struct wrapper *w, char *const *argv)
{
	const char *option = argv[0];

	if (option[1] == '-')
		return !strchr(option, '=') && in_list(w->names, option) && argv[1] ? 2 : 1;
	if ((w->flags & NUMBER_OPTION) && isdigit((unsigned char)option[1]))
		return 1;
	for (const char *letter = option + 1; *letter; letter++) {
		if (strchr(w->other, *letter))
			return 0;
		if (strchr(w->letters, *letter))
			return letter[1] || !argv[1] ? 1 : 2;
	}
	return 1;
}

int wrapper_skip(const struct wrapper *w, char *const *argv)
{
	int at = 1;

	while (argv[at] && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0) {
		int words = option_words(w, argv + at);

		if (!words)
			return 0;
		at += words;
	}
	if (argv[at] && (w->flags & ARCH_OPERAND) && is_architecture(argv[at])) {
		at++;
		while (argv[at] && argv[at][0] == '-' && strcmp(argv[at], "--") != 0)
			at++;
	}
	at += argv[at] && !strcmp(argv[at], "--");
	/* a lone "-" is -i for env */
	at += argv[at] && (w->flags & TAKES_ASSIGNMENTS) && !strcmp(argv[at], "-");
	while (argv[at] && (w->flags & TAKES_ASSIGNMENTS) && word_is_assignment(argv[at]))
		at++;
	for (unsigned i = 0; argv[at] && i < w->operands; i++)
		at++;
	at += w->operands && argv[at] && !strcmp(argv[at], "--");
	return argv[at] ? at : 0;
}

const char *wrapper_string(const struct wrapper *w, char *const *argv)
{
	bool command = false;
	int at = 1;

	while (argv[at] && (argv[at][0] == '-' || argv[at][0] == '+') && argv[at][1]) {
		int words = option_words(w, argv + at);

		if (!words)
			return NULL;
		if (argv[at][0] == '-' && argv[at][1] != '-' && strchr(argv[at], 'c'))
			command = true;
		if (!strcmp(argv[at], "--")) {
			at++;
			break;
		}
		at += words;
	}
	return command ? argv[at] : NULL;
}

/*
 * Returns the rest of the word after the option that splits, "" if the string is the next word, or
 * NULL for another option.
 */
static const char *split_option(const struct wrapper *w, const char *option, size_t *letters)
{
	static const char name[] = "--split-string";
	const size_t n = sizeof(name) - 1;

	*letters = 0;
	if (option[1] == '-') {
		if (strncmp(option, name, n) || (option[n] && option[n] != '='))
			return NULL;
		return option + n + (option[n] == '=');
	}
	for (size_t i = 1; option[i] && !strchr(w->letters, option[i]); i++)
		if (option[i] == 'S') {
			*letters = i > 1 ? i : 0;
			return option + i + 1;
		}
	return NULL;
}

bool wrapper_split(const struct wrapper *w, char *const *argv, struct wrapper_split *split)
{
	int at = 1, words;

	if (!(w->flags & SPLITS))
		return false;
	for (; argv[at] && argv[at][0] == '-' && argv[at][1]; at += words) {
		const char *string = split_option(w, argv[at], &split->letters);

		if (string) {
			split->at = at;
			split->string = *string ? string : argv[at + 1];
			split->rest = at + (*string ? 1 : 2);
			return split->string != NULL;
		}
		words = option_words(w, argv + at);
		if (!words || !strcmp(argv[at], "--"))
			return false;
	}
	return false;
}
