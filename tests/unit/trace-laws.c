// SPDX-License-Identifier: GPL-2.0
/*
 * A damaged trace is never shown as whole: trace-laws TRACE FILE... Each FILE of the trace is
 * cut at every byte, and every bit of it is flipped (of a zero byte, only one bit). In
 * schema.json, which no reader decodes, only some bytes are damaged. Each time iotracer export
 *
 *	exits with 1 and prints a message on standard error,
 *	shows the rows of every undamaged frame, in their order, and no others,
 *	reports each row that it does not show, by CPU and seq, and none that it shows,
 *	still shows all rows if paths.iot or schema.json is damaged,
 *	exits with 0 under --partial if it shows anything.
 *
 * The tool is linked in and called in this process, since there are many exports.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "cmd/command.h"
#include "trace/trace.h"

#define ROWS_MAX 10000
#define HOLES_MAX 100
#define FRAMES_MAX 100

static const char *trace;
static int out_fd, err_fd;
static char *out, *err;		/* what the last export printed */
static unsigned long long runs;

/* The rows of the undamaged trace. */
static struct row {
	char *text;
	unsigned int cpu;
	unsigned long long seq;
} rows[ROWS_MAX];
static size_t nr_rows;

/* The frames of fs.iot. */
static struct place {
	size_t begin, end;	/* with the header, without the padding */
	size_t events;
} places[FRAMES_MAX];
static size_t nr_places;

static struct hole {
	unsigned int cpu;
	unsigned long long first, last;
} holes[HOLES_MAX];
static size_t nr_holes;

static void die(const char *what, const char *where, size_t at)
{
	printf("trace-laws: %s: %s at %zu\n--- output\n%s--- messages\n%s", where, what, at,
	       out ? out : "", err ? err : "");
	fflush(stdout);
	_exit(1);
}

static char *content_of(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc(size + 1);

	if (pread(fd, text, size, 0) != size)
		exit(2);
	text[size] = '\0';
	return text;
}

/* Run iotracer export. Return: its exit code. */
static int export(int partial)
{
	char *argv[6] = { "iotracer", "export", "--per-category", (char *)trace,
			  partial ? "--partial" : NULL };
	int saved[2] = { dup(1), dup(2) };
	int status;

	runs++;
	if (ftruncate(out_fd, 0) || ftruncate(err_fd, 0))
		exit(2);
	lseek(out_fd, 0, SEEK_SET);
	lseek(err_fd, 0, SEEK_SET);
	fflush(stdout);
	dup2(out_fd, 1);
	dup2(err_fd, 2);
	status = command_export.run(4 - 1 + partial, argv + 1);
	fflush(stdout);
	fflush(stderr);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	close(saved[0]);
	close(saved[1]);
	free(out);
	free(err);
	out = content_of(out_fd);
	err = content_of(err_fd);
	return status;
}

/* Parse the columns cpu and seq of a row, which must have no quotes. */
static void parse_row(struct row *row, const char *header)
{
	const char *name = header, *value = row->text;

	for (;;) {
		if (!strncmp(name, "cpu,", 4))
			row->cpu = strtoul(value, NULL, 10);
		if (!strncmp(name, "seq,", 4))
			row->seq = strtoull(value, NULL, 10);
		name = strchr(name, ',');
		value = strchr(value, ',');
		if (!name || !value)
			return;
		name++;
		value++;
	}
}

static void read_whole(void)
{
	char *line, *save = NULL, *header, *text;

	if (export(0))
		die("fails", "the whole trace", 0);
	text = strdup(out);
	header = strtok_r(text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save)) && nr_rows < ROWS_MAX) {
		rows[nr_rows].text = line;
		parse_row(&rows[nr_rows++], header);
	}
	if (nr_rows < 20 || nr_rows == ROWS_MAX)
		die("has too few or too many rows", "the whole trace", nr_rows);
}

static void read_holes(void)
{
	const char *at = err;

	for (nr_holes = 0; (at = strstr(at, ": cpu ")) && nr_holes < HOLES_MAX; at++)
		if (sscanf(at, ": cpu %u, seq %llu to %llu,", &holes[nr_holes].cpu,
			   &holes[nr_holes].first, &holes[nr_holes].last) == 3)
			nr_holes++;
}

static int is_reported(const struct row *row)
{
	size_t i;

	for (i = 0; i < nr_holes; i++)
		if (holes[i].cpu == row->cpu && holes[i].first <= row->seq &&
		    row->seq <= holes[i].last)
			return 1;
	return 0;
}

static void read_places(const char *content, size_t size)
{
	struct trace_frame f;
	size_t at;

	for (at = TRACE_ALIGN; at < size; at += trace_frame_length(&f)) {
		memcpy(&f, content + at, sizeof(f));
		places[nr_places].begin = at;
		places[nr_places].end = at + sizeof(f) + f.stored;
		places[nr_places++].events = f.events;
		if (f.magic != TRACE_FRAME_MAGIC || nr_places == FRAMES_MAX)
			die("has strange frames", "fs.iot", at);
	}
	if (nr_places < 3)
		die("has too few frames", "fs.iot", nr_places);
}

/* The number of rows in undamaged frames, if the file is cut or has a flipped bit at @at. */
static size_t rows_left(int is_cut, size_t at)
{
	size_t left = 0, i;

	for (i = 0; i < nr_places; i++)
		if (at >= places[i].end || (!is_cut && at < places[i].begin))
			left += places[i].events;
	return left;
}

/* Each row shown is in the undamaged trace, and each row not shown is reported. */
static void check_rows(const char *name, size_t at, size_t left)
{
	char *line, *save = NULL;
	size_t i = 0;

	read_holes();
	if (!strtok_r(out, "\n", &save))
		return;
	while ((line = strtok_r(NULL, "\n", &save))) {
		for (; i < nr_rows && strcmp(rows[i].text, line); i++)
			if (!is_reported(&rows[i]))
				die("a row is missing and not reported", name, at);
		if (i == nr_rows)
			die("a row is not in the trace", name, at);
		if (is_reported(&rows[i++]))
			die("a row is shown and reported as missing", name, at);
		left--;
	}
	if (left)
		die("rows of whole frames are missing, or others shown", name, at);
	for (; i < nr_rows; i++)
		if (!is_reported(&rows[i]))
			die("a row is missing and not reported", name, at);
}

static void check_number_of_rows(const char *name, size_t at)
{
	size_t lines = 0;
	char *end;

	for (end = out; (end = strchr(end, '\n')); end++)
		lines++;
	if (lines != nr_rows + 1)
		die("rows are missing", name, at);
}

/* Check an export after file @name was damaged at @at; @how is "cut" or "flipped". */
static void check(const char *name, const char *how, size_t at)
{
	char where[100];

	snprintf(where, sizeof(where), "%s %s", name, how);
	if (export(0) != 1)
		die("does not exit with 1", where, at);
	if (!*err)
		die("says nothing", where, at);
	if (!strcmp(name, "fs.iot"))
		check_rows(where, at, rows_left(how[0] == 'c', at));
	else if (strcmp(name, TRACE_METADATA))
		check_number_of_rows(where, at);
	if (runs % 16 || !strcmp(name, TRACE_METADATA))
		return;
	if (export(1))
		die("--partial fails", where, at);
}

/* The distance between bytes that are damaged. */
static size_t step_of(const char *name)
{
	return strcmp(name, TRACE_SCHEMA) ? 1 : 61;
}

static void cut(const char *name, int fd, const char *content, size_t size)
{
	size_t at;

	for (at = size; at--; ) {
		if (at % step_of(name))
			continue;
		if (ftruncate(fd, at))
			exit(2);
		check(name, "cut", at);
	}
	if (pwrite(fd, content, size, 0) != (ssize_t)size)
		exit(2);
}

static void flip(const char *name, int fd, const char *content, size_t size)
{
	size_t at;
	int bit;

	for (at = 0; at < size; at += step_of(name)) {
		int one = !content[at];

		for (bit = one ? (int)(at % 8) : 0; bit < (one ? (int)(at % 8) + 1 : 8); bit++) {
			char flipped = content[at] ^ 1 << bit;

			if (pwrite(fd, &flipped, 1, at) != 1)
				exit(2);
			check(name, "flipped", at);
		}
		if (pwrite(fd, content + at, 1, at) != 1)
			exit(2);
	}
}

static void damage(const char *name)
{
	char path[4096];
	char *content;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		exit(2);
	content = content_of(fd);
	if (!strcmp(name, "fs.iot"))
		read_places(content, st.st_size);
	cut(name, fd, content, st.st_size);
	flip(name, fd, content, st.st_size);
	free(content);
	close(fd);
	if (export(0))
		die("is not what it was", name, 0);
}

/*
 * For any length and alignment the checksum is the same by the processor's instructions, if it
 * has any, by tables, and bit by bit.
 */
static void check_sums(void)
{
	unsigned char data[200];
	size_t from, size, i;
	int bit;

	if (trace_checksum("123456789", 9) != 0xe3069283)
		die("is wrong", "the checksum", 0);
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * i * 31 + 7;
	for (from = 0; from < 9; from++) {
		for (size = 0; size < 150; size++) {
			__u32 sum = ~0u;

			for (i = 0; i < size; i++) {
				sum ^= data[from + i];
				for (bit = 0; bit < 8; bit++)
					sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
			}
			if (trace_checksum(data + from, size) != ~sum ||
			    trace_checksum_by_table(data + from, size) != ~sum)
				die("is wrong", "the checksum", size);
		}
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 3)
		return 2;
	cli_begin();
	trace = argv[1];
	check_sums();
	out_fd = memfd_create("out", 0);
	err_fd = memfd_create("err", 0);
	read_whole();
	for (i = 2; i < argc; i++)
		damage(argv[i]);
	printf("%zu rows, %llu exports\n", nr_rows, runs);
	return 0;
}
