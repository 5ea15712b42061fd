// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/line.h"
#include "uapi/iotracer.h"
#include "vm/guest_columns.h"
#include "vm/log_row.h"

#define NS_PER_S 1000000000ULL

void log_print(const char *c)
{
	for (; *c; c++)
		if (*c == ';')
			fputs("\\073", stdout);
		else
			putchar(*c);
}

void log_print_line(const struct iot_line *line, __u64 since, const char *comm, __u32 pid)
{
	char *shown = text_show(comm, strnlen(comm, sizeof(((struct iot_io *)0)->comm)));

	printf("%llu.%09llu;%c;%llu;%llu;%s;", since / NS_PER_S, since % NS_PER_S, line->letter, line->address,
	       line->bytes, line->level);
	log_print(shown);
	printf(";%u", pid);
	free(shown);
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
