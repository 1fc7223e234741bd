/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing array of any type:
 *
 *	struct names { VEC(char *) } names = { 0 };
 *	*vec_add(&names) = xstrdup("a");
 *	vec_for_each(&names, char *, name) puts(*name);
 *	vec_release(&names);
 *
 * Elements may move when one is added: keep indices, not pointers.
 */
#ifndef ISPOT_BASE_VEC_H
#define ISPOT_BASE_VEC_H

#include <stdlib.h>
#include <string.h>

#define VEC(type)   \
	type *data; \
	size_t n;   \
	size_t room;

/* Appends a zeroed element and yields a pointer to it. */
#define vec_add(v)                                                                      \
	(vec_reserve_((void **)&(v)->data, &(v)->room, (v)->n + 1, sizeof(*(v)->data)), \
	 memset(&(v)->data[(v)->n], 0, sizeof(*(v)->data)), &(v)->data[(v)->n++])
#define vec_reserve(v, want) \
	vec_reserve_((void **)&(v)->data, &(v)->room, (want), sizeof(*(v)->data))
#define vec_last(v)		  (&(v)->data[(v)->n - 1])
#define vec_for_each(v, type, it) for (type *it = (v)->data; it && it < (v)->data + (v)->n; it++)
#define vec_sort(v, cmp)	  ((v)->n ? qsort((v)->data, (v)->n, sizeof(*(v)->data), (cmp)) : (void)0)
#define vec_release(v)		  (free((v)->data), (v)->data = NULL, (v)->n = (v)->room = 0)

/*
 * Finds an element of an ordered array by binary search: the first index from `from` on for which
 * is_before does not hold, or `end`. is_before is an expression of the index i; it holds up to some
 * element and for none behind:
 *
 *	size_t first = vec_search(i, 0, starts.n, starts.data[i] < address);
 */
#define vec_search(i, from, end, is_before)                             \
	__extension__({                                                 \
		__typeof__((end) + 0) low_ = (from), high_ = (end);     \
                                                                        \
		while (low_ < high_) {                                  \
			__typeof__(low_) i = low_ + (high_ - low_) / 2; \
                                                                        \
			if (is_before)                                  \
				low_ = i + 1;                           \
			else                                            \
				high_ = i;                              \
		}                                                       \
		low_;                                                   \
	})

/* Orders for vec_sort() and qsort(): the smallest value first. */
int vec_by_u64(const void *a, const void *b);
int vec_by_double(const void *a, const void *b);

void vec_reserve_(void **data, size_t *room, size_t want, size_t size);

#endif
