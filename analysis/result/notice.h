/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notices of a result: what its numbers do not show by themselves. For the files that make a struct
 * result.
 */
#ifndef ISPOT_ANALYSIS_RESULT_NOTICE_H
#define ISPOT_ANALYSIS_RESULT_NOTICE_H

#include <stdint.h>

struct result;

void result_notice(struct result *res, const char *sentence);
/* Adds "3 calls …" with the wording that fits the number; adds nothing for 0. */
void result_count_notice(struct result *res, uint64_t count, const char *one, const char *many);
/* Adds every notice that the recording and its blocks give reason for. */
void result_find_notices(struct result *res);

#endif
