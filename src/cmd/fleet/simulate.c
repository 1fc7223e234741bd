/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fleet/simulate/simulate.h"
#include "analysis/fleet/simulate/world.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/common/write_out.h"
#include "cmd/fleet/internal.h"
#include "trace/fleet/block.h"
#include "trace/fleet/file.h"

#define CPUS_SIMULATED 256

static void print_planted(const struct world *w, struct text *out)
{
	text_add(out, "base,corunner,class,loss,second\n");
	vec_for_each (&w->pairs, const struct world_pair, p)
		text_printf(out, "%s,%s,core,%.4f,\n", w->apps.data[p->base].name,
			    w->apps.data[p->corunner].name, p->loss);
	vec_for_each (&w->trios, const struct world_trio, t)
		text_printf(out, "%s,%s,trio,%.4f,%s\n", w->apps.data[t->base].name,
			    w->apps.data[t->one].name, t->loss, w->apps.data[t->other].name);
}

/* Writes which pairs a report of the samples should find. */
static int write_planted(const struct world *w, const char *dir, struct err *err)
{
	char *path = xasprintf("%s/planted.csv", dir);
	struct text table = { 0 };
	int rc;

	print_planted(w, &table);
	rc = write_out(&table, path, err);
	text_release(&table);
	free(path);
	return rc;
}

/* Returns whether --indicator is ipc,llc-misses. */
static bool has_misses(const struct fleet_args *a)
{
	return a->indicators.n && strcmp(a->indicators.data[0], "ipc") != 0;
}

static bool are_known(const struct fleet_args *a)
{
	return !a->indicators.n ||
	       (a->indicators.n == 1 &&
		(!has_misses(a) || !strcmp(a->indicators.data[0], "ipc,llc-misses")));
}

static int write_machine(const struct fleet_args *a, const struct world *w, uint32_t n,
			 struct fleet_block *b, uint64_t *samples, struct err *err)
{
	struct machine *m = machine_new(w, a->seed, n, (uint32_t)a->cpus);
	char *path = xasprintf("%s/%s.fleet", a->output, machine_header(m)->machine);
	uint64_t wanted = a->samples * (n + 1) / a->machines;
	struct fleet_writer file;
	int rc, closed;

	if (has_misses(a))
		machine_measure_misses(m);
	rc = fleet_writer_open(&file, path, machine_header(m), err);
	while (!rc && *samples < wanted) {
		machine_block(m, b);
		*samples += fleet_block_count(b, 0);
		rc = fleet_writer_block(&file, b, err);
	}
	closed = fleet_writer_close(&file, err);
	free(path);
	machine_free(m);
	return rc ? rc : closed;
}

static int write_all(const struct fleet_args *a, const struct world *w, struct err *err)
{
	struct fleet_block block = { 0 };
	uint64_t samples = 0;
	struct progress p;
	int rc = 0;

	progress_init(&p, "simulating");
	for (uint32_t n = 0; !rc && n < a->machines; n++) {
		rc = write_machine(a, w, n, &block, &samples, err);
		progress_share(&p, (double)n / (double)a->machines);
	}
	progress_end(&p);
	fleet_block_release(&block);
	if (!rc)
		printf("%" PRIu64 " samples of %" PRIu64
		       " machines in %s, %zu pairs and %zu trios in planted.csv\n",
		       samples, a->machines, a->output, w->pairs.n, w->trios.n);
	return rc;
}

int fleet_simulate(const struct fleet_args *a, char **words, struct err *err)
{
	struct world w;
	int rc;

	if (*words || !a->output)
		return args_refuse(
			err,
			"simulate: nowhere to write, or a word too many; give options only, and -o DIRECTORY");
	if (!are_known(a))
		return args_refuse(err, "--indicator: simulate knows ipc, or ipc,llc-misses; give "
					"one of these");
	if (a->cpus % 4 || a->cpus > CPUS_SIMULATED)
		return args_refuse(err,
				   "--cpus: two sockets of cores with two hardware threads; give a "
				   "multiple of 4, up to 256");
	if (a->applications < 2 || a->applications >= 1u << 20 || a->machines >= 1u << 20)
		return args_refuse(
			err,
			"simulate: too few or too many; give 2 to a million applications, and machines");
	if (a->interferers > UINT32_MAX || a->trio_interferers > UINT32_MAX)
		return args_refuse(err,
				   "--interferers are pairs of applications, or trios; give fewer");
	rc = output_directory(a->output, "-o", err);
	if (rc < 0)
		return rc;
	close(rc);
	world_init(&w, &(struct world_options){ a->seed, (uint32_t)a->applications,
						(uint32_t)a->interferers,
						(uint32_t)a->trio_interferers });
	if (w.pairs.n < a->interferers || w.trios.n < a->trio_interferers)
		log_notice("only %zu pairs and %zu trios are planted: one for each of the most "
			   "common applications is the most",
			   w.pairs.n, w.trios.n);
	rc = write_planted(&w, a->output, err);
	if (!rc)
		rc = write_all(a, &w, err);
	world_release(&w);
	return rc;
}
