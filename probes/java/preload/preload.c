// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The library that programs of a recorded command load first (LD_PRELOAD): it has the Java machines
 * among them load the agent. A machine that is told of an agent and cannot load it does not start:
 * in another root or container, with another C library, after the recording, when the agent is
 * gone. A program that cannot load this library runs all the same. So nothing in the environment
 * tells machines of the agent; when a machine asks for its further options, this library answers
 * with the agent, in that process and at that moment, if the agent can be loaded there.
 *
 * It needs no library, so that any loader can load it; functions that it calls are there or not.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "probes/java/preload/preload.h"

#define VISIBLE	   __attribute__((visibility("default")))
#define IF_THERE   __attribute__((weak))
#define OPTIONS	   "JAVA_TOOL_OPTIONS"
#define OPTION	   "-agentpath:"
#define ROOM	   8192
#define MODULES	   "JVM_AddModuleExports" /* what machines have since Java 9 */
#define LOAD_LAZY  1 /* glibc's RTLD_LAZY, as the machine itself loads agents */
#define TO_ERRORS  2
#define MAY_WRITE  2
#define PATH_BYTES 512

extern IF_THERE char **environ;
extern IF_THERE const char *gnu_get_libc_version(void);
extern IF_THERE void *dlopen(const char *path, int how);
extern IF_THERE void *dlsym(void *library, const char *name);
extern IF_THERE char *dlerror(void);
extern IF_THERE int access(const char *path, int mode);
extern IF_THERE ssize_t write(int fd, const void *data, size_t n);

VISIBLE char *getenv(const char *name);

struct words {
	char *at, *end;
};

static bool add(struct words *w, const char *s)
{
	while (*s && w->at < w->end)
		*w->at++ = *s++;
	*w->at = '\0';
	return !*s;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static char *lookup(const char *name)
{
	for (char **v = &environ ? environ : NULL; v && *v; v++) {
		const char *n = name;
		char *s = *v;

		while (*n && *s == *n)
			s++, n++;
		if (!*n && *s == '=')
			return s + 1;
	}
	return NULL;
}

static void complain(const char *why)
{
	static char said[ROOM];
	struct words w = { said, said + sizeof(said) - 1 };

	add(&w, "ispot: this Java program is not recorded: ");
	add(&w, why ? why : "its agent cannot be loaded");
	add(&w, "\n");
	if (write && write(TO_ERRORS, said, (size_t)(w.at - said)) < 0)
		return;
}

/* It stays loaded: the machine is going to do the same. */
static bool can_load(const char *agent)
{
	if (!gnu_get_libc_version || !dlopen) {
		complain("its C library is not glibc");
		return false;
	}
	if (dlopen(agent, LOAD_LAZY))
		return true;
	complain(dlerror ? dlerror() : NULL);
	return false;
}

/* A machine that does not know the option, or cannot open its log, does not start. */
static bool can_log(const char *directory)
{
	return dlsym && dlsym(NULL, MODULES) && access && !access(directory, MAY_WRITE);
}

/* The program's own options, the agent, and the log of safepoints. */
static char *with_agent(char *own, const char *directory)
{
	static char options[ROOM];
	char agent[PATH_BYTES];
	struct words path = { agent, agent + sizeof(agent) - 1 },
		     w = { options, options + sizeof(options) - 1 };

	if (!add(&path, directory) || !add(&path, "/../" JAVA_AGENT) || !can_load(agent))
		return own;
	if (add(&w, own ? own : "") && add(&w, own && *own ? " " : "") && add(&w, OPTION) &&
	    add(&w, agent) && add(&w, "=") && add(&w, directory) &&
	    (!can_log(directory) ||
	     (add(&w, " " JAVA_PAUSES_LOG) && add(&w, directory) && add(&w, JAVA_PAUSES_FILE))))
		return options;
	complain("its " OPTIONS " are too long");
	return own;
}

VISIBLE char *getenv(const char *name)
{
	const char *directory = same(name, OPTIONS) ? lookup(JAVA_PLACE) : NULL;
	char *own = lookup(name);

	return directory ? with_agent(own, directory) : own;
}
