/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects of a recording: the files whose functions may be traced. */
#ifndef ISPOT_PROBES_RECORDING_OBJECTS_H
#define ISPOT_PROBES_RECORDING_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "probes/place/exitmech.h"

struct dso;
struct dso_cache;
struct recording;

struct traced_object {
	struct dso *dso;
	char *path; /* opens the file from here, whatever mount namespace it was mapped in */
	bool executable;
};

struct objects {
	VEC(struct traced_object) /* the index is the object's id in the file */
	struct dso_cache *dsos;
	struct target_traits traits; /* of the program that consists of these files */
};

void objects_add(struct objects *objects, struct dso *dso, const char *path, bool executable);
/* Returns a path that opens the object's file from here. */
const char *objects_path(const struct objects *objects, const struct dso *dso);
/* Returns the object's id in the file, or UINT32_MAX. */
uint32_t objects_id(const struct objects *objects, const struct dso *dso);
/* Returns whether an object from this index on has markers. */
bool objects_have_markers(const struct objects *objects, size_t first_object);
/* Writes the objects from this index on into the file. */
void objects_write(struct recording *r, size_t first);
void objects_release(struct objects *objects);

#endif
