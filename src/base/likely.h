/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Branches of hot loops that nearly always go one way: the compiler moves the code of the rare way
 * out of the loop.
 */
#ifndef ISPOT_BASE_LIKELY_H
#define ISPOT_BASE_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
