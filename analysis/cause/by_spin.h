/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting for a lock without sleeping. Two facts: samples inside slow calls are in a short loop
 * around a pause instruction, and, during slow calls more than during fast ones, another thread is
 * at work (coactivity.h): it has what is waited for. Without the second the wait is told, but not
 * who is waited for, and the confidence is less.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_SPIN_H
#define ISPOT_ANALYSIS_CAUSE_BY_SPIN_H

struct block;
struct meta;
struct text;

/* Rules for POOL_RUNNING (cause.h), in this order. */
double cause_spin_held(const struct block *b, const struct meta *meta, double rest_ns,
		       struct text *evidence);
double cause_spin(const struct block *b, const struct meta *meta, double rest_ns,
		  struct text *evidence);

#endif
