// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "vm/guest_columns.h"
#include "vm/log_row.h"

void log_print(const char *c)
{
	for (; *c; c++)
		if (*c == ';')
			fputs("\\073", stdout);
		else
			putchar(*c);
}

void log_print_part(const struct guest_part *part)
{
	if (!part)
		fputs(";-;-;-;-;-", stdout);
	else if (part->has_guest)
		printf(";%llu;%llu;%s;%llu;%llu", part->host, part->length, part->kind, part->guest,
		       part->guest_length);
	else
		printf(";%llu;%llu;%s;-;-", part->host, part->length, part->kind);
}
