// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/record.h"

#include <stddef.h>

static const struct record_shape shapes[] = {
	[REC_SWITCH_OUT] = { .name = "switch-out",
			     .values = { "state", "next-tid", "next-tgid", "count" } },
	[REC_SWITCH_IN] = { .name = "switch-in", .values = { "after", "count" } },
	[REC_FORK] = { .name = "fork", .values = { "child", "tgid", "word" } },
	[REC_TASK_EXIT] = { .name = "task-exit" },
	[REC_COMM] = { .name = "comm", .has_bytes = true },
	[REC_EXEC] = { .name = "exec", .has_bytes = true },
	[REC_LOST] = { .name = "lost", .values = { "", "since", "thread" } },
	[REC_SET_ON] = { .name = "set-on", .values = { "", "tgid" } },
	[REC_SET_OFF] = { .name = "set-off", .values = { "", "tgid" } },
	[REC_SAMPLE] = { .name = "sample", .values = { "weight", "ip", "stack" } },
	[REC_WAKING] = { .name = "waking", .values = { "tid", "how", "count" } },
	[REC_FAULTS] = { .name = "faults", .values = { "minor", "major" } },
	[REC_BLOCK_STACK] = { .name = "block-stack", .values = { "" }, .zigzag = true },
	[REC_STACK] = { .name = "stack", .values = { "" } },
	[REC_ARGS] = { .name = "args", .values = { "mask" }, .masked = true },
	[REC_COUNTERS] = { .name = "counters", .values = { "mask" }, .masked = true },
	[REC_CALL_COUNT] = { .name = "call-count", .values = { "id", "calls", "outer" } },
	[REC_WAIT] = { .name = "wait", .values = { "kind", "syscall", "what", "how", "value" } },
	[REC_INNER] = { .name = "inner" },
	[REC_BRIEF] = { .name = "brief", .values = { "id", "calls", "outer", "ns", "min" } },
	[REC_PAUSE] = { .name = "pause", .values = { "", "why" } },
	[REC_CONTENDED] = { .name = "contended", .values = { "" } },
	[REC_EXIT_STACK] = { .name = "exit-stack", .values = { "" } },
	[REC_HELD] = { .name = "held", .values = { "lock", "ns" } },
	[REC_SWITCHES_OFF] = { .name = "switches-off" },
	[REC_SWITCHES_ON] = { .name = "switches-on", .values = { "", "wakeups" } },
	[REC_INSIDE] = { .name = "inside", .values = { "", "ns", "cost", "beside" } },
};

const struct record_shape *record_shape(uint32_t kind)
{
	if (kind >= sizeof(shapes) / sizeof(shapes[0]) || !shapes[kind].name)
		return NULL;
	return &shapes[kind];
}

uint32_t record_shape_values(const struct record_shape *shape)
{
	uint32_t n = 0;

	while (n < RECORD_NAMES_MAX && shape->values[n])
		n++;
	return n;
}
