// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "picture/panel.h"
#include "trace/cache_sim_report.h"
#include "trace/cache_sim_svg.h"

#define HEIGHT	260	/* px */
#define DOT	6

/* Lines differ in colour, and in their dashes for whoever prints them in grey. */
static const struct {
	const char *color, *dashes;
} lines[CACHE_POLICIES] = {
	[CACHE_LRU] = { SVG_BLUE, NULL }, [CACHE_FIFO] = { SVG_ORANGE, "7 4" },
	[CACHE_ARC] = { SVG_GREEN, "2 4" }, [CACHE_MIN] = { SVG_VIOLET, "9 4 2 4" },
};

static double missed(const struct cache_sim *s, const struct cache_size *size, unsigned int policy, enum cache_of of)
{
	return 100 - 100 * cache_sim_ratio(s, size->hits[policy], of);
}

static void put_dot(struct panel *p, const struct cache_size *size, unsigned int policy, struct svg_point at, double percent)
{
	char bytes[SCALED], *title, *data;
	struct svg_mark mark = {
		.x = at.x - DOT / 2.0, .y = at.y - DOT / 2.0, .width = DOT, .height = DOT, .color = lines[policy].color,
		.opacity = 1,
	};

	title = xasprintf("%s, %s: %.2f %% missed", cache_sim_policies[policy], scaled_size(bytes, size->bytes), percent);
	data = xasprintf("data-policy=\"%s\" data-size-bytes=\"%llu\" data-miss-percent=\"%.6f\"", cache_sim_policies[policy],
			 (unsigned long long)size->bytes, percent);
	mark.title = title;
	mark.data = data;
	svg_mark(p->svg, &mark);
	free(title);
	free(data);
}

/* Sizes for which the sample is too small have no point. */
static void put_policy(const struct cache_sim *s, struct panel *p, unsigned int policy, enum cache_of of)
{
	struct svg_point *points = xreallocarray(NULL, s->nr, sizeof(*points));
	size_t i, nr = 0;

	for (i = 0; i < s->nr; i++)
		if (s->sizes[i].pages)
			points[nr++] = (struct svg_point){
				axis_at(&p->x, s->sizes[i].bytes), axis_at(&p->y, missed(s, &s->sizes[i], policy, of)),
			};
	svg_polyline(p->svg, points, nr, lines[policy].color, lines[policy].dashes);
	for (i = nr = 0; i < s->nr; i++)
		if (s->sizes[i].pages)
			put_dot(p, &s->sizes[i], policy, points[nr++], missed(s, &s->sizes[i], policy, of));
	free(points);
}

static void put_panel(const struct cache_sim *s, struct svg *svg, enum cache_of of)
{
	struct panel p = {
		.title = of == CACHE_READS ? "reads" : "reads and writes", .height = HEIGHT, .grid = true,
		.x = { .unit = AXIS_BYTES, .log = true, .title = "size of the cache", .from = s->sizes[0].bytes,
		       .to = s->sizes[s->nr - 1].bytes },
		.y = { .unit = AXIS_PERCENT, .to = 100, .title = "missed accesses" },
	};
	unsigned int i;

	for (i = 0; i < CACHE_POLICIES; i++)
		if (s->policies[i])
			p.entries[p.nr_entries++] = (struct panel_entry){
				.text = cache_sim_policies[i], .color = lines[i].color, .is_line = true,
				.dashes = lines[i].dashes,
			};
	panel_begin(&p, svg);
	for (i = 0; i < CACHE_POLICIES; i++)
		if (s->policies[i])
			put_policy(s, &p, i, of);
	panel_end(&p);
}

void cache_sim_svg(const struct cache_sim *s, const char *category, const struct basis *basis, struct svg *svg)
{
	char size[SCALED], *line = basis_line(basis), *title = xasprintf("%s: misses of a cache, by its size", category);
	char *subtitle = xasprintf("working set: %s", scaled_size(size, cache_sim_bytes(s, s->accesses.nr_pages)));

	if (s->accesses.threshold != PAGE_ACCESSES_ALL) {
		char *sample = xasprintf("estimated from %.4g %% of the pages", 100 * page_accesses_rate(&s->accesses));

		subtitle = text_append(subtitle, ", ", sample);
		free(sample);
	}
	if (line)
		subtitle = text_append(subtitle, "; ", line);
	panel_heading(svg, title, subtitle);
	if (s->nr)
		put_panel(s, svg, CACHE_ALL);
	if (s->nr && cache_sim_has_both(s))
		put_panel(s, svg, CACHE_READS);
	free(title);
	free(subtitle);
	free(line);
}
