/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/version.h"

#include <linux/version.h>
#include <stdio.h>
#include <sys/utsname.h>

unsigned kernel_version_running(void)
{
	unsigned major = 0, minor = 0, patch = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u.%u", &major, &minor, &patch);
	return KERNEL_VERSION(major, minor, patch > 255 ? 255 : patch);
}
