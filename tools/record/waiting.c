// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "module/proc.h"
#include "record/hidden.h"
#include "record/waiting.h"

/* The name of a UNIX socket: a path, or an abstract name, which begins with @. */
static char *hidden_name(const struct anonymizer *a, const char *name)
{
	bool abstract = *name == '@';
	char *path = hidden_path(a, name + abstract);
	char *hidden = xasprintf("%s%s", abstract ? "@" : "", path);

	free(path);
	return hidden;
}

/* The fields that are hashed. */
static const struct {
	const char *field;
	char *(*hide)(const struct anonymizer *a, const char *value);
} hidden[] = {
	{ "comm", hidden_comm }, { "name", hidden_name }, { "local", hidden_addr },
	{ "remote", hidden_addr }, { "local_port", hidden_port }, { "remote_port", hidden_port },
};

/* The bytes of a value, which is escaped; or what is shown for it in an anonymous trace. */
static char *value_of(const struct anonymizer *a, const char *field, const char *value)
{
	char *bytes = xstrdup(value), *shown = NULL;
	size_t i;

	text_unescape(bytes);
	for (i = 0; a && !shown && i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (!strcmp(hidden[i].field, field))
			shown = hidden[i].hide(a, bytes);
	if (!shown)
		return bytes;
	free(bytes);
	return shown;
}

/* A decimal number is one in JSON, too. */
static void put_field(json_t *call, const struct anonymizer *a, const char *field, const char *value)
{
	char *shown = value_of(a, field, value), *end;
	long long number = strtoll(shown, &end, 10);
	bool is_number = *shown && !*end && strcmp(field, "comm") && strcmp(field, "name");

	json_put(call, field, is_number ? json_integer(number) : json_shown(shown));
	free(shown);
}

/* "COMM-PID/TID": the name may have the other two characters, too. */
static void put_thread(json_t *call, const struct anonymizer *a, char *word)
{
	char *tid = strrchr(word, '/'), *pid;

	if (!tid)
		return;
	*tid = '\0';
	pid = strrchr(word, '-');
	if (!pid)
		return;
	*pid = '\0';
	put_field(call, a, "comm", word);
	put_field(call, a, "pid", pid + 1);
	put_field(call, a, "tid", tid + 1);
}

/* "OP COMM-PID/TID FIELD=VALUE ..." */
static json_t *call_of(const struct anonymizer *a, char *line)
{
	json_t *call = json_object();
	char *word = strsep(&line, " "), *value;

	json_put(call, "op", json_shown(word));
	word = strsep(&line, " ");
	if (word)
		put_thread(call, a, word);
	while ((word = strsep(&line, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value = '\0';
		put_field(call, a, word, value + 1);
	}
	return call;
}

static void count(json_t *by_op, const json_t *call)
{
	const char *op = json_string_value(json_object_get(call, "op"));
	json_int_t n = json_integer_value(json_object_get(by_op, op));

	json_put(by_op, op, json_integer(n + 1));
}

int waiting_read(const char *category, const struct anonymizer *a, size_t most, json_t **found)
{
	json_t *by_op, *listed, *call;
	char *text, *rest, *line;
	size_t n = 0;
	int err = proc_read(category, "waiting", &text);

	if (err)
		return err;
	by_op = json_object();
	listed = json_array();
	for (rest = text; (line = strsep(&rest, "\n")) && *line; n++) {
		call = call_of(a, line);
		count(by_op, call);
		if (n < most)
			json_add(listed, json_incref(call));
		json_decref(call);
	}
	free(text);
	*found = json_object();
	json_put(*found, "calls", json_integer(n));
	json_put(*found, "by_op", by_op);
	json_put(*found, "listed", listed);
	return 0;
}

char *waiting_summary(const json_t *categories)
{
	char *list = NULL, *one, *summary;
	const json_t *category;
	const char *op;
	json_t *n;
	long long all = 0;
	size_t i;

	json_array_foreach(categories, i, category) {
		json_t *by_op = json_object_get(json_object_get(category, WAITING_KEY), "by_op");

		json_object_foreach(by_op, op, n) {
			one = xasprintf("%lld %s", (long long)json_integer_value(n), op);
			list = text_append(list, ", ", one);
			free(one);
			all += json_integer_value(n);
		}
	}
	if (!list)
		return NULL;
	summary = xasprintf("%lld %s: %s", all, all == 1 ? "call" : "calls", list);
	free(list);
	return summary;
}

static char *text_of(const json_t *value)
{
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	return xstrdup(json_is_string(value) ? json_string_value(value) : "?");
}

static char *append(char *line, const char *between, const json_t *value)
{
	char *text = text_of(value);

	line = text_append(line, between, text);
	free(text);
	return line;
}

char *waiting_line(const json_t *call)
{
	static const char *const head[] = { "op", "comm", "pid", "tid" };
	static const char *const between[] = { "", " ", "-", "/" };
	char *line = NULL, *field;
	const char *key;
	json_t *value;
	size_t i;

	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		line = append(line, between[i], json_object_get(call, head[i]));
	json_object_foreach((json_t *)call, key, value) {
		for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
			if (!strcmp(key, head[i]))
				break;
		if (i < sizeof(head) / sizeof(head[0]))
			continue;
		field = xasprintf(" %s=", key);
		line = append(line, field, value);
		free(field);
	}
	return line;
}
