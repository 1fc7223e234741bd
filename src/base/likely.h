/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which way a branch goes nearly always, for hot loops: the other way is moved out of its way. */
#ifndef ISPOT_BASE_LIKELY_H
#define ISPOT_BASE_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
