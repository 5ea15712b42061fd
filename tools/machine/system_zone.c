// SPDX-License-Identifier: GPL-2.0
/* Finds the country by the configured time zone and the tables of the tz database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/system.h"

#define ZONEINFO "/usr/share/zoneinfo"

/* The name after "zoneinfo/" in the target of /etc/localtime; NULL if it is not such a link. */
static char *zone_by_link(void)
{
	char *path = host_path("/etc/localtime");
	char target[4096];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *name;

	free(path);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	name = strstr(target, "zoneinfo/");
	return name ? xstrdup(name + strlen("zoneinfo/")) : NULL;
}

/* Looks up a zone in a table of lines "CODES COORDINATES ZONE [COMMENT]", separated by tabs. */
static char *code_of(const char *table, const char *zone)
{
	char *text = system_text(ZONEINFO "/%s", table), *next = text, *line;
	char codes[64], name[256], *code = NULL;

	while (!code && (line = strsep(&next, "\n"))) {
		if (*line == '#' || sscanf(line, "%63[^\t]\t%*[^\t]\t%255[^\t]", codes, name) != 2 ||
		    strcmp(name, zone))
			continue;
		/* the first of several countries has the most people */
		codes[strcspn(codes, ",")] = '\0';
		code = xstrdup(codes);
	}
	free(text);
	return code;
}

/* Resolves an alias by a line "L ZONE ALIAS" of tzdata.zi; NULL if the name is not an alias. */
static char *target_of(const char *zone)
{
	char *text = system_text(ZONEINFO "/tzdata.zi"), *next = text, *line;
	char target[256], alias[256], *found = NULL;

	while (!found && (line = strsep(&next, "\n")))
		if (sscanf(line, "L %255s %255s", target, alias) == 2 && !strcmp(alias, zone))
			found = xstrdup(target);
	free(text);
	return found;
}

/* "# version 2025b" */
static json_t *version(void)
{
	char *text = system_text(ZONEINFO "/tzdata.zi");
	char word[32];
	json_t *value = text && sscanf(text, "# version %31s", word) == 1 ? json_shown(word) : json_null();

	free(text);
	return value;
}

static json_t *country_name(const char *code)
{
	char *text = system_text(ZONEINFO "/iso3166.tab"), *name = NULL;

	if (text && code)
		name = system_value(text, code, '\t');
	free(text);
	return system_take(name);
}

/* Looks a zone up in both tables, and stores the name of the table that has it. */
static char *find_country(const char *zone, const char **table)
{
	static const char *const tables[] = { "zone.tab", "zone1970.tab" };
	char *target = target_of(zone), *code = NULL;
	size_t i;

	for (i = 0; !code && i < 2; i++) {
		*table = tables[i];
		code = code_of(tables[i], zone);
	}
	for (i = 0; !code && target && i < 2; i++) {
		*table = tables[i];
		code = code_of(tables[i], target);
	}
	free(target);
	return code;
}

json_t *system_location(void)
{
	const char *table = NULL, *from = "/etc/localtime";
	char *zone = zone_by_link(), *code, *source;
	json_t *object = json_object();

	if (!zone) {
		zone = system_text("/etc/timezone");
		from = "/etc/timezone";
	}
	code = zone ? find_country(zone, &table) : NULL;
	source = code ? xasprintf(ZONEINFO "/%s", table) : NULL;
	json_put(object, "time_zone", zone ? json_shown(zone) : json_null());
	json_put(object, "time_zone_source", zone ? json_string(from) : json_null());
	json_put(object, "country_code", code ? json_shown(code) : json_null());
	json_put(object, "country", country_name(code));
	json_put(object, "country_source", system_take(source));
	json_put(object, "tz_version", version());
	free(code);
	free(zone);
	return object;
}
