/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/pfm.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ready(void)
{
	return pfm_initialize() == PFM_SUCCESS; /* later calls return at once */
}

static bool get_pmu(pfm_pmu_t id, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info(id, info) == PFM_SUCCESS;
}

static bool get_core(pfm_pmu_info_t *info)
{
	if (!ready())
		return false;
	for (int id = 0; id < PFM_PMU_MAX; id++)
		if (get_pmu((pfm_pmu_t)id, info) && info->is_present &&
		    info->type == PFM_PMU_TYPE_CORE)
			return true;
	return false;
}

const char *pfm_core(void)
{
	pfm_pmu_info_t info;

	return get_core(&info) ? info.name : NULL;
}

/* Returns the length without the modifiers, which are lower case; unit masks are upper case. */
static size_t upper_part(const char *name)
{
	const char *p = strstr(name, "::");

	for (p = p ? p + 2 : name; *p; p++)
		if (*p == ':' && p[1] >= 'a' && p[1] <= 'z')
			break;
	return (size_t)(p - name);
}

int pfm_encode(const char *name, struct pfm_code *code, const char **why)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char *full = NULL;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &full, .size = sizeof(arg) };
	int ret = ready() ? pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg)
			  : PFM_ERR_NOINIT;

	if (ret != PFM_SUCCESS) {
		*why = pfm_strerror(ret);
		return -ENOENT;
	}
	*code = (struct pfm_code){
		.type = attr.type,
		.config = attr.config,
		.config1 = attr.config1,
		.config2 = attr.config2,
		.user = !attr.exclude_user,
		.kernel = !attr.exclude_kernel,
	};
	/* cuts off the modifiers, which libpfm4 adds even if none was given: ":e=0:i=0:u=1" */
	snprintf(code->name, sizeof(code->name), "%.*s", (int)upper_part(full ? full : name),
		 full ? full : name);
	free(full);
	return 0;
}

static bool get_event(int index, pfm_event_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_event_info(index, PFM_OS_PERF_EVENT, info) == PFM_SUCCESS;
}

/*
 * Returns the index of the event in a PMU's table, or -1 if the table lacks it. The name ends at
 * the first colon.
 */
static int find_in(const pfm_pmu_info_t *pmu, const char *name)
{
	size_t n = strcspn(name, ":");
	pfm_event_info_t info;

	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i))
		if (get_event(i, &info) && !strncasecmp(info.name, name, n) && !info.name[n])
			return i;
	return -1;
}

const char *pfm_other_core(const char *name)
{
	pfm_pmu_info_t info;

	if (!ready())
		return NULL;
	for (int id = 0; id < PFM_PMU_MAX; id++)
		if (get_pmu((pfm_pmu_t)id, &info) && !info.is_present &&
		    info.type == PFM_PMU_TYPE_CORE && find_in(&info, name) >= 0)
			return info.name;
	return NULL;
}

void pfm_names(void (*visit)(void *ctx, const char *name), void *ctx)
{
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;

	if (!get_core(&pmu))
		return;
	for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i))
		if (get_event(i, &event))
			visit(ctx, event.name);
}

bool pfm_masks(const char *name, char *masks, unsigned n)
{
	pfm_event_attr_info_t attr;
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;
	int index = get_core(&pmu) ? find_in(&pmu, name) : -1;
	size_t used = 0;

	*masks = '\0';
	if (index < 0 || !get_event(index, &event))
		return false;
	for (int i = 0; i < event.nattrs; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		used += (size_t)snprintf(masks + used, used < n ? n - used : 0, "%s%s",
					 used ? ", " : "", attr.name);
		if (used >= n)
			break;
	}
	return used;
}
