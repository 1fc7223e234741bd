/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files that make a struct result: what its numbers do not say themselves. */
#ifndef ISPOT_ANALYSIS_RESULT_NOTICE_H
#define ISPOT_ANALYSIS_RESULT_NOTICE_H

#include <stdint.h>

struct result;

void result_notice(struct result *res, const char *sentence);
/* "3 calls …", by the number; nothing for 0. */
void result_count_notice(struct result *res, uint64_t count, const char *one, const char *many);
/* All that the recording and its blocks give reason for. */
void result_find_notices(struct result *res);

#endif
