/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptors above stderr that ispot was started with: a command that it runs gets them too.
 */
#ifndef ISPOT_BASE_GIVEN_H
#define ISPOT_BASE_GIVEN_H

#include <stdbool.h>

void given_note(void);	/* notes the descriptors; call it once, before anything is opened */
bool given_has(int fd); /* before given_note(): whether exec keeps fd open */

#endif
