// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"

static void check(int failed)
{
	if (failed) {
		cli_say("out of memory");
		exit(CLI_FAILED);
	}
}

json_t *json_shown(const char *bytes)
{
	char *shown = text_show(bytes, strlen(bytes));
	json_t *value = json_string(shown);

	free(shown);
	return value;
}

json_t *json_unsigned(__u64 n)
{
	return json_integer(n <= INT64_MAX ? n : INT64_MAX);
}

void json_put(json_t *object, const char *key, json_t *value)
{
	check(json_object_set_new(object, key, value));
}

void json_add(json_t *array, json_t *value)
{
	check(json_array_append_new(array, value));
}

/* 15 digits, as a double holds any number of 15 digits. */
void json_print(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(value);
}

void json_csv_header(json_t *object)
{
	const char *key, *comma = "";
	json_t *value;

	json_object_foreach(object, key, value) {
		printf("%s%s", comma, key);
		comma = ",";
	}
	putchar('\n');
}

static void put_csv(const char *text)
{
	size_t length = strlen(text);
	char *field = xreallocarray(NULL, 4 * length + 2, 1);

	printf("%.*s", (int)(csv_put(field, text, length) - field), field);
	free(field);
}

void json_csv_row(json_t *object)
{
	const char *key, *comma = "";
	json_t *value;

	json_object_foreach(object, key, value) {
		fputs(comma, stdout);
		comma = ",";
		if (json_is_string(value))
			put_csv(json_string_value(value));
		else if (json_is_integer(value))
			printf("%lld", (long long)json_integer_value(value));
		else if (json_is_real(value))
			printf("%.3f", json_real_value(value));
	}
	putchar('\n');
}
