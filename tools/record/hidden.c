// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "record/hidden.h"

char *hidden_comm(const struct anonymizer *a, const char *name)
{
	char hash[ANONYMOUS_LENGTH];

	anonymize_word(a, hash, "comm", name, strlen(name));
	return xasprintf("%.*s", ANONYMOUS_LENGTH, hash);
}

char *hidden_path(const struct anonymizer *a, const char *path)
{
	size_t length = strlen(path);
	char *hash = xreallocarray(NULL, ANONYMOUS_PATH(length) + 1, 1);

	hash[anonymize_path(a, hash, path, length)] = '\0';
	return hash;
}

char *hidden_addr(const struct anonymizer *a, const char *value)
{
	struct in6_addr ip = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	char *text = xasprintf("%.*s", (int)strcspn(value, "/"), value);
	char hidden[INET6_ADDRSTRLEN] = "?";

	if (inet_pton(AF_INET, text, &ip.s6_addr[12]) == 1 || inet_pton(AF_INET6, text, &ip) == 1) {
		anonymize_address(a, (char *)&ip);
		if (IN6_IS_ADDR_V4MAPPED(&ip))
			inet_ntop(AF_INET, &ip.s6_addr[12], hidden, sizeof(hidden));
		else
			inet_ntop(AF_INET6, &ip, hidden, sizeof(hidden));
	}
	free(text);
	return xasprintf("%s%s", hidden, value + strcspn(value, "/"));
}

char *hidden_port(const struct anonymizer *a, const char *port)
{
	return xasprintf("%u", anonymize_port(a, strtoul(port, NULL, 10)));
}

/* The keys whose values are hashed. */
static const struct {
	const char *key;
	char *(*hide)(const struct anonymizer *a, const char *value);
} hidden[] = {
	{ "comm", hidden_comm }, { "path", hidden_path }, { "addr", hidden_addr }, { "port", hidden_port },
};

/* The values of a list, each one hashed. */
static char *hidden_list(const struct anonymizer *a, size_t key, char *list)
{
	char *all = NULL, *value, *one;

	while ((value = strsep(&list, ","))) {
		text_unescape(value);
		one = hidden[key].hide(a, value);
		all = text_append(all, ",", one);
		free(one);
	}
	return all;
}

/* One condition. */
static char *hidden_condition(const struct anonymizer *a, char *word)
{
	char *equals = strchr(word, '='), *list, *condition;
	size_t i, length = equals ? equals - word : 0;

	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (strlen(hidden[i].key) != length || memcmp(hidden[i].key, word, length))
			continue;
		list = hidden_list(a, i, equals + 1);
		condition = xasprintf("%s=%s", hidden[i].key, list);
		free(list);
		return condition;
	}
	return xstrdup(word);
}

char *hidden_filter(const struct anonymizer *a, const char *filter)
{
	char *copy = xstrdup(filter), *rest = copy, *all = NULL, *word, *one;

	while ((word = strsep(&rest, " "))) {
		one = hidden_condition(a, word);
		all = text_append(all, " ", one);
		free(one);
	}
	free(copy);
	return all;
}
