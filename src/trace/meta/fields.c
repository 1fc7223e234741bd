// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/meta/fields.h"

#define F(kind, type, member)                                               \
	{                                                                   \
#member, FIELD_##type, offsetof(struct meta_##kind, member) \
	}

const struct field meta_session_fields[] = {
	F(session, U32, version),
	F(session, STRING, ispot_version),
	F(session, STRING, command),
	F(session, STRING, program),
	F(session, U64, pid),
	F(session, COUNT, start_ns),
	F(session, U64, start_unix_ns),
	F(session, STRING, clock),
	F(session, F64, cycles_per_ns),
	F(session, U32, cpus),
	F(session, STRING, hostname),
	F(session, STRING, kernel),
	F(session, STRING, machine),
	F(session, STRING, pmu),
	F(session, STRING, producer),
	F(session, COUNT, period),
	F(session, U64, recorder_pid),
	F(session, BOOL, attached),
	F(session, STRING, options),
	F(session, BOOL, uprobe_sessions),
	{ 0 },
};

const struct field meta_object_fields[] = {
	F(object, U32, id),
	F(object, STRING, path),
	F(object, STRING, build_id),
	{ 0 },
};

const struct field meta_function_fields[] = {
	F(function, U32, id),		F(function, U32, object),
	F(function, U32, set),		F(function, STRING, name),
	F(function, STRING, symbol),	F(function, COUNT, address),
	F(function, COUNT, size_bytes), F(function, COUNT, probe_offset),
	F(function, CLASS, class),	F(function, EXIT, exit),
	F(function, STRING, file),	F(function, U32, line),
	F(function, STRING, block),	F(function, BOOL, blocking),
	F(function, BOOL, chosen),	F(function, COUNT, period),
	F(function, U64, parameters),	F(function, BOOL, holds_lock),
	F(function, BOOL, only_jumps),	F(function, BOOL, contended_only),
	F(function, BOOL, in_process),	{ 0 },
};

/* The elements of a function's "args", an array: not a row of its own. */
const struct field meta_argument_fields[] = {
	F(argument, U32, bit),	       F(argument, STRING, name),
	F(argument, STRING, type),     F(argument, ARGUMENT_CLASS, class),
	F(argument, BOOL, is_signed),  F(argument, BOOL, key),
	F(argument, BOOL, occasional), { 0 },
};

/* And of its "prototype". */
const struct field meta_parameter_fields[] = {
	F(parameter, U32, number),
	F(parameter, STRING, name),
	F(parameter, STRING, why),
	{ 0 },
};

const struct field meta_not_traced_fields[] = {
	F(not_traced, STRING, name),	       F(not_traced, STRING, object),
	F(not_traced, STRING, reason),	       F(not_traced, COUNT, address),
	F(not_traced, COUNT, traced_until_ns), F(not_traced, F64, cpu_share),
	F(not_traced, F64, calls_per_s),       F(not_traced, F64, cost_share),
	F(not_traced, COUNT, traced_again_ns), { 0 },
};

const struct field meta_calibration_fields[] = {
	F(calibration, CLASS, class),	    F(calibration, EXIT, exit),
	F(calibration, BOOL, only_jumps),   F(calibration, U32, threads),
	F(calibration, STRING, when),	    F(calibration, U64, inner_min_ns),
	F(calibration, U64, inner_p50_ns),  F(calibration, U64, inner_p99_ns),
	F(calibration, F64, inner_mean_ns), F(calibration, F64, full_p50_ns),
	F(calibration, COUNT, calls),	    { 0 },
};

const struct field meta_thread_fields[] = {
	F(thread, U32, tid),
	F(thread, U32, tgid),
	F(thread, STRING, comm),
	F(thread, COUNT, seen_ns),
	{ 0 },
};

const struct field meta_process_fields[] = {
	F(process, U32, pid),
	F(process, STRING, comm),
	F(process, BOOL, kernel),
	{ 0 },
};

const struct field meta_clocks_fields[] = {
	F(clocks, COUNT, at_ns),
	F(clocks, COUNT, cycles),
	F(clocks, COUNT, width_ns),
	F(clocks, STRING, unstable),
	{ 0 },
};

const struct field meta_solo_fields[] = {
	F(solo, COUNT, begin_ns),
	F(solo, COUNT, end_ns),
	F(solo, U32, cpu),
	F(solo, COUNT, waited_ns),
	{ 0 },
};

const struct field meta_notice_fields[] = {
	F(notice, STRING, code),
	F(notice, STRING, text),
	{ 0 },
};

const struct field meta_counter_fields[] = {
	F(counter, U32, id),
	F(counter, STRING, name),
	F(counter, STRING, event),
	F(counter, STRING, role),
	F(counter, STRING, unit),
	F(counter, STRING, source),
	F(counter, BOOL, user_only),
	F(counter, COUNT, period),
	F(counter, BOOL, on_change),
	F(counter, BOOL, by_default),
	F(counter, F64, empty_mean),
	F(counter, STRING, why),
	{ 0 },
};

const struct field meta_stack_fields[] = {
	F(stack, U32, id), /* and "frames", an array: the one member without a row */
	{ 0 },
};

const struct field meta_site_fields[] = {
	F(site, U32, id),
	F(site, U32, function),
	F(site, U32, stack),
	{ 0 },
};

const struct field meta_frame_fields[] = {
	F(frame, U32, id),	 F(frame, STRING, symbol),  F(frame, STRING, object),
	F(frame, STRING, file),	 F(frame, U32, line),	    F(frame, COUNT, offset),
	F(frame, BOOL, inlined), F(frame, STRING, calls),   F(frame, BOOL, spins),
	F(frame, U32, loop),	 F(frame, U32, inner_loop), { 0 },
};

const struct field meta_address_fields[] = {
	F(address, U64, address),
	F(address, STRING, symbol),
	F(address, STRING, object),
	F(address, COUNT, offset),
	{ 0 },
};

const struct field meta_end_fields[] = {
	F(end, U64, end_ns),
	F(end, U64, made_records),
	F(end, U64, lost_records),
	F(end, U64, recorder_cpu_ns),
	F(end, U64, target_cpu_ns),
	F(end, U64, counting_cost_ns),
	F(end, U64, scheduling_cost_ns),
	F(end, U64, sampling_cost_ns),
	F(end, U64, sample_ns),
	F(end, U64, after_cost_ns),
	F(end, U64, probes_cost_ns),
	F(end, U64, cpus_busy_ns),
	F(end, U64, cpus_steal_ns),
	F(end, U64, probed_ns),
	F(end, F64, usable_cpus),
	F(end, I64, exit_status),
	F(end, STRING, reason),
	{ 0 },
};

const char *const meta_class_names[CLASS_N] = { "nop5",	  "emulated", "single-step",
						"marker", "usdt",     "unknown" };
const char *const meta_exit_names[EXIT_NONE + 1] = { "return", "ret-sites", "none" };

const char *const meta_argument_names[ARGUMENT_N] = { "value", "address", "size", "fd" };
