/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agreement between the recorder and the library that programs load first. */
#ifndef ISPOT_PROBES_JAVA_PRELOAD_PRELOAD_H
#define ISPOT_PROBES_JAVA_PRELOAD_PRELOAD_H

#define JAVA_PLACE   "ISPOT_JAVA" /* the variable that names the user's directory of inproc.h */
#define JAVA_AGENT   "libispot-java.so"	   /* beside that directory: the recorder's own */
#define JAVA_PRELOAD "libispot-preload.so" /* likewise */

/* The option by which a machine of Java 9 or later writes its log of safepoints into the directory,
 * of which the name stands between these. A machine that cannot open its log does not start. */
#define JAVA_PAUSES	  "safepoint-"
#define JAVA_PAUSES_BYTES "1M" /* then it is another file: the machine may run for days */
#define JAVA_PAUSES_LOG	  "-Xlog:safepoint=info:file="
#define JAVA_PAUSES_FILE  "/" JAVA_PAUSES "%p.log:timenanos:filecount=1,filesize=" JAVA_PAUSES_BYTES

#endif
