// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cli.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "machine/host.h"

static const char *root(void)
{
	const char *root = secure_getenv("IOTRACER_ROOT");

	return root ? root : "";
}

char *host_path(const char *file)
{
	return xasprintf("%s%s", root(), file);
}

int host_read(const char *file, char **text)
{
	char *path = host_path(file);
	int err = file_read(path, text);

	free(path);
	if (!err && **text && (*text)[strlen(*text) - 1] == '\n')
		(*text)[strlen(*text) - 1] = '\0';
	return err;
}

bool host_has(const char *file)
{
	char *path = host_path(file);
	bool has = !access(path, F_OK);

	free(path);
	return has;
}

char *host_module_path(const struct host *host, const char *file)
{
	return xasprintf("/lib/modules/%s/%s", host->release, file);
}

/* Reads a whole file that may be compressed; NULL if it cannot be read or is empty. */
static char *read_gz(const char *file)
{
	char *path = host_path(file), *text = NULL;
	gzFile in = gzopen(path, "rbe");
	size_t length = 0, size = 0;
	int n = in ? 1 : -1;

	free(path);
	while (n > 0) {
		if (size - length < 65536) {
			size = 2 * size + 131072;
			text = xreallocarray(text, size, 1);
		}
		n = gzread(in, text + length, 65535);
		length += n > 0 ? n : 0;
	}
	if (in)
		gzclose(in);
	if (n < 0 || !length) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static void take_config(struct host *host, char *file)
{
	if (!host->config) {
		host->config = read_gz(file);
		if (host->config) {
			host->config_file = file;
			return;
		}
	}
	free(file);
}

/* /proc/config.gz is certain to be the running kernel's; the other files are from packages. */
static void find_config(struct host *host)
{
	if (host->running)
		take_config(host, xstrdup("/proc/config.gz"));
	take_config(host, xasprintf("/boot/config-%s", host->release));
	take_config(host, host_module_path(host, "config"));
	take_config(host, host_module_path(host, "build/.config"));
	take_config(host, host_module_path(host, "build/include/config/auto.conf"));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The name in "address type name". The tab of a module's "name\t[module]" becomes a blank. */
static char *name_of(char *line)
{
	char *name = strchr(line, ' '), *tab;

	name = name ? strchr(name + 1, ' ') : NULL;
	if (!name)
		return NULL;
	tab = strchr(name, '\t');
	if (tab)
		*tab = ' ';
	return name + 1;
}

static void sort_symbols(struct host *host)
{
	char *line, *name, *next = host->symbols;
	size_t room = 0;

	while ((line = strsep(&next, "\n"))) {
		name = name_of(line);
		if (!name)
			continue;
		if (host->nr == room) {
			room = 2 * room + 65536;
			host->names = xreallocarray(host->names, room, sizeof(*host->names));
		}
		host->names[host->nr++] = name;
	}
	if (host->nr)
		qsort(host->names, host->nr, sizeof(*host->names), compare_names);
}

/* A System.map with a single line only names the package that contains the real one. */
#define SYMBOLS_MIN 1000

static void find_symbols(struct host *host)
{
	char *file = host->running ? xstrdup("/proc/kallsyms") :
				     xasprintf("/boot/System.map-%s", host->release);

	if (host_read(file, &host->symbols))
		host->symbols = NULL;
	free(file);
	if (!host->symbols)
		return;
	sort_symbols(host);
	if (host->nr >= (host->running ? 1 : SYMBOLS_MIN))
		return;
	free(host->symbols);
	free(host->names);
	host->symbols = NULL;
	host->names = NULL;
	host->nr = 0;
}

void host_open(struct host *host, const char *release)
{
	struct utsname name;
	char *running;

	memset(host, 0, sizeof(*host));
	uname(&name);
	if (host_read("/proc/sys/kernel/osrelease", &running))
		running = xstrdup(name.release);
	if (host_read("/proc/sys/kernel/arch", &host->machine))
		host->machine = xstrdup(name.machine);
	host->release = xstrdup(release ? release : running);
	host->running = !strcmp(host->release, running);
	free(running);
	find_config(host);
	find_symbols(host);
}

void host_close(struct host *host)
{
	free(host->release);
	free(host->machine);
	free(host->config);
	free(host->config_file);
	free(host->symbols);
	free(host->names);
}

/* The text after "CONFIG_NAME=", or NULL. */
static const char *find_option(const struct host *host, const char *name)
{
	char *key = xasprintf("\nCONFIG_%s=", name);
	const char *at = host->config;
	size_t length = strlen(key);

	if (strncmp(at, key + 1, length - 1)) {
		at = strstr(at, key);
		at = at ? at + length : NULL;
	} else {
		at += length - 1;
	}
	free(key);
	return at;
}

enum host_option host_option(const struct host *host, const char *name)
{
	const char *at;

	if (!host->config)
		return OPTION_UNKNOWN;
	at = find_option(host, name);
	return at && (*at == 'y' || *at == 'm') ? OPTION_YES : OPTION_NO;
}

char *host_option_text(const struct host *host, const char *name)
{
	const char *at = host->config ? find_option(host, name) : NULL;
	const char *end;

	if (!at)
		return NULL;
	at += *at == '"';
	end = at + strcspn(at, "\"\n");
	return xasprintf("%.*s", (int)(end - at), at);
}

bool host_has_symbol(const struct host *host, const char *name)
{
	return host->nr && bsearch(&name, host->names, host->nr, sizeof(*host->names),
				   compare_names);
}
