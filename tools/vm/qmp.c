// SPDX-License-Identifier: GPL-2.0
/*
 * A monitor is a socket named on the command line. It is looked up below the root directory of the
 * process, which must be the one that listens there. libvirt holds the connections to its own VMs,
 * so virsh is run for these.
 *
 * The answer comes from another process. Its size and the time for it are limited here, the depth
 * of its objects by the parser.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/system.h"
#include "vm/image.h"
#include "vm/qmp.h"

#define ALL_MS		1000		/* for all questions to one monitor */
#define ALL_BYTES	(16u << 20)	/* read from one monitor at most */
#define FIRST_BYTES	65536
#define MONITORS	16		/* tried at most */

#define CAPABILITIES	"{\"execute\":\"qmp_capabilities\"}"
#define BLOCKS		"{\"execute\":\"query-block\"}"
#define NODES		"{\"execute\":\"query-named-block-nodes\",\"arguments\":{\"flat\":true}}"

/* A descriptor that is read until a deadline. */
struct source {
	int fd;
	long long until;	/* CLOCK_MONOTONIC ms */
	char *text;
	size_t used, room, total;
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Waits for @events. False after the deadline or an error. */
static bool wait_for(const struct source *s, short events)
{
	struct pollfd p = { .fd = s->fd, .events = events };
	long long left = s->until - now_ms();
	int n;

	if (left <= 0)
		return false;
	n = poll(&p, 1, left);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads the available bytes. Returns their number, 0 at the end, -1 after an error or a limit. */
static ssize_t read_more(struct source *s)
{
	ssize_t n;

	if (s->total >= ALL_BYTES || !wait_for(s, POLLIN))
		return -1;
	if (s->room - s->used < FIRST_BYTES) {
		s->room = 2 * s->room + FIRST_BYTES;
		s->text = xreallocarray(s->text, s->room, 1);
	}
	n = read(s->fd, s->text + s->used, FIRST_BYTES);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return read_more(s);
	if (n > 0) {
		s->used += n;
		s->total += n;
	}
	return n;
}

/* --- a socket --------------------------------------------------------------------- */

/* The next object, or NULL. It may span several lines, as with -qmp-pretty. */
static json_t *next_object(struct source *s)
{
	json_error_t error;
	json_t *object;

	for (;;) {
		object = s->used ? json_loadb(s->text, s->used, JSON_DISABLE_EOF_CHECK, &error) : NULL;
		if (object) {
			s->used -= error.position;
			memmove(s->text, s->text + error.position, s->used);
			return object;
		}
		if (read_more(s) <= 0)
			return NULL;
	}
}

/* Returns the monitor's answer to the command, or NULL after an error or a limit. Skips events. */
static json_t *command(struct source *s, const char *text)
{
	char *line = xasprintf("%s\n", text);
	bool sent = send(s->fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line);
	json_t *result = NULL, *object;
	bool done = !sent;

	free(line);
	while (!done && (object = next_object(s))) {
		result = json_incref(json_object_get(object, "return"));
		done = result || json_object_get(object, "error");
		json_decref(object);
	}
	return result;
}

static bool is_of(int fd, pid_t pid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid == pid;
}

/* Connects to the socket. Returns -1 if that fails, or if another process listens. */
static int connect_to(const struct qmp_peer *peer, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int found = image_open_below(peer->root, path, O_PATH);
	int fd = found < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", found);
	if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof(address)) || !is_of(fd, peer->pid))) {
		close(fd);
		fd = -1;
	}
	if (found >= 0)
		close(found);
	return fd;
}

/* Whether the answer has a list of blocks. If not, it is freed. */
static bool is_answered(struct qmp_answer *answer)
{
	if (json_is_array(answer->blocks))
		return true;
	qmp_answer_free(answer);
	return false;
}

static bool ask_socket(struct qmp_answer *answer, const struct qmp_peer *peer, const char *path, long long until)
{
	struct source s = { .fd = connect_to(peer, path), .until = until };
	json_t *started = NULL;

	if (s.fd < 0)
		return false;
	/* QEMU greets, but may send events first that the client before did not read. */
	do {
		json_decref(started);
		started = next_object(&s);
	} while (json_object_get(started, "event"));
	if (json_object_get(started, "QMP")) {
		json_decref(started);
		started = command(&s, CAPABILITIES);
		answer->blocks = started ? command(&s, BLOCKS) : NULL;
		answer->nodes = answer->blocks ? command(&s, NODES) : NULL;
	}
	json_decref(started);
	close(s.fd);
	free(s.text);
	return is_answered(answer);
}

/* --- the command line ------------------------------------------------------------- */

/* Sockets at which QEMU listens. */
struct monitors {
	char *at[MONITORS];
	size_t nr;
};

static void add_monitor(struct monitors *all, const struct qmp_peer *peer, const char *path,
			const struct qemu_dict *dict)
{
	if (!path || !*path || all->nr == MONITORS || !qemu_is_on(qemu_dict_get(dict, "", "server"), false) ||
	    qemu_is_on(qemu_dict_get(dict, "", "abstract"), false))
		return;
	all->at[all->nr++] = *path == '/' ? xstrdup(path) :
		xasprintf("%s/%s", peer->cwd && strcmp(peer->cwd, "/") ? peer->cwd : "", path);
}

/* Adds the socket of the chardev with this id. */
static void add_chardev(struct monitors *all, const struct qmp_peer *peer, const char *id)
{
	struct qemu_dict dict;
	size_t i;

	for (i = 0; id && i < peer->args->nr; i++) {
		const char *backend, *own;

		if (strcmp(peer->args->at[i].name, "chardev"))
			continue;
		qemu_dict_parse(&dict, peer->args->at[i].value, "backend");
		backend = qemu_dict_get(&dict, "", "backend");
		own = qemu_dict_get(&dict, "", "id");
		if (backend && own && !strcmp(backend, "socket") && !strcmp(own, id))
			add_monitor(all, peer, qemu_dict_get(&dict, "", "path"), &dict);
		qemu_dict_free(&dict);
	}
}

/* -qmp unix:PATH,server=on or -qmp chardev:ID */
static void add_qmp(struct monitors *all, const struct qmp_peer *peer, const char *value)
{
	struct qemu_dict dict;
	const char *address;

	qemu_dict_parse(&dict, value, "address");
	address = qemu_dict_get(&dict, "", "address");
	if (address && !strncmp(address, "unix:", 5))
		add_monitor(all, peer, address + 5, &dict);
	else if (address && !strncmp(address, "chardev:", 8))
		add_chardev(all, peer, address + 8);
	qemu_dict_free(&dict);
}

static void add_mon(struct monitors *all, const struct qmp_peer *peer, const char *value)
{
	const char *mode;
	struct qemu_dict dict;

	qemu_dict_parse(&dict, value, "chardev");
	mode = qemu_dict_get(&dict, "", "mode");
	if (mode && !strcmp(mode, "control"))
		add_chardev(all, peer, qemu_dict_get(&dict, "", "chardev"));
	qemu_dict_free(&dict);
}

static void find_monitors(struct monitors *all, const struct qmp_peer *peer)
{
	size_t i;

	for (i = 0; i < peer->args->nr; i++) {
		const struct qemu_option *option = &peer->args->at[i];

		if (!strcmp(option->name, "qmp") || !strcmp(option->name, "qmp-pretty"))
			add_qmp(all, peer, option->value);
		else if (!strcmp(option->name, "mon"))
			add_mon(all, peer, option->value);
	}
}

/* --- libvirt ------------------------------------------------------------------------ */

/* Whether libvirt started the process: it stores the PID in a file. */
static bool is_libvirts(const struct qmp_peer *peer)
{
	char *text, *pid;
	bool is;

	if (!peer->name || !*peer->name || *peer->name == '-' || strchr(peer->name, '/'))
		return false;
	text = system_text("/run/libvirt/qemu/%s.pid", peer->name);
	pid = xasprintf("%d", peer->pid);
	is = text && !strcmp(text, pid);
	free(pid);
	free(text);
	return is;
}

static void run_virsh(const char *name, const char *text, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("virsh", "virsh", "-q", "-c", "qemu:///system", "qemu-monitor-command", name, text, (char *)NULL);
	_exit(127);
}

/* Runs virsh, which is killed at the deadline, and returns its answer or NULL. */
static json_t *ask_virsh(const char *name, const char *text, long long until)
{
	struct source s = { .fd = -1, .until = until };
	json_t *object = NULL, *result = NULL;
	ssize_t n = -1;
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC))
		return NULL;
	child = fork();
	if (!child)
		run_virsh(name, text, pipes[1]);
	close(pipes[1]);
	s.fd = pipes[0];
	while (child > 0 && (n = read_more(&s)) > 0)
		;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (!n && s.used)
		object = json_loadb(s.text, s.used, 0, NULL);
	result = json_incref(json_object_get(object, "return"));
	json_decref(object);
	close(s.fd);
	free(s.text);
	return result;
}

enum qmp_result qmp_ask(struct qmp_answer *answer, const struct qmp_peer *peer)
{
	struct monitors monitors = { .nr = 0 };
	bool libvirts = is_libvirts(peer), answered = false;
	size_t i;

	*answer = (struct qmp_answer){ 0 };
	find_monitors(&monitors, peer);
	if (!monitors.nr && !libvirts)
		return QMP_NO_MONITOR;
	if (libvirts) {
		long long until = now_ms() + ALL_MS;

		answer->blocks = ask_virsh(peer->name, BLOCKS, until);
		answer->nodes = answer->blocks ? ask_virsh(peer->name, NODES, until) : NULL;
		answered = is_answered(answer);
	}
	for (i = 0; i < monitors.nr; i++) {
		answered = answered || ask_socket(answer, peer, monitors.at[i], now_ms() + ALL_MS);
		free(monitors.at[i]);
	}
	return answered ? QMP_ANSWERED : QMP_NO_ANSWER;
}

void qmp_answer_free(struct qmp_answer *answer)
{
	json_decref(answer->blocks);
	json_decref(answer->nodes);
	*answer = (struct qmp_answer){ 0 };
}
