// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the control groups:
 *
 *	podman		libpod-ID.scope, libpod-ID, libpod-payload-ID (in a service of its own)
 *	docker		docker-ID.scope, docker/ID
 *	CRI-O		crio-ID.scope
 *	containerd	cri-containerd-ID.scope
 *
 * libpod-conmon-ID.scope and crio-conmon-ID.scope contain the monitor of a container.
 */
#include <errno.h>
#include <jansson.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/cgroup.h"
#include "machine/container.h"
#include "machine/host.h"

#define ID_DIGITS	64
#define ID_SHOWN	12	/* digits, as podman and docker show them */
#define ID_DIGITS_MIN	4	/* of an abbreviated ID */
#define DOCUMENT_MAX	(64 << 20)	/* bytes of a file with names */

/* How a container matches the name. The highest value takes precedence. */
enum match { NO_MATCH, BY_FIRST_DIGITS, BY_NAME, BY_ID };

struct search {
	const char *name;	/* NULL: every name goes to @take */
	void (*take)(void *data, const char *name);
	void *data;
	bool denied;		/* some names could not be read */
};

/* Whether the search ends at this name. */
static bool is_wanted(const struct search *s, const char *name)
{
	if (s->name)
		return !strcmp(name, s->name);
	s->take(s->data, name);
	return false;
}

/* The ID in the name of a control group, or NULL if it is not a container's. */
static const char *id_of(const char *path)
{
	static const char monitor[] = "conmon-", scope[] = ".scope";
	const char *name = cgroup_name(path), *id;
	size_t length = strlen(name), before = strlen(monitor);

	if (length > strlen(scope) && !strcmp(name + length - strlen(scope), scope))
		length -= strlen(scope);
	if (length < ID_DIGITS)
		return NULL;
	id = name + length - ID_DIGITS;
	if (strspn(id, "0123456789abcdef") < ID_DIGITS)
		return NULL;
	if (id != name && id[-1] != '-')
		return NULL;
	if ((size_t)(id - name) >= before && !memcmp(id - before, monitor, before))
		return NULL;
	return id;
}

static json_t *parse(int fd)
{
	json_t *document = NULL;
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > DOCUMENT_MAX)
		return NULL;
	text = xreallocarray(NULL, st.st_size, 1);
	n = read(fd, text, st.st_size);
	if (n > 0)
		document = json_loadb(text, n, 0, NULL);
	free(text);
	return document;
}

/*
 * Parses a file; NULL if there is none, or it is damaged. Frees @path. Another user may have made
 * the file, so a FIFO must not block us, and links are not followed.
 */
static json_t *load(struct search *s, char *path)
{
	char *real = host_path(path);
	int fd = open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	json_t *document = NULL;

	if (fd < 0 && errno == EACCES)
		s->denied = true;
	if (fd >= 0) {
		document = parse(fd);
		close(fd);
	}
	free(real);
	free(path);
	return document;
}

/* Docker writes a slash before a name. */
static bool has_docker_name(struct search *s, const char *data, const char *id)
{
	json_t *config = load(s, xasprintf("%s/docker/containers/%.*s/config.v2.json", data,
					   ID_DIGITS, id));
	const char *name = json_string_value(json_object_get(config, "Name"));
	bool has = name && is_wanted(s, name + (*name == '/'));

	json_decref(config);
	return has;
}

/* Whether a list of podman's storage has the container with this name. */
static bool has_listed_name(const struct search *s, const json_t *list, const char *id)
{
	const json_t *container, *name;
	size_t i, j;

	json_array_foreach(list, i, container) {
		const char *own = json_string_value(json_object_get(container, "id"));

		if (!own || strlen(own) != ID_DIGITS || memcmp(own, id, ID_DIGITS))
			continue;
		json_array_foreach(json_object_get(container, "names"), j, name) {
			if (json_is_string(name) && is_wanted(s, json_string_value(name)))
				return true;
		}
	}
	return false;
}

/* Containers that are removed when they end (--rm) have a separate list. */
static bool has_podman_name(struct search *s, const char *data, const char *id)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	static const char *const kinds[] = { "", "volatile-" };
	bool has = false;
	size_t i, j;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		for (j = 0; j < sizeof(kinds) / sizeof(kinds[0]) && !has; j++) {
			json_t *list = load(s, xasprintf("%s/containers/storage/%s-containers/%scontainers.json",
							 data, drivers[i], kinds[j]));

			has = has_listed_name(s, list, id);
			json_decref(list);
		}
	}
	return has;
}

/* The data directory of the user whose slice contains the group, or NULL. The caller frees it. */
static char *data_of_user(const char *path)
{
	const char *slice = strstr(path, "/user-");
	const struct passwd *user = NULL;
	unsigned int uid;

	if (slice && sscanf(slice, "/user-%u.slice/", &uid) == 1)
		user = getpwuid(uid);
	return user ? xasprintf("%s/.local/share", user->pw_dir) : NULL;
}

static bool has_name(struct search *s, const char *path, const char *id)
{
	static const char of_root[] = "/var/lib";
	char *of_user;
	bool has;

	if (has_docker_name(s, of_root, id) || has_podman_name(s, of_root, id))
		return true;
	of_user = data_of_user(path);
	has = of_user && (has_docker_name(s, of_user, id) || has_podman_name(s, of_user, id));
	free(of_user);
	return has;
}

static enum match match(struct search *s, const char *path)
{
	size_t length = strlen(s->name);
	const char *id = id_of(path);
	bool begins;

	if (!id)
		return NO_MATCH;
	begins = length >= ID_DIGITS_MIN && length <= ID_DIGITS && !memcmp(id, s->name, length);
	if (begins && length == ID_DIGITS)
		return BY_ID;
	if (has_name(s, path, id))
		return BY_NAME;
	return begins ? BY_FIRST_DIGITS : NO_MATCH;
}

void container_each(const struct cgroups *groups, void (*take)(void *data, const char *name),
		    void *data)
{
	struct search s = { .take = take, .data = data };
	size_t i;

	for (i = 0; i < groups->nr; i++) {
		const char *id = id_of(groups->paths[i]);
		char *shown = id ? xasprintf("%.*s", ID_SHOWN, id) : NULL;

		if (!id)
			continue;
		has_name(&s, groups->paths[i], id);
		take(data, shown);
		free(shown);
	}
}

static void say_missing(const struct cgroups *groups, const struct search *s)
{
	cli_say_of(s->name, "no container with this name or ID %s%s",
		   groups->traced ? "is traced (iotracer list)" : "runs here (podman ps, docker ps)",
		   s->denied ? "; some names cannot be read: run this as root, or give the ID" : "");
}

char *container_find(const struct cgroups *groups, const char *name)
{
	struct search s = { .name = name };
	struct cgroups found = { 0 };
	enum match best = NO_MATCH;
	char *path = NULL;
	size_t i;

	for (i = 0; i < groups->nr; i++) {
		enum match m = match(&s, groups->paths[i]);

		if (m > best)
			cgroups_free(&found);
		if (m > best)
			best = m;
		if (m == best && m != NO_MATCH)
			cgroups_add(&found, groups->paths[i]);
	}
	if (found.nr == 1)
		path = xstrdup(found.paths[0]);
	else if (found.nr)
		cgroups_say_which(&found, name);
	else
		say_missing(groups, &s);
	cgroups_free(&found);
	return path;
}
