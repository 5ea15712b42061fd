// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "core/printable.h"
#include "picture/svg.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */
#define THIN		1		/* px */

void svg_open(struct svg *s)
{
	*s = (struct svg){ .height = 0 };
	s->body = xchecked(open_memstream(&s->bytes, &s->length));
}

void svg_close(struct svg *s)
{
	if (s->body)
		fclose(s->body);
	free(s->bytes);
}

/* --- text ----------------------------------------------------------------------- */

/* U+FFFE and U+FFFF are characters of UTF-8, but none of XML. */
static bool is_forbidden(const unsigned char *at, size_t length)
{
	return length == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

static void put_escaped(FILE *to, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strlen(text), length;

	for (; left; at += length, left -= length) {
		length = iot_printable(at, left);
		if (!length || is_forbidden(at, length)) {
			fputs(REPLACEMENT, to);
			length = length ? length : 1;
			continue;
		}
		switch (*at) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fwrite(at, 1, length, to);
		}
	}
}

void svg_text(struct svg *s, double x, double y, struct svg_style style, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	fprintf(s->body, "<text x=\"%.2f\" y=\"%.2f\"", x, y);
	if (style.anchor != SVG_START)
		fprintf(s->body, " text-anchor=\"%s\"", anchors[style.anchor]);
	if (style.color)
		fprintf(s->body, " fill=\"%s\"", style.color);
	if (style.size)
		fprintf(s->body, " font-size=\"%u\"", style.size);
	if (style.bold)
		fputs(" font-weight=\"bold\"", s->body);
	if (style.upright)
		fprintf(s->body, " transform=\"rotate(-90 %.2f %.2f)\"", x, y);
	fputc('>', s->body);
	put_escaped(s->body, text);
	fputs("</text>\n", s->body);
}

void svg_text_end(struct svg *s, double x, double y, struct svg_style style, const char *text, size_t columns)
{
	char *shown = text_shorten(text, columns);

	svg_text(s, x, y, style, shown);
	free(shown);
}

/* --- shapes --------------------------------------------------------------------- */

void svg_line(struct svg *s, double x1, double y1, double x2, double y2, const char *color)
{
	fprintf(s->body, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, color);
}

static void begin_rect(struct svg *s, double x, double y, double width, double height, const char *color, double opacity)
{
	fprintf(s->body, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"", x, y, width, height, color);
	if (opacity < 1)
		fprintf(s->body, " fill-opacity=\"%.2f\"", opacity);
}

void svg_rect(struct svg *s, double x, double y, double width, double height, const char *color, double opacity)
{
	begin_rect(s, x, y, width, height, color, opacity);
	fputs("/>\n", s->body);
}

static double at_least(double px)
{
	return px < THIN ? THIN : px;
}

void svg_mark(struct svg *s, const struct svg_mark *mark)
{
	double height = at_least(mark->height);

	if (s->marks == SVG_MARKS) {
		s->full = true;
		return;
	}
	s->marks++;
	/* What is too low grows upwards, so that it stays on its axis. */
	begin_rect(s, mark->x, mark->y - (height - mark->height), at_least(mark->width), height, mark->color, mark->opacity);
	fprintf(s->body, " %s><title>", mark->data);
	put_escaped(s->body, mark->title);
	fputs("</title></rect>\n", s->body);
}

void svg_polyline(struct svg *s, const struct svg_point *points, size_t nr, const char *color, const char *dashes)
{
	size_t i;

	fputs("<polyline points=\"", s->body);
	for (i = 0; i < nr; i++)
		fprintf(s->body, "%s%.2f,%.2f", i ? " " : "", points[i].x, points[i].y);
	fprintf(s->body, "\" shape-rendering=\"auto\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"", color);
	if (dashes)
		fprintf(s->body, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", s->body);
}

/* --- the file ------------------------------------------------------------------- */

void svg_write(const struct svg *s, FILE *to, const char *title, const char *description)
{
	fflush(s->body);
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\""
		" role=\"img\" aria-labelledby=\"title description\" shape-rendering=\"crispEdges\" font-family=\"sans-serif\" font-size=\"12\" fill=\"%s\">\n"
		"<title id=\"title\">", SVG_WIDTH, s->height, SVG_WIDTH, s->height, SVG_TEXT);
	put_escaped(to, title);
	fputs("</title>\n<desc id=\"description\">", to);
	put_escaped(to, description);
	fprintf(to, "</desc>\n<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n", SVG_WIDTH, s->height);
	fwrite(s->bytes, 1, s->length, to);
	fputs("</svg>\n", to);
}
