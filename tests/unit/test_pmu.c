// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What events are to perf_event_open(2), without the hardware: names against published codes
 * (Intel SDM volume 3, AMD PPR, Arm ARM), sysfs against a made-up directory.
 */
#include "unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "pmu/group.h"
#include "pmu/list.h"
#include "pmu/percpu.h"
#include "pmu/perf_event.h"
#include "pmu/pfm.h"
#include "pmu/sysfs.h"
#include "trace/meta/meta.h"

static struct err err;

static struct pmu_event parsed(const char *word)
{
	struct pmu_event e;

	if (pmu_event_parse(&e, word, &err))
		fail_msg("%s: %s", word, err.text);
	return e;
}

/* What a recording's meta says of an event, before a recorder says how often it reads it. */
static void described(void **state)
{
	const struct pmu_event user = parsed("LLC-load-misses"), both = parsed("page-faults:uk");
	struct meta_counter m = pmu_counter(&user, 3, "");

	assert_int_equal(m.id, 3);
	assert_string_equal(m.name, "LLC-load-misses");
	assert_string_equal(m.source, "hardware");
	assert_true(m.user_only);
	assert_true(isnan(m.empty_mean));
	assert_true(!m.period && !m.on_change && !m.by_default);
	m = pmu_counter(&both, 4, "refused");
	assert_string_equal(m.source, "task");
	assert_string_equal(m.why, "refused");
	assert_false(m.user_only);
}

static void generic_names(void **state)
{
	struct pmu_event e = parsed("cycles");

	assert_int_equal(e.type, PERF_TYPE_HARDWARE);
	assert_int_equal(e.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_true(e.user && !e.kernel); /* the probes' own work stays out */
	assert_string_equal(e.role, "cycles");
	e = parsed("LLC-load-misses:uk");
	assert_int_equal(e.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e.config, 0x10002);
	assert_true(e.user && e.kernel);
	assert_string_equal(e.name, "LLC-load-misses");
	e = parsed("instructions:k");
	assert_true(!e.user && e.kernel);
	e = parsed("cpu-clock");
	assert_int_equal(e.source, PMU_SOFTWARE);
	assert_true(e.user && e.kernel);
	e = parsed("page-faults");
	assert_int_equal(e.source, PMU_TASK);
	assert_int_equal(e.config, PMU_TASK_PAGE_FAULTS);
	e = parsed("r01c2:u");
	assert_int_equal(e.type, PERF_TYPE_RAW);
	assert_int_equal(e.config, 0x1c2);
}

static void refuses(const char *word, int code, const char *words)
{
	struct pmu_event e;

	assert_int_equal(pmu_event_parse(&e, word, &err), code);
	if (!strstr(err.text, words))
		fail_msg("%s: '%s' lacks '%s'", word, err.text, words);
}

static void unknown_names(void **state)
{
	refuses("cylces", -EINVAL, "did you mean cycles?");
	refuses("context-swiches", -EINVAL, "context-switches");
	refuses("", -EINVAL, "is no event");
	refuses("nopmu/event=1/", -EINVAL, "no PMU 'nopmu'");
	refuses("msr/", -EINVAL, "is not PMU/EVENT/");
}

/* ---- libpfm4 ---- */

struct code {
	const char *name;
	uint64_t config, config1;
};

static void encodes(const struct code *rows)
{
	for (; rows->name; rows++) {
		struct pfm_code code;
		const char *why;

		if (pfm_encode(rows->name, &code, &why))
			fail_msg("%s: %s", rows->name, why);
		assert_int_equal(code.type, PERF_TYPE_RAW);
		if (code.config != rows->config)
			fail_msg("%s: 0x%llx, not 0x%llx", rows->name,
				 (unsigned long long)code.config, (unsigned long long)rows->config);
		assert_int_equal(code.config1, rows->config1);
		assert_true(code.user && !code.kernel);
	}
}

/* libpfm4 has the tables of its own architecture only. Here: event | umask << 8 | cmask << 24; AMD:
 * event bits 8 to 11 in bits 32 to 35 */
#if defined(__x86_64__)
static void codes_of_processors(void **state)
{
	static const struct code rows[] = {
		{ "skx::INST_RETIRED:ANY_P", 0xc0, 0 },
		{ "skx::LONGEST_LAT_CACHE:MISS", 0x412e, 0 },
		{ "skx::MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM", 0x4d2, 0 },
		{ "skx::MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0 },
		{ "skx::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0 },
		{ "skx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0 },
		{ "icx::CPU_CLK_UNHALTED:DISTRIBUTED", 0x2ec, 0 },
		{ "spr::MEM_LOAD_L3_HIT_RETIRED:XSNP_FWD", 0x4d2, 0 },
		{ "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", 0xc0, 0 },
		{ "amd64_fam17h_zen2::CYCLES_NOT_IN_HALT", 0x76, 0 },
		{ "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", 0x4043,
		  0 },
		{ "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", 0x4043, 0 },
		{ "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", 0x4043, 0 },
		{ 0 },
	};

	encodes(rows);
}
#else
static void codes_of_processors(void **state)
{
	static const struct code rows[] = {
		{ "arm_n1::CPU_CYCLES", 0x11, 0 },
		{ "arm_n1::INST_RETIRED", 0x08, 0 },
		{ "arm_n1::LL_CACHE_MISS_RD", 0x37, 0 },
		{ "arm_n1::REMOTE_ACCESS", 0x31, 0 },
		{ "arm_v1::REMOTE_ACCESS", 0x31, 0 },
		{ "arm_n2::STALL_BACKEND_MEM", 0x4005, 0 },
		{ 0 },
	};

	encodes(rows);
}
#endif

/* Whether libpfm4 here has the tables of a processor. */
static bool has_tables(const char *processor)
{
#if defined(__aarch64__)
	return !strncmp(processor, "arm_", 4);
#else
	return strncmp(processor, "arm_", 4);
#endif
}

/* Every row of the groups, for every processor that it names, is in libpfm4's tables. */
static void every_group_row_is_known(void **state)
{
	struct pmu_groups groups;
	unsigned checked = 0;

	pmu_groups_load(&groups);
	assert_true(groups.n >= 6);
	vec_for_each (&groups, struct pmu_group, g) {
		assert_non_null(g->what);
		assert_non_null(g->serves);
		vec_for_each (&g->rows, struct pmu_group_row, row) {
			char *processors = strdup(row->processors), *rest = processors, *p;

			while ((p = strsep(&rest, ","))) {
				struct pfm_code code;
				const char *why;
				char name[200];

				if (!strcmp(p, "*") || !has_tables(p))
					continue;
				snprintf(name, sizeof(name), "%s::%s", p, row->event);
				if (pfm_encode(name, &code, &why))
					fail_msg("group %s: %s: %s", g->name, name, why);
				checked++;
			}
			if (!strcmp(row->processors, "*"))
				parsed(row->event);
			free(processors);
		}
	}
	assert_true(checked > 5);
	pmu_groups_release(&groups);
}

static void a_group_chooses_by_processor(void **state)
{
	struct pmu_group_choice choice;
	struct pmu_groups groups;

	pmu_groups_load(&groups);
	pmu_group_choose(pmu_groups_find(&groups, "memory"), "spr", &choice);
	assert_int_equal(choice.n, 4);
	assert_string_equal(choice.rows[2]->event, "MEM_LOAD_RETIRED:L3_MISS");
	pmu_group_choose(pmu_groups_find(&groups, "memory"), NULL, &choice);
	assert_string_equal(choice.rows[2]->event, "LLC-load-misses");
	pmu_group_choose(pmu_groups_find(&groups, "sharing"), "arm_n1", &choice);
	assert_int_equal(choice.n, 2);
	assert_null(pmu_groups_find(&groups, "nothing"));
	pmu_groups_release(&groups);
}

/* What the task counts itself takes no counter of the PMU's, however many events that has. */
static void auto_always_has_the_tasks_numbers(void **state)
{
	static const char *const processors[] = { "skx", "icx",	   "spr",    "amd64_fam17h_zen2",
						  "bdw", "arm_n1", "arm_v2", "amd64_fam19h_zen4" };
	struct pmu_group_choice choice;
	struct pmu_groups groups;
	const struct pmu_group *group;

	pmu_groups_load(&groups);
	group = pmu_groups_find(&groups, "auto");
	for (unsigned i = 0; i < sizeof(processors) / sizeof(*processors); i++) {
		unsigned found = 0;

		pmu_group_choose(group, processors[i], &choice);
		for (unsigned k = 0; k < choice.n; k++)
			found += !strcmp(choice.rows[k]->role, "minor-faults") ||
				 !strcmp(choice.rows[k]->role, "sectors-read");
		assert_int_equal(found, 2);
	}
	pmu_groups_release(&groups);
}

static void group_files_with_errors(void **state)
{
	static const char *const wrong[] = {
		"event cycles * cycles\n", "name a\nevent cycles *\n", "name a\nname\n",
		"name a\nevent a * b c\n", "name a\nwhy not\n",	       "name a\nwhat x\nwhat y\n",
	};
	struct pmu_groups groups = { 0 };

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(pmu_groups_parse(&groups, wrong[i], strlen(wrong[i]), "f", &err),
				 -EINVAL);
	assert_non_null(strstr(err.text, "f:3: "));
	pmu_groups_release(&groups);
}

static void lists(void **state)
{
	struct pmu_list list;

	assert_int_equal(pmu_list_parse(&list, "{cycles,instructions}:uk,page-faults", &err), 0);
	assert_int_equal(list.n, 3);
	assert_true(list.events[1].kernel && list.events[1].user);
	assert_int_equal(pmu_list_parse(&list, "cycles,cycles,cycles:k", &err), 0);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.events[1].name, "cycles:k");
	assert_int_equal(pmu_list_parse(&list, "software", &err), 0);
	assert_int_equal(list.n, 6);
	assert_int_equal(pmu_list_parse(&list, "none", &err), 0);
	assert_int_equal(list.n, 0);
	assert_int_equal(pmu_list_parse(&list, "{cycles", &err), -EINVAL);
	assert_int_equal(pmu_list_parse(&list, "{cycles}:x", &err), -EINVAL);
	assert_int_equal(pmu_list_parse(&list, "cycles,", &err), -EINVAL);
	assert_int_equal(pmu_list_parse(&list, "", &err), -EINVAL);
	assert_int_equal(pmu_list_parse(&list, "r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd", &err),
			 -E2BIG);
	assert_int_equal(pmu_list_parse(&list, "@/no/such/file", &err), -ENOENT);
}

/* ---- sysfs ---- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void fields_of_sysfs(void **state)
{
	char root[] = "/tmp/ispot-sysfs.XXXXXX", command[64];
	char path[128];
	struct pmu_event e;

	assert_non_null(mkdtemp(root));
	for (unsigned i = 0; i < 4; i++) {
		static const char *const dirs[] = { "cpu", "cpu/format", "cpu/events", "cpu/caps" };

		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put(root, "cpu/type", "4\n");
	put(root, "cpu/format/event", "config:0-7,32-35\n");
	put(root, "cpu/format/umask", "config:8-15\n");
	put(root, "cpu/format/ldlat", "config1:0-15\n");
	put(root, "cpu/format/inv", "config:23\n");
	put(root, "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	sysfs_set_root(root);
	assert_int_equal(sysfs_max_precise(), 0); /* as of Arm's */
	put(root, "cpu/caps/max_precise", "2\n");
	assert_int_equal(sysfs_max_precise(), 2);
	e = parsed("cpu/event=0x1c2,umask=2,inv/");
	assert_int_equal(e.type, 4);
	assert_int_equal(e.config, 0x1008002c2);
	assert_int_equal(e.source, PMU_HARDWARE);
	e = parsed("cpu/mem-loads/:k");
	assert_int_equal(e.config, 0x1cd);
	assert_int_equal(e.config1, 3);
	assert_true(e.kernel && !e.user);
	e = parsed("mem-loads");
	assert_int_equal(e.config, 0x1cd);
	assert_string_equal(e.event, "cpu/mem-loads/");
	refuses("cpu/umask=0x100/", -EINVAL, "does not fit");
	refuses("cpu/nothing/", -EINVAL, "names no event 'nothing'");
	refuses("cpu/event=x/", -EINVAL, "is no number");
	sysfs_set_root("/sys/bus/event_source/devices");
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void why_not(void **state)
{
	struct pmu_event cycles = parsed("cycles");
	char buf[120];

	assert_non_null(strstr(perf_event_why(&cycles, -EACCES, buf, sizeof(buf)), "paranoid"));
	sysfs_set_root("/nowhere");
	assert_non_null(
		strstr(perf_event_why(&cycles, -ENOENT, buf, sizeof(buf)), "no hardware PMU"));
	sysfs_set_root("/sys/bus/event_source/devices");
}

/* Between being listed and being opened; what another CPU refuses is an error all the same. */
static void a_cpu_that_has_gone_counts_nothing(void **state)
{
	struct pmu_list list;
	struct pmu_percpu events;
	struct cpus cpus;
	uint16_t gone;

	assert_int_equal(cpus_read(&cpus), 0);
	gone = (uint16_t)(cpus.n_possible + 1);
	assert_int_equal(pmu_list_parse(&list, "cpu-clock,page-faults,cycles", &err), 0);
	assert_int_equal(pmu_percpu_open(&events, &list, &gone, 1, &err), 0);
	for (unsigned i = 0; i < list.n; i++)
		assert_int_equal(pmu_percpu_fd(&events, 0, i), -1);
	pmu_percpu_release(&events);
	list.events[0].type = 0xfffff;
	assert_true(pmu_percpu_open(&events, &list, cpus.online, 1, &err) < 0);
	assert_non_null(strstr(err.text, "cpu-clock"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(described),
		cmocka_unit_test(generic_names),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(codes_of_processors),
		cmocka_unit_test(every_group_row_is_known),
		cmocka_unit_test(a_group_chooses_by_processor),
		cmocka_unit_test(auto_always_has_the_tasks_numbers),
		cmocka_unit_test(group_files_with_errors),
		cmocka_unit_test(lists),
		cmocka_unit_test(fields_of_sysfs),
		cmocka_unit_test(why_not),
		cmocka_unit_test(a_cpu_that_has_gone_counts_nothing),
	};

	/* read once, at libpfm4's first use */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return unit_run(tests);
}
