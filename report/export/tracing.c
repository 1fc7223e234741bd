/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/tracing.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/calls/calls.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define NAME_ROOM      1024 /* longer C++ names are cut, because a sample has 64 KiB at most */
#define ARGUMENTS_ROOM 512

/* The fixed fields of a sample's raw data; the strings follow. */
struct raw {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint64_t entry_ns, duration_ns;
	int64_t own_ns; /* -1: not known */
	uint32_t function, arguments;
};

static const char format[] =
	"name: call\n"
	"ID: 1\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
	"\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:u64 entry_ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration_ns;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 own_ns;\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] function;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] arguments;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s duration_ns=%llu own_ns=%lld%s\", "
	"__get_str(function), REC->duration_ns, REC->own_ns, "
	"__get_str(arguments)\n";

/* The format of the pages of the kernel's ring buffers. No perf.data has such pages, but perf
 * expects this description. */
static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static void write_number(struct text *out, uint64_t v, size_t bytes)
{
	text_addn(out, (const char *)&v, bytes);
}

static void write_word(struct text *out, const char *s)
{
	text_addn(out, s, strlen(s) + 1);
}

static void write_file(struct text *out, const char *s)
{
	write_number(out, strlen(s), 8);
	text_add(out, s);
}

void tracing_describe(struct text *out)
{
	text_addn(out, "\027\010\104tracing", 10);
	write_word(out, "0.6");
	write_number(out, 0, 1);    /* little-endian */
	write_number(out, 8, 1);    /* bytes of a long */
	write_number(out, 4096, 4); /* size of a page */
	write_word(out, "header_page");
	write_file(out, page);
	write_word(out, "header_event");
	write_file(out, "");
	write_number(out, 0, 4); /* number of ftrace events */
	write_number(out, 1, 4); /* number of event systems */
	write_word(out, "ispot");
	write_number(out, 1, 4); /* number of its events */
	write_file(out, format);
	write_number(out, 0, 4); /* size of the kernel's symbols */
	write_number(out, 0, 4); /* size of printk formats */
	write_number(out, 0, 8); /* size of the threads' names */
}

/* Appends the recorded arguments, " fd=3 count=100". */
static void write_arguments(struct text *out, const struct call *c, const struct meta_function *f)
{
	char name[64];

	for (uint32_t i = 0; f && i < f->n_arguments; i++) {
		const struct meta_argument *a = &f->arguments[i];
		uint64_t value = c->args[a->bit];

		if (!(c->arg_mask >> a->bit & 1))
			continue;
		text_printf(out, " %s=", text_printable(name, sizeof(name), a->name));
		if (a->class == ARGUMENT_ADDRESS)
			text_printf(out, "0x%" PRIx64, value);
		else if (a->is_signed || a->class == ARGUMENT_FD)
			text_printf(out, "%" PRId64, (int64_t)value);
		else
			text_printf(out, "%" PRIu64, value);
	}
}

/* Returns the kernel's encoding of a string's position in the raw data. bytes includes the NUL. */
static uint32_t location(size_t at, size_t bytes)
{
	return (uint32_t)(bytes << 16 | at);
}

void tracing_call(struct text *out, const struct thread *t, const struct call *c, const char *name,
		  const struct meta_function *f)
{
	static const char nothing[8];
	char function[NAME_ROOM];
	struct text arguments = { 0 };
	size_t function_bytes, arguments_bytes, bytes;
	struct raw raw = {
		.type = TRACING_EVENT_ID,
		.pid = (int32_t)t->tid,
		.entry_ns = c->entry_ns,
		.duration_ns = c->exit_ns - c->entry_ns,
		.own_ns = c->own_unknown ? -1 : (int64_t)c->own_ns,
	};

	text_printable(function, sizeof(function), name);
	function_bytes = strlen(function) + 1;
	write_arguments(&arguments, c, f);
	text_addn(&arguments, "", 1);
	arguments_bytes = arguments.n < ARGUMENTS_ROOM ? arguments.n : ARGUMENTS_ROOM;
	arguments.s[arguments_bytes - 1] = '\0';
	raw.function = location(sizeof(raw), function_bytes);
	raw.arguments = location(sizeof(raw) + function_bytes, arguments_bytes);
	bytes = sizeof(raw) + function_bytes + arguments_bytes;
	bytes += (16 - (4 + bytes) % 8) % 8;
	write_number(out, bytes, 4);
	text_addn(out, (const char *)&raw, sizeof(raw));
	text_addn(out, function, function_bytes);
	text_addn(out, arguments.s, arguments_bytes);
	text_addn(out, nothing, bytes - sizeof(raw) - function_bytes - arguments_bytes);
	text_release(&arguments);
}
