/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/flame.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/score/callstack.h"
#include "base/text.h"
#include "report/block/stacks.h"
#include "report/block/view.h"
#include "report/html/figure.h"
#include "report/html/html.h"
#include "report/html/page.h"
#include "trace/meta/meta.h"

#define WIDTH	  1000
#define ROW	  18
#define DEPTH_MAX 24
#define FRAME_MIN 2.0 /* narrower frames are left out */

struct node {
	uint32_t frame; /* frame id; UINT32_MAX: the block itself */
	double ns, excess_ns;
	uint32_t child, next; /* indices of nodes: first child, next sibling; 0: none */
	unsigned depth;
};

struct flame {
	const struct meta *meta;
	VEC(struct node)
};

static const char *symbol_of(const struct meta *meta, uint32_t frame)
{
	const struct meta_frame *f = meta_frame(meta, frame);

	if (!f || !f->symbol)
		return "?";
	return *f->symbol ? f->symbol : f->object ? f->object : "?";
}

static uint32_t child_of(struct flame *fl, uint32_t parent, uint32_t frame)
{
	const char *name = symbol_of(fl->meta, frame);
	uint32_t i = fl->data[parent].child;
	struct node *n;

	for (; i; i = fl->data[i].next)
		if (!strcmp(symbol_of(fl->meta, fl->data[i].frame), name))
			return i;
	n = vec_add(fl);
	i = (uint32_t)(n - fl->data);
	n->frame = frame;
	n->depth = fl->data[parent].depth + 1;
	n->next = fl->data[parent].child;
	fl->data[parent].child = i;
	return i;
}

static void add(struct node *n, double ns, double excess_ns)
{
	n->ns += ns;
	n->excess_ns += excess_ns;
}

static void add_stack(struct flame *fl, const struct callstack *c, uint64_t min_ns)
{
	const struct meta_stack *m = &fl->meta->stacks.data[c->stack];
	double excess = c->ns - c->timed * (double)min_ns;
	uint32_t at = 0;

	if (excess < 0)
		excess = 0;
	add(&fl->data[0], c->ns, excess);
	/* a recorded stack begins with the block's own frames; without one, only the call site is
	 * known */
	for (uint32_t i = c->taken ? meta_stack_own(fl->meta, m) : 0;
	     i < m->n_frames && fl->data[at].depth < DEPTH_MAX; i++) {
		at = child_of(fl, at, m->frames[i]);
		add(&fl->data[at], c->ns, excess);
	}
}

static unsigned deepest(const struct flame *fl)
{
	unsigned depth = 0;

	for (size_t i = 0; i < fl->n; i++)
		if (fl->data[i].depth > depth)
			depth = fl->data[i].depth;
	return depth;
}

static void print_frame(const struct node *n, const char *name, double x, double width,
			struct text *out)
{
	double share = n->ns > 0 ? n->excess_ns / n->ns : 0;
	size_t room = (size_t)(width / 7);

	text_printf(
		out,
		"<g><title>%s: excess %.1f ms of %.1f ms</title><rect class=\"frame\" x=\"%.1f\" "
		"y=\"%u\" width=\"%.1f\" height=\"%u\" style=\"fill-opacity:%.2f\"/>",
		name, n->excess_ns / 1e6, n->ns / 1e6, x, n->depth * ROW, width - 0.5, ROW - 1,
		0.12 + 0.4 * share);
	if (strlen(name) <= room)
		text_printf(out, "<text class=\"on\" x=\"%.1f\" y=\"%u\">%s</text>", x + 3,
			    n->depth * ROW + 13, name);
	text_add(out, "</g>\n");
}

static void print_node(const struct flame *fl, uint32_t i, const char *block, double x,
		       struct text *out)
{
	const struct node *n = &fl->data[i];
	double width = n->excess_ns / fl->data[0].excess_ns * WIDTH;
	struct text name = { 0 };

	if (width < FRAME_MIN)
		return;
	html_text(&name, n->frame == UINT32_MAX ? block : symbol_of(fl->meta, n->frame));
	print_frame(n, name.s ? name.s : "", x, width, out);
	text_release(&name);
	for (uint32_t c = n->child; c; c = fl->data[c].next) {
		print_node(fl, c, block, x, out);
		x += fl->data[c].excess_ns / fl->data[0].excess_ns * WIDTH;
	}
}

void html_flame(const struct view *v, const struct block *b, struct text *out)
{
	struct flame fl = { .meta = v->result->meta };
	struct callstack_list list = { 0 };

	if (b->min_ns == BLOCK_NONE)
		return;
	callstacks_of(report_callstacks(v->result, b), b, &list);
	vec_add(&fl)->frame = UINT32_MAX;
	vec_for_each (&list, const struct callstack, c)
		add_stack(&fl, c, b->min_ns);
	if (list.n && fl.data[0].excess_ns > 0) {
		struct html_plot plot = { .width = WIDTH, .height = (int)(deepest(&fl) + 1) * ROW };

		html_figure(out, &plot, "Callers, by excess", "");
		text_add(out, "\n");
		print_node(&fl, 0, b->name, 0, out);
		html_caption(out, "Its callers, outermost at the bottom. Width: the excess of the "
				  "calls that came that way; colour: its share of their time.");
		html_figure_end(out);
	}
	vec_release(&list);
	vec_release(&fl);
}
