// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/xalloc.h"
#include "picture/panel.h"
#include "trace/access_map.h"
#include "trace/pattern.h"

#define NS_PER_S	1e9
#define LABEL		9	/* columns of a label */
#define HEIGHT		180	/* px */
#define LEFT		76	/* px of the first panel, and between both */
#define BETWEEN		30
#define LEVELS		5

static const char *const names[ACCESS_MAP_KINDS] = { "reads", "writes" };
static const char *const colors[ACCESS_MAP_KINDS] = { SVG_BLUE, SVG_ORANGE };

/* --- counts --------------------------------------------------------------------- */

void access_map_open(struct access_map *m, __u64 lowest, __u64 highest, __u64 earliest, __u64 latest)
{
	*m = (struct access_map){
		.size = 1, .begin = earliest, .interval = (latest - earliest) / ACCESS_MAP_COLUMNS + 1,
	};
	while (highest / m->size - lowest / m->size >= ACCESS_MAP_ROWS)
		m->size *= 2;
	m->first = lowest / m->size;
	m->rows = highest / m->size - m->first + 1;
}

void access_map_add(struct access_map *m, bool write, __u64 start, __u64 time, __u64 weight)
{
	__u64 row = start / m->size - m->first, column = (time - m->begin) / m->interval;

	if (row >= m->rows || column >= ACCESS_MAP_COLUMNS)
		return;
	m->sums[write] += weight;
	m->counts[write][row][column] += weight;
}

static bool has_both(const struct access_map *m)
{
	return m->sums[0] && m->sums[1];
}

/* Columns of text that are one, so that both kinds fit the page. */
static unsigned int joined(const struct access_map *m)
{
	return has_both(m) ? 2 : 1;
}

static __u64 cell_of(const struct access_map *m, unsigned int kind, unsigned int row, unsigned int column)
{
	unsigned int i;
	__u64 count = 0;

	for (i = 0; i < joined(m); i++)
		count += m->counts[kind][row][column * joined(m) + i];
	return count;
}

__u64 access_map_most(const struct access_map *m)
{
	unsigned int kind, row, column;
	__u64 most = 0, count;

	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++)
		for (row = 0; row < m->rows; row++)
			for (column = 0; column < ACCESS_MAP_COLUMNS / joined(m); column++) {
				count = cell_of(m, kind, row, column);
				most = count > most ? count : most;
			}
	return most;
}

static double since(const struct access_map *m, unsigned int column)
{
	return ((double)m->begin - (double)m->origin + (double)column * m->interval) / NS_PER_S;
}

/* --- text ----------------------------------------------------------------------- */

static void put_heading(const struct access_map *m)
{
	char size[SCALED], column[SCALED], sums[ACCESS_MAP_KINDS][SCALED];
	unsigned int kind;

	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++)
		scaled_number(sums[kind], m->sums[kind]);
	if (has_both(m))
		printf("%*s reads: %-*s writes: %s\n", LABEL, "", ACCESS_MAP_COLUMNS / 2 - 7, sums[0], sums[1]);
	else
		printf("%*s %s: %s\n", LABEL, "", names[!m->sums[0]], sums[!m->sums[0]]);
	printf("%*s a row is %s, a column %s\n", LABEL, "", scaled_size(size, m->size),
	       scaled_time(column, (double)m->interval * joined(m)));
}

static void put_row(const struct access_map *m, const struct shades *shades, unsigned int row)
{
	unsigned int kind, column, columns = ACCESS_MAP_COLUMNS / joined(m);
	int cells[ACCESS_MAP_COLUMNS];
	char label[SCALED];

	printf("%*s|", LABEL, scaled_size(label, (double)(m->first + row) * m->size));
	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++) {
		if (!m->sums[kind])
			continue;
		for (column = 0; column < columns; column++)
			cells[column] = shade_of(shades, cell_of(m, kind, row, column));
		shade_put(cells, columns);
		putchar('|');
	}
	putchar('\n');
}

static void put_axis(const struct access_map *m)
{
	unsigned int kind, columns = ACCESS_MAP_COLUMNS / joined(m);
	char from[32], to[32];

	snprintf(from, sizeof(from), "%+.4gs", since(m, 0));
	snprintf(to, sizeof(to), "%+.4gs", since(m, ACCESS_MAP_COLUMNS));
	printf("%*s", LABEL, "");
	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++)
		if (m->sums[kind])
			printf(" %s%*s", from, (int)(columns - strlen(from)), to);
	putchar('\n');
}

void access_map_text(const struct access_map *m, const struct shades *shades)
{
	unsigned int row;

	put_heading(m);
	for (row = m->rows; row--;)
		put_row(m, shades, row);
	put_axis(m);
}

/* --- SVG ------------------------------------------------------------------------ */

static void put_cell(const struct access_map *m, struct panel *p, const struct shades *shades, unsigned int kind,
		     unsigned int row, unsigned int column)
{
	__u64 count = m->counts[kind][row][column], from = (m->first + row) * m->size;
	struct svg_mark mark = { .color = colors[kind], .opacity = panel_opacity(shades, shade_of(shades, count)) };
	char size[SCALED], *title, *data;

	mark.x = axis_at(&p->x, since(m, column));
	mark.width = axis_at(&p->x, since(m, column + 1)) - mark.x;
	mark.y = axis_at(&p->y, (double)from + m->size);
	mark.height = axis_at(&p->y, from) - mark.y;
	title = xasprintf("%+.6gs, from %s on: %llu %s", since(m, column), scaled_size(size, from),
			  (unsigned long long)count, names[kind]);
	data = xasprintf("data-kind=\"%s\" data-since-s=\"%.9f\" data-from=\"%llu\" data-count=\"%llu\"", pattern_kinds[kind],
			 since(m, column), (unsigned long long)from, (unsigned long long)count);
	mark.title = title;
	mark.data = data;
	svg_mark(p->svg, &mark);
	free(title);
	free(data);
}

static __u64 most_of(const struct access_map *m, unsigned int kind)
{
	unsigned int row, column;
	__u64 most = 1;

	for (row = 0; row < m->rows; row++)
		for (column = 0; column < ACCESS_MAP_COLUMNS; column++)
			if (m->counts[kind][row][column] > most)
				most = m->counts[kind][row][column];
	return most;
}

/* @index: of so many panels beside each other. */
static void put_panel(const struct access_map *m, struct svg *svg, unsigned int kind, unsigned int index, unsigned int panels)
{
	const struct shades shades = shades_of(most_of(m, kind), LEVELS);
	double width = (SVG_WIDTH - LEFT - BETWEEN * panels) / (double)panels;
	char texts[PANEL_ENTRIES][AXIS_LABEL], *title = xasprintf("%llu %s", (unsigned long long)m->sums[kind], names[kind]);
	struct panel p = {
		.subtitle = title, .height = HEIGHT, .left = LEFT + index * (width + BETWEEN), .width = width,
		.beside = index + 1 < panels, .follows = index,
		.x = { .unit = AXIS_SECONDS, .from = since(m, 0), .to = since(m, ACCESS_MAP_COLUMNS),
		       .title = m->since },
		.y = { .unit = AXIS_BYTES, .from = (double)m->first * m->size,
		       .to = ((double)m->first + m->rows) * m->size, .title = "offset" },
	};
	unsigned int row, column;

	panel_add_shades(&p, &shades, colors[kind], texts);
	panel_begin(&p, svg);
	for (row = 0; row < m->rows; row++)
		for (column = 0; column < ACCESS_MAP_COLUMNS; column++)
			if (m->counts[kind][row][column])
				put_cell(m, &p, &shades, kind, row, column);
	panel_end(&p);
	free(title);
}

void access_map_svg(const struct access_map *m, struct svg *svg, const char *title)
{
	unsigned int kind, index = 0, panels = has_both(m) ? 2 : 1;

	panel_heading(svg, title, NULL);
	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++)
		if (m->sums[kind])
			put_panel(m, svg, kind, index++, panels);
}

/* --- JSON ----------------------------------------------------------------------- */

static json_t *json_cells(const struct access_map *m, unsigned int kind)
{
	json_t *cells = json_array(), *cell;
	unsigned int row, column;

	for (row = 0; row < m->rows; row++)
		for (column = 0; column < ACCESS_MAP_COLUMNS; column++) {
			if (!m->counts[kind][row][column])
				continue;
			cell = json_object();
			json_put(cell, "since_s", json_real(since(m, column)));
			json_put(cell, "from_bytes", json_unsigned((m->first + row) * m->size));
			json_put(cell, "count", json_unsigned(m->counts[kind][row][column]));
			json_add(cells, cell);
		}
	return cells;
}

json_t *access_map_json(const struct access_map *m)
{
	json_t *object = json_object();
	unsigned int kind;

	json_put(object, "row_bytes", json_unsigned(m->size));
	json_put(object, "column_s", json_real(m->interval / NS_PER_S));
	for (kind = 0; kind < ACCESS_MAP_KINDS; kind++)
		json_put(object, pattern_kinds[kind], json_cells(m, kind));
	return object;
}
