/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One table of fields per kind of meta line; reading and printing both walk it, so that they
 * cannot disagree. Between the files of trace/meta/meta.h.
 */
#ifndef ISPOT_TRACE_META_FIELDS_H
#define ISPOT_TRACE_META_FIELDS_H

#include <stddef.h>

#include "trace/meta/meta.h"

enum field_type {
	FIELD_STRING,
	FIELD_U32,
	FIELD_U64,
	FIELD_COUNT, /* u64 that is 0 where nothing is said, not unknown */
	FIELD_I64,   /* -1 where nothing is said */
	FIELD_F64,
	FIELD_BOOL,
	FIELD_CLASS,
	FIELD_EXIT,
	FIELD_ARGUMENT_CLASS,
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
};

/* Each ends with a row without a name. */
extern const struct field meta_session_fields[];
extern const struct field meta_object_fields[];
extern const struct field meta_function_fields[];
extern const struct field meta_argument_fields[];
extern const struct field meta_parameter_fields[];
extern const struct field meta_not_traced_fields[];
extern const struct field meta_calibration_fields[];
extern const struct field meta_thread_fields[];
extern const struct field meta_process_fields[];
extern const struct field meta_clocks_fields[];
extern const struct field meta_solo_fields[];
extern const struct field meta_notice_fields[];
extern const struct field meta_counter_fields[];
extern const struct field meta_stack_fields[];
extern const struct field meta_frame_fields[];
extern const struct field meta_site_fields[];
extern const struct field meta_address_fields[];
extern const struct field meta_end_fields[];

extern const char *const meta_class_names[CLASS_N];
extern const char *const meta_exit_names[EXIT_NONE + 1];
extern const char *const meta_argument_names[ARGUMENT_N];

#endif
