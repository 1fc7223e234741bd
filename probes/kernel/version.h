/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kernel runs here: many decisions about probes depend on its version. */
#ifndef ISPOT_PROBES_KERNEL_VERSION_H
#define ISPOT_PROBES_KERNEL_VERSION_H

/* Returns the version of the running kernel, as KERNEL_VERSION() of linux/version.h. */
unsigned kernel_version_running(void);

#endif
