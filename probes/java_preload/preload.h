/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the recorder and the library that programs load first agree on. */
#ifndef ISPOT_PROBES_JAVA_PRELOAD_PRELOAD_H
#define ISPOT_PROBES_JAVA_PRELOAD_PRELOAD_H

#define JAVA_PLACE   "ISPOT_JAVA" /* the variable that names the directory of probes/inproc.h */
#define JAVA_AGENT   "libispot-java.so"	   /* in it */
#define JAVA_PRELOAD "libispot-preload.so" /* likewise */

#endif
