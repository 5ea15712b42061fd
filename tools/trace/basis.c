// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/basis.h"

void basis_sum(struct basis *to, const struct basis *b)
{
	to->records += b->records;
	to->sampled += b->sampled;
	to->events += b->events;
	to->lost += b->lost;
	to->missed += b->missed;
	to->unreadable += b->unreadable;
}

static void note(const char *what, __u64 n, const char *meaning)
{
	if (n)
		printf("%s%s %llu%s: %s\n", CLI_YELLOW, what, (unsigned long long)n, CLI_PLAIN, meaning);
}

void basis_text(const struct basis *b)
{
	if (!b->lost && !b->missed && !b->unreadable && !b->sampled)
		return;
	putchar('\n');
	note("lost", b->lost, "events overwritten or dropped before they were read");
	note("missed", b->missed, "calls that the kernel's hooks missed");
	note("unreadable", b->unreadable, "events that are damaged or missing in the trace");
	note("sampled", b->sampled, "records that stand for several events each, and are");
	if (b->sampled)
		printf("scaled: %llu records are counted as %llu events\n", (unsigned long long)b->records,
		       (unsigned long long)b->events);
}

char *basis_line(const struct basis *b)
{
	const struct {
		const char *what;
		__u64 n;
	} counts[] = {
		{ "lost", b->lost }, { "missed", b->missed }, { "unreadable", b->unreadable }, { "sampled", b->sampled },
	};
	char *line = NULL, *count;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		count = xasprintf("%s %llu", counts[i].what, (unsigned long long)counts[i].n);
		if (counts[i].n)
			line = text_append(line, ", ", count);
		free(count);
	}
	return line;
}

void basis_json(json_t *object, const struct basis *b)
{
	json_put(object, "records", json_integer(b->records));
	json_put(object, "sampled", json_integer(b->sampled));
	json_put(object, "lost", json_integer(b->lost));
	json_put(object, "missed", json_integer(b->missed));
	json_put(object, "unreadable", json_integer(b->unreadable));
}

void basis_json_row(json_t *row, const struct basis *b)
{
	json_put(row, "lost", json_integer(b->lost));
	json_put(row, "missed", json_integer(b->missed));
	json_put(row, "unreadable", json_integer(b->unreadable));
	json_put(row, "sampled", json_integer(b->sampled));
}

void basis_csv(const struct basis *b)
{
	printf("%llu,%llu,%llu,%llu", (unsigned long long)b->lost, (unsigned long long)b->missed, (unsigned long long)b->unreadable,
	       (unsigned long long)b->sampled);
}
