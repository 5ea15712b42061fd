// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/findings.h"

#define WIDTH	80
#define INDENT	4

char *finding_sentence(const struct finding *f)
{
	const struct finding_rule *rule = f->rule;
	char size[SCALED], time[SCALED], count[SCALED], of[SCALED];
	char *sentence, *figures = NULL;

	scaled_number(count, f->tally.count);
	scaled_number(of, f->of);
	if (f->tally.bytes)
		figures = text_append(figures, ", ", scaled_size(size, f->tally.bytes));
	if (f->tally.time)
		figures = text_append(figures, ", ", scaled_time(time, f->tally.time));
	sentence = f->of == f->tally.count ?
		xasprintf("%s %s %s", count, rule->events, rule->predicate) :
		xasprintf("%s of %s %s %s", count, of, rule->events, rule->predicate);
	if (figures) {
		sentence = text_append(sentence, " (", figures);
		sentence = text_append(sentence, "", ")");
	}
	free(figures);
	return sentence;
}

/* --- text ----------------------------------------------------------------------- */

void finding_put_wrapped(const char *text, unsigned int indent)
{
	while (*text) {
		size_t length = strlen(text), most = WIDTH - indent;

		if (length > most)
			for (length = most; length && text[length] != ' '; length--)
				;
		if (!length)
			length = strcspn(text, " ");
		printf("%*s%.*s\n", (int)indent, "", (int)length, text);
		text += length;
		text += *text == ' ';
	}
}

/* A name of any length, of which the end says most, on a line of its own. */
static void put_name(const char *text)
{
	char *shown = text_shorten(text, WIDTH - INDENT);

	printf("%*s%s\n", INDENT, "", shown);
	free(shown);
}

static void put_row(const struct finding_shown *row)
{
	char cells[4][SCALED];
	char *who = row->process;

	printf("%*s%8s%8s%9s%8s  %s\n", INDENT, "", scaled_number(cells[0], row->tally.count),
	       scaled_number(cells[1], row->of),
	       row->tally.bytes ? scaled_size(cells[2], row->tally.bytes) : "-",
	       row->tally.time ? scaled_time(cells[3], row->tally.time) : "-", who);
	if (*row->name)
		put_name(row->name);
	if (*row->note)
		finding_put_wrapped(row->note, INDENT + 2);
}

static const char *color_of(enum finding_severity severity)
{
	return severity == FINDING_CRITICAL ? CLI_RED : severity == FINDING_WARNING ? CLI_YELLOW : CLI_BOLD;
}

void finding_text(const struct finding *f)
{
	char *sentence = finding_sentence(f);
	size_t i;

	printf("%s%s%s %s (%s): %zu %s%s\n", color_of(f->rule->severity),
	       finding_severity_name(f->rule->severity), CLI_PLAIN, f->rule->id, f->category, f->subjects,
	       f->rule->subjects, f->subjects == 1 ? "" : !strcmp(f->rule->subjects, "process") ? "es" : "s");
	finding_put_wrapped(sentence, 2);
	finding_put_wrapped(f->rule->advice, 2);
	printf("%*s%8s%8s%9s%8s  %s\n", INDENT, "", "COUNT", "OF", "BYTES", "TIME", "PROCESS");
	for (i = 0; i < f->nr; i++)
		put_row(&f->rows[i]);
	if (f->nr < f->subjects)
		printf("%*s%zu more: see --top\n", INDENT, "", f->subjects - f->nr);
	free(sentence);
}

/* --- JSON ----------------------------------------------------------------------- */

static void json_tally(json_t *object, const struct finding_tally *t, __u64 of)
{
	json_put(object, "count", json_integer(t->count));
	json_put(object, "of", json_integer(of));
	json_put(object, "bytes", json_integer(t->bytes));
	json_put(object, "time_ns", json_integer(t->time));
}

static json_t *json_row(const struct finding *f, const struct finding_shown *row)
{
	json_t *object = json_object();

	if (strcmp(f->rule->subjects, "process"))
		json_put(object, f->rule->subjects, json_string(row->name));
	else if (*row->name)
		json_put(object, "disk", json_string(row->name));
	json_put(object, "process", json_string(row->process));
	json_tally(object, &row->tally, row->of);
	json_put(object, "note", json_string(row->note));
	return object;
}

json_t *finding_json(const struct finding *f)
{
	json_t *object = json_object(), *rows = json_array();
	char *sentence = finding_sentence(f);
	size_t i;

	json_put(object, "id", json_string(f->rule->id));
	json_put(object, "severity", json_string(finding_severity_name(f->rule->severity)));
	json_put(object, "category", json_string(f->category));
	json_put(object, "sentence", json_string(sentence));
	json_put(object, "advice", json_string(f->rule->advice));
	json_tally(object, &f->tally, f->of);
	json_put(object, "subjects", json_integer(f->subjects));
	for (i = 0; i < f->nr; i++)
		json_add(rows, json_row(f, &f->rows[i]));
	json_put(object, "rows", rows);
	free(sentence);
	return object;
}
