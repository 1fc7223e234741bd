/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptors above stderr that ispot was started with: a command that it runs gets them too.
 */
#ifndef ISPOT_BASE_GIVEN_H
#define ISPOT_BASE_GIVEN_H

#include <stdbool.h>

void given_note(void);	/* once, before anything is opened */
bool given_has(int fd); /* without given_note(): whether an exec leaves it open */

#endif
