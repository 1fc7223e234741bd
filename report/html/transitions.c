/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/transitions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/result/result.h"
#include "analysis/sequence/transition.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/transitions.h"
#include "report/block/view.h"
#include "report/html/figure.h"
#include "report/html/html.h"
#include "report/html/layers.h"
#include "report/html/page.h"

#define STATES_MAX   24
#define EDGES_MAX    48
#define IN_LAYER     5
#define ROWS_MAX     100
#define WIDTH	     1000
#define BOX_WIDTH    168
#define BOX_HEIGHT   36
#define MARGIN	     80 /* space to the right of the boxes, for loops */
#define LABEL_WIDTH  72
#define LABEL_HEIGHT 26
#define LAYER	     150 /* distance of two layers */
#define TOP	     10
#define ASIDE	     52 /* how far a line between boxes of a layer bends away from it */
#define NAME_MOST    24 /* columns of a name in a box */
#define THICK_LEAST  0.7
#define THICK_MORE   2.6

/* The drawn part of the graph: its most frequent transitions, and the states between them. */
struct picture {
	const struct transitions *t;
	size_t n_states, n_edges, n_roots;
	uint32_t states[STATES_MAX];
	const struct transition *drawn[EDGES_MAX];
	struct layer_edge edges[EDGES_MAX]; /* edges of drawn, with indices in states */
	struct layer_node nodes[STATES_MAX];
	uint32_t roots[STATES_MAX];
	struct layers layers;
};

static uint32_t number_of(struct picture *p, uint32_t state)
{
	for (uint32_t i = 0; i < p->n_states; i++)
		if (p->states[i] == state)
			return i;
	if (p->n_states == STATES_MAX)
		return UINT32_MAX;
	p->states[p->n_states] = state;
	return (uint32_t)p->n_states++;
}

static void add_edge(struct picture *p, const struct transition *one)
{
	uint32_t from, to;

	if (p->n_edges == EDGES_MAX)
		return;
	from = number_of(p, one->from);
	to = number_of(p, one->to);
	if (from == UINT32_MAX || to == UINT32_MAX)
		return;
	p->drawn[p->n_edges] = one;
	p->edges[p->n_edges++] = (struct layer_edge){ from, to };
}

/* The first states of threads are the roots of the layers. */
static void add_root(struct picture *p, const struct transition *one)
{
	for (uint32_t i = 0; i < p->n_states && p->n_roots < STATES_MAX; i++)
		if (p->states[i] == one->to)
			p->roots[p->n_roots++] = i;
}

static void choose(struct picture *p)
{
	vec_for_each (&p->t->all, const struct transition, one)
		if (one->kind != TRANSITION_BEGIN && one->kind != TRANSITION_END)
			add_edge(p, one);
	vec_for_each (&p->t->all, const struct transition, one)
		if (one->kind == TRANSITION_BEGIN)
			add_root(p, one);
	p->layers = (struct layers){
		.edges = p->edges, .n_edges = p->n_edges, .nodes = p->nodes, .n_nodes = p->n_states
	};
	layers_place(&p->layers, p->roots, p->n_roots, IN_LAYER);
}

/* ---- drawing ---- */

static double x_of(const struct picture *p, uint32_t node)
{
	const struct layer_node *at = &p->nodes[node];
	double part = ((double)at->place + 0.5) / (double)layers_count(&p->layers, at->layer);

	/* every other layer is shifted, so that lines in a column do not overlap */
	return WIDTH * part + (at->layer % 2 ? 24 : -24);
}

static double y_of(const struct picture *p, uint32_t node)
{
	return TOP + LAYER * (double)p->nodes[node].layer;
}

static const char *const classes[] = {
	[TRANSITION_CALL] = "step call",
	[TRANSITION_NEXT] = "step",
	[TRANSITION_RETURN] = "step return",
};

static void title_of(const struct picture *p, const struct transition *one, struct text *out)
{
	char number[TEXT_COUNTED];

	report_transition_title(p->t, one, HTML_NAME_MAX, out);
	text_printf(out, ": %s", text_counted(number, one->times.count, "time"));
	if (one->times.timed)
		text_add(out, ", ");
	report_transition_range(&one->times, out);
}

struct curve {
	double x1, y1, x2, y2, x3, y3, x4, y4;
};

/*
 * Returns the curve of an edge: from box to box if it leads to a lower layer; bent if it stays in a
 * layer; a loop to the right if it leads to its own box. Curves upwards leave and arrive shifted,
 * so that they do not hide those downwards.
 */
static struct curve curve_of(const struct picture *p, const struct layer_edge *e)
{
	double x1 = x_of(p, e->from), y1 = y_of(p, e->from), x4 = x_of(p, e->to),
	       y4 = y_of(p, e->to);
	double half = BOX_WIDTH / 2.0, bend;

	if (p->nodes[e->to].layer > p->nodes[e->from].layer) {
		y1 += BOX_HEIGHT;
		bend = (y4 - y1) / 2;
		return (struct curve){ x1 - 14, y1,	   x1 - 14, y1 + bend,
				       x4 - 14, y4 - bend, x4 - 14, y4 };
	}
	if (e->from == e->to)
		return (struct curve){ x1 + half,      y1 + 8,
				       x1 + half + 34, y1 - 6,
				       x1 + half + 34, y1 + BOX_HEIGHT + 6,
				       x1 + half,      y1 + BOX_HEIGHT - 8 };
	if (p->nodes[e->to].layer == p->nodes[e->from].layer) {
		double side = x4 > x1 ? half : -half, off = x4 > x1 ? ASIDE : -ASIDE;

		y1 += BOX_HEIGHT / 2.0;
		y4 += BOX_HEIGHT / 2.0;
		return (struct curve){
			x1 + side,	 y1 + off / 8, x1 + side * 1.3, y1 + off,
			x4 - side * 1.3, y4 + off,     x4 - side,	y4 + off / 8
		};
	}
	y4 += BOX_HEIGHT;
	bend = (y1 - y4) / 2;
	return (struct curve){ x1 + 18, y1, x1 + 18, y1 - bend, x4 + 18, y4 + bend, x4 + 18, y4 };
}

static double along(double a, double b, double c, double d, double t)
{
	double u = 1 - t;

	return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
}

static void draw_edge(const struct picture *p, size_t i, struct text *out)
{
	const struct transition *one = p->drawn[i];
	struct curve c = curve_of(p, &p->edges[i]);
	double most = log1p((double)p->drawn[0]->times.count);
	double thick = THICK_LEAST + THICK_MORE * log1p((double)one->times.count) / most;
	struct text title = { 0 };

	text_printf(out,
		    "<path class=\"%s\" style=\"stroke-width:%.1f\" marker-end=\"url(#tip)\" "
		    "d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"><title>",
		    classes[one->kind], thick, c.x1, c.y1, c.x2, c.y2, c.x3, c.y3, c.x4, c.y4);
	title_of(p, one, &title);
	html_text(out, title.s);
	text_add(out, "</title></path>");
	text_release(&title);
}

/* ---- labels of edges, placed without overlap ---- */

struct spot {
	double x, y, width;
};

struct spots {
	size_t n;
	struct spot data[STATES_MAX + EDGES_MAX];
};

static bool is_free(const struct spots *taken, const struct spot *at)
{
	for (size_t i = 0; i < taken->n; i++) {
		const struct spot *s = &taken->data[i];

		if (at->x < s->x + s->width && s->x < at->x + at->width &&
		    fabs(at->y - s->y) < LABEL_HEIGHT)
			return false;
	}
	return at->x >= 0 && at->x + at->width < WIDTH + MARGIN;
}

static void reserve_boxes(const struct picture *p, struct spots *taken)
{
	for (uint32_t i = 0; i < p->n_states; i++)
		taken->data[taken->n++] = (struct spot){ x_of(p, i) - BOX_WIDTH / 2.0,
							 y_of(p, i) + BOX_HEIGHT / 2.0, BOX_WIDTH };
}

static void write_label(const struct transition *one, const struct spot *at, const char *range,
			struct text *out)
{
	char number[TEXT_NUMBER];

	html_label(out, at->x, at->y - 1, "start", text_count(number, one->times.count));
	html_label(out, at->x, at->y + 10, "start", range);
}

/* Writes two lines beside the curve at the first free place, or none if there is no room. */
static void label_edge(const struct picture *p, size_t i, struct spots *taken, struct text *out)
{
	static const double tries[] = { 0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.14, 0.86 };
	struct curve c = curve_of(p, &p->edges[i]);
	struct text range = { 0 };

	report_transition_range(&p->drawn[i]->times, &range);
	for (size_t k = 0; k < sizeof(tries) / sizeof(tries[0]); k++) {
		double t = tries[k];
		struct spot at = { along(c.x1, c.x2, c.x3, c.x4, t) + 4,
				   along(c.y1, c.y2, c.y3, c.y4, t), LABEL_WIDTH };

		if (!is_free(taken, &at))
			continue;
		taken->data[taken->n++] = at;
		write_label(p->drawn[i], &at, range.s ? range.s : "", out);
		break;
	}
	text_release(&range);
}

static void draw_state(const struct picture *p, uint32_t i, struct text *out)
{
	const struct transition_state *s = &p->t->states.data[p->states[i]];
	char name[4 * NAME_MOST + 1], number[TEXT_NUMBER];
	struct text line = { 0 };
	double x = x_of(p, i), y = y_of(p, i);

	html_rect(out, "state", x - BOX_WIDTH / 2.0, y, BOX_WIDTH, BOX_HEIGHT, s->name);
	text_add(out, "<g class=\"state\">");
	html_label(out, x, y + 15, "middle",
		   text_shortened(name, sizeof(name), s->name, NAME_MOST));
	if (s->times.count)
		text_printf(&line, "%s%s", text_count(number, s->times.count),
			    s->times.timed ? " · " : "");
	report_transition_range(&s->times, &line);
	html_label(out, x, y + 29, "middle", line.s ? line.s : "");
	text_add(out, "</g>");
	text_release(&line);
}

static void draw(const struct picture *p, struct text *out)
{
	const struct html_plot plot = { .width = WIDTH + MARGIN,
					.height = (int)(2 * TOP + LAYER * (p->layers.n - 1) +
							BOX_HEIGHT) };
	struct spots taken = { 0 };

	html_figure(out, &plot, "Transition graph: what threads do after what", "");
	text_add(out, "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
		      "markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" "
		      "orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>");
	for (size_t i = 0; i < p->n_edges; i++)
		draw_edge(p, i, out);
	for (uint32_t i = 0; i < p->n_states; i++)
		draw_state(p, i, out);
	text_add(out, "<g class=\"steps\">");
	reserve_boxes(p, &taken);
	for (size_t i = 0; i < p->n_edges; i++)
		label_edge(p, i, &taken, out);
	text_add(out, "</g>");
	html_caption(
		out,
		"Boxes: how often, and the fastest and slowest time from entry to exit. "
		"Lines: steps, their number and the fastest and slowest time between. Solid: what "
		"follows; dashed: a call inside; dotted: a return.");
	html_figure_end(out);
}

/* ---- the table ---- */

static void time_cell(struct text *out, const char *key, bool known, uint64_t ns)
{
	if (!known) {
		text_add(out, "<td>–</td>");
		return;
	}
	text_printf(out, "<td data-key=\"%s\" data-value=\"%llu\">", key, (unsigned long long)ns);
	html_time(out, ns);
	text_add(out, "</td>");
}

static void row(const struct transitions *t, const struct transition *one, struct text *out)
{
	const struct transition_times *times = &one->times;
	struct text title = { 0 };
	char number[TEXT_NUMBER];

	text_printf(out, "<tr><td data-key=\"count\" data-value=\"%llu\">%s</td>",
		    (unsigned long long)times->count, text_count(number, times->count));
	text_printf(out, "<td data-key=\"share\" data-value=\"%.9g\">%s</td>", one->share,
		    text_share(number, one->share));
	time_cell(out, "min_ns", times->timed, times->min_ns);
	time_cell(out, "mean_ns", times->timed, report_transition_mean(times));
	time_cell(out, "max_ns", times->timed, times->max_ns);
	report_transition_title(t, one, HTML_NAME_MAX, &title);
	text_add(out, "<th scope=\"row\" class=\"name\">");
	html_text(out, title.s);
	text_add(out, "</th></tr>\n");
	text_release(&title);
}

static void table(const struct transitions *t, struct text *out)
{
	static const char *const names[] = { "steps",	"share",      "fastest", "mean",
					     "slowest", "transition", NULL };

	html_table(out, "transitions", "");
	html_heads(out, names, 5);
	for (size_t i = 0; i < t->all.n && i < ROWS_MAX; i++)
		row(t, &t->all.data[i], out);
	html_table_end(out);
	html_more(out, t->all.n, t->all.n < ROWS_MAX ? t->all.n : ROWS_MAX,
		  "transitions are left out here; <code>ispot report --by transition "
		  "--csv</code> has all.");
}

void html_transitions(const struct view *v, struct text *out)
{
	const struct transitions *t = v->result->transitions;
	struct picture *p;

	if (!t || !t->all.n)
		return;
	html_section(out, "transitions", "What threads do after what");
	p = xcalloc(1, sizeof(*p));
	p->t = t;
	choose(p);
	if (p->n_edges)
		draw(p, out);
	if (p->n_edges < t->all.n)
		text_printf(out,
			    "<p class=\"quiet\">The picture has %zu of %zu "
			    "transitions.</p>\n",
			    p->n_edges, t->all.n);
	free(p);
	table(t, out);
	html_section_end(out);
}
