// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/system.h"

static char *format_of(const char *format, va_list args)
{
	char *path = NULL;

	if (vasprintf(&path, format, args) < 0)
		path = xstrdup("");
	return path;
}

/* Removes blanks at both ends, in place. */
static void trim(char *text)
{
	size_t length = strlen(text), first = 0;

	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	while (isspace((unsigned char)text[first]))
		first++;
	memmove(text, text + first, length - first + 1);
}

static char *text_at(char *path)
{
	char *text;

	if (host_read(path, &text))
		text = NULL;
	free(path);
	if (text)
		trim(text);
	if (text && !*text) {
		free(text);
		return NULL;
	}
	return text;
}

char *system_text(const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	path = format_of(format, args);
	va_end(args);
	return text_at(path);
}

json_t *system_take(char *text)
{
	json_t *value = text && *text ? json_shown(text) : json_null();

	free(text);
	return value;
}

json_t *system_string(const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	path = format_of(format, args);
	va_end(args);
	return system_take(text_at(path));
}

static json_t *number_of(char *text, long long factor)
{
	char *end = text;
	long long n = text ? strtoll(text, &end, 10) : 0;
	json_t *value = end == text || *end ? json_null() : json_integer(n * factor);

	free(text);
	return value;
}

json_t *system_number(long long factor, const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	path = format_of(format, args);
	va_end(args);
	return number_of(text_at(path), factor);
}

json_t *system_flag(const char *format, ...)
{
	va_list args;
	json_t *value;
	char *text;

	va_start(args, format);
	text = text_at(format_of(format, args));
	va_end(args);
	value = text ? json_boolean(strcmp(text, "0")) : json_null();
	free(text);
	return value;
}

char *system_link(const char *format, ...)
{
	char target[4096], *path, *real;
	va_list args;
	ssize_t n;

	va_start(args, format);
	path = format_of(format, args);
	va_end(args);
	real = host_path(path);
	n = readlink(real, target, sizeof(target) - 1);
	free(real);
	free(path);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return xstrdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static int compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void system_list(struct system_names *names, const char *directory, const char *prefix)
{
	char *path = host_path(directory);
	DIR *dir = opendir(path);
	struct dirent *entry;

	free(path);
	*names = (struct system_names){ 0 };
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		names->at = xreallocarray(names->at, names->nr + 1, sizeof(*names->at));
		names->at[names->nr++] = xstrdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (names->nr)
		qsort(names->at, names->nr, sizeof(*names->at), compare);
}

void system_unlist(struct system_names *names)
{
	while (names->nr)
		free(names->at[--names->nr]);
	free(names->at);
	names->at = NULL;
}

char *system_value(const char *text, const char *key, char separator)
{
	size_t length = strlen(key);

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		const char *at = text + length, *end;
		char *value;

		if (strncmp(text, key, length))
			continue;
		at += strspn(at, separator == '\t' ? " " : " \t");
		if (*at != separator)
			continue;
		at += 1 + strspn(at + 1, " \t");
		if (*at == '"' || *at == '\'')
			end = at + 1 + strcspn(at + 1, *at == '"' ? "\n\"" : "\n'");
		else
			end = at + strcspn(at, "\n");
		at += *at == '"' || *at == '\'';
		value = xasprintf("%.*s", (int)(end - at), at);
		trim(value);
		return value;
	}
	return NULL;
}

json_t *system_path(const struct system *s, const char *path)
{
	size_t length = strlen(path);
	json_t *value;
	char *hidden;

	if (!s->anonymizer)
		return json_shown(path);
	hidden = xreallocarray(NULL, ANONYMOUS_PATH(length) + 1, 1);
	hidden[anonymize_path(s->anonymizer, hidden, path, length)] = '\0';
	value = json_shown(hidden);
	free(hidden);
	return value;
}
