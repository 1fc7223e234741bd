/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of the running kernel, on which many decisions about probes depend. */
#ifndef ISPOT_PROBES_KERNEL_VERSION_H
#define ISPOT_PROBES_KERNEL_VERSION_H

/* Returns the version of the running kernel, as KERNEL_VERSION() of linux/version.h. */
unsigned kernel_version_running(void);

#endif
