// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "proc.h"
#include "recorder.h"
#include "trace.h"

#define BUFFER		(1024 * 1024)	/* of a stream */
#define BUFFER_LEAST	(128 * 1024)	/* the module wants half of it in one read */
#define BUFFERS_A_LIMIT	32		/* so that --size is met to some percent */
#define PATHS_BUFFER	(256 * 1024)
#define AGE_NS		500000000	/* after which what was read is written */
#define NOTES_MAX	(1024 * 1024)	/* bytes of notes in one go, what is more is left out */
#define NOTE_MAX	4096		/* bytes of a command line */

#define COMM_SIZE	16
#define COMMS		256

struct hidden_comm {
	char comm[COMM_SIZE];
	char hidden[COMM_SIZE];
};

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* What a text takes, with its zeroes. */
static size_t padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

static bool fail(struct recorder *r, const char *what, const char *why)
{
	if (!r->error)
		r->error = cli_printf("%s: %s", what, why);
	return false;
}

__u64 recorder_bytes(const struct recorder *r)
{
	__u64 bytes = r->paths.writer.end;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		bytes += r->streams[i].writer.end;
	return bytes;
}

__u64 recorder_events(const struct recorder *r)
{
	__u64 events = 0;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		events += r->streams[i].events;
	return events;
}

__u64 recorder_lost(const struct recorder *r)
{
	__u64 lost = 0;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		lost += r->streams[i].lost;
	return lost;
}

/* Writes the batch, if it goes into the limit. */
static bool commit(struct recorder *r, struct trace_writer *w, const char *file)
{
	int err;

	if (r->limit && recorder_bytes(r) + w->batch > r->limit) {
		trace_writer_drop(w);
		r->full = true;
		return false;
	}
	err = trace_writer_commit(w);
	return err ? fail(r, file, strerror(-err)) : true;
}

/* Bytes read, 0 for nothing new, -1 when that failed. */
static ssize_t read_some(struct recorder *r, struct recorder_stream *s)
{
	ssize_t n;

	do {
		n = read(s->fd, s->data + s->fill, s->size - s->fill);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		fail(r, s->file, strerror(errno));
	else
		s->fill += n;
	return n;
}

/* What is not whole yet stays, at the front. */
static void drop_whole(struct recorder_stream *s)
{
	s->fill -= s->whole;
	memmove(s->data, s->data + s->whole, s->fill);
	s->whole = 0;
	s->nr_blocks = 0;
	s->used_notes = 0;
}

/* Paths */

/* Looks at what was read. Returns how many paths are whole. */
static __u32 parse_paths(struct recorder_stream *s)
{
	struct iot_path_record p;
	__u32 paths = 0;
	size_t length;

	while (s->fill - s->whole >= sizeof(p)) {
		memcpy(&p, s->data + s->whole, sizeof(p));
		length = sizeof(p) + padded(p.length);
		if (s->fill - s->whole < length)
			break;
		if (s->next_path && p.id > s->next_path)
			s->lost += p.id - s->next_path;
		s->next_path = p.id + 1;
		s->whole += length;
		paths++;
	}
	return paths;
}

/* The whole records with hashed paths, in memory that the caller frees. */
static char *hide_paths(const struct recorder *r, const struct recorder_stream *s,
			size_t *length)
{
	char *hidden = cli_grow(NULL, s->whole, ANONYMOUS_GROWTH + 1);
	struct iot_path_record p;
	size_t at = 0, to = 0, n;

	while (at < s->whole) {
		memcpy(&p, s->data + at, sizeof(p));
		at += sizeof(p);
		n = anonymize_path(r->anonymizer, hidden + to + sizeof(p), s->data + at,
				   p.length);
		at += padded(p.length);
		memset(hidden + to + sizeof(p) + n, 0, -n & 7);
		p.length = n;
		memcpy(hidden + to, &p, sizeof(p));
		to += sizeof(p) + padded(n);
	}
	*length = to;
	return hidden;
}

static bool write_paths(struct recorder *r)
{
	struct recorder_stream *s = &r->paths;
	struct trace_frame frame = { .events = parse_paths(s) };
	struct iovec part = { s->data, s->whole };
	char *hidden = NULL;
	bool good;

	if (!frame.events)
		return s->fill < s->size || fail(r, s->file, "the module's paths are damaged");
	if (r->anonymizer) {
		hidden = hide_paths(r, s, &part.iov_len);
		part.iov_base = hidden;
	}
	trace_writer_add(&s->writer, frame, &part, 1);
	good = commit(r, &s->writer, s->file);
	if (good)
		s->events += frame.events;
	free(hidden);
	drop_whole(s);
	return good;
}

static bool drain_paths(struct recorder *r)
{
	struct recorder_stream *s = &r->paths;
	size_t room;
	ssize_t n;

	do {
		room = s->size - s->fill;
		n = read_some(r, s);
		if (n < 0 || (n && !write_paths(r)))
			return false;
	} while ((size_t)n > room / 2);
	return true;
}

/* Events */

/* The command line of a process, if it is still the one that the record tells of. */
static size_t read_command(pid_t pid, const char *comm, char *out)
{
	char path[64], name[COMM_SIZE + 2];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || name[n - 1] != '\n' || (size_t)n - 1 != strnlen(comm, COMM_SIZE) ||
	    memcmp(name, comm, n - 1))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, out, NOTE_MAX);
	if (fd >= 0)
		close(fd);
	while (n > 0 && !out[n - 1])
		n--;
	return n > 0 ? n : 0;
}

/* Appends the note of a record: its command line, words set apart by blanks. */
static void add_note(const struct recorder *r, struct recorder_stream *s,
		     const void *record, pid_t pid, const char *comm)
{
	struct trace_note note = { .magic = TRACE_NOTE_MAGIC };
	char *text = s->notes + s->used_notes + sizeof(note);
	size_t i;

	if (s->used_notes + sizeof(note) + NOTE_MAX + 8 > NOTES_MAX)
		return;
	note.length = read_command(pid, comm, text);
	if (!note.length)
		return;
	for (i = 0; i < note.length; i++)
		text[i] = text[i] ? text[i] : ' ';
	if (r->anonymizer) {
		char hidden[ANONYMOUS_LENGTH];

		anonymize_word(r->anonymizer, hidden, "cmdline", text, note.length);
		memcpy(text, hidden, sizeof(hidden));
		note.length = sizeof(hidden);
	}
	memset(text + note.length, 0, -note.length & 7);
	note.seq = record_seq(s->event, record);
	memcpy(s->notes + s->used_notes, &note, sizeof(note));
	s->used_notes += sizeof(note) + padded(note.length);
}

static void hide_comm(const struct recorder *r, char *comm)
{
	__u64 key[2];
	struct hidden_comm *known;

	memcpy(key, comm, sizeof(key));
	if (!key[0])
		return;
	known = &r->comms[((key[0] ^ key[1]) * 0x9e3779b97f4a7c15ULL >> 32) % COMMS];
	if (memcmp(known->comm, comm, COMM_SIZE)) {
		memcpy(known->comm, comm, COMM_SIZE);
		memset(known->hidden, 0, COMM_SIZE);
		anonymize_word(r->anonymizer, known->hidden, "comm", comm,
			       strnlen(comm, COMM_SIZE));
	}
	memcpy(comm, known->hidden, COMM_SIZE);
}

static void hide_names(const struct recorder *r, const struct recorder_stream *s,
		       char *record)
{
	unsigned int i;

	for (i = 0; i < s->event->nr_fields; i++)
		if (!strcmp(s->event->fields[i].kind, "comm"))
			hide_comm(r, record + s->event->fields[i].offset);
}

static void look_at_records(const struct recorder *r, struct recorder_stream *s,
			    char *record, const char *end)
{
	const char *comm;

	for (; record < end; record += s->event->size) {
		pid_t pid = s->category->command_of(record, &comm);

		if (pid)
			add_note(r, s, record, pid, comm);
		if (r->anonymizer)
			hide_names(r, s, record);
	}
}

static void add_block(const struct recorder *r, struct recorder_stream *s,
		      const struct iot_block *head, size_t length)
{
	struct recorder_block *b;

	if (s->nr_blocks == s->room_blocks) {
		s->room_blocks = s->room_blocks ? 2 * s->room_blocks : 64;
		s->blocks = cli_grow(s->blocks, s->room_blocks, sizeof(*s->blocks));
		s->parts = cli_grow(s->parts, 2 * s->room_blocks, sizeof(*s->parts));
	}
	b = &s->blocks[s->nr_blocks++];
	*b = (struct recorder_block){
		.head = *head, .at = s->whole, .length = length, .note = s->used_notes,
	};
	look_at_records(r, s, s->data + b->at + sizeof(*head), s->data + b->at + length);
	b->note_length = s->used_notes - b->note;
}

static bool parse_blocks(struct recorder *r, struct recorder_stream *s)
{
	struct iot_block head;
	size_t length;

	while (s->fill - s->whole >= sizeof(head)) {
		memcpy(&head, s->data + s->whole, sizeof(head));
		length = sizeof(head) + (size_t)head.count * s->event->size;
		if (head.magic != IOT_BLOCK_MAGIC || head.event != s->event->id ||
		    head.cpu >= s->header.cpus || length > s->size)
			return fail(r, s->file, "the module's stream is damaged");
		if (s->fill - s->whole < length)
			break;
		if (!s->nr_blocks)
			s->since = now();
		add_block(r, s, &head, length);
		s->whole += length;
	}
	return true;
}

/* One frame of the blocks of one CPU, from block @i on, which is its first. */
static void add_frame(struct recorder_stream *s, size_t i, __u64 *lost)
{
	struct trace_frame frame = { .cpu = s->blocks[i].head.cpu, .until = s->until };
	size_t nr = 0, first = i;

	for (; i < s->nr_blocks; i++) {
		struct recorder_block *b = &s->blocks[i];

		if (b->head.cpu != frame.cpu)
			continue;
		s->parts[nr++] = (struct iovec){ s->data + b->at, b->length };
		b->added = true;
		frame.events += b->head.count;
		*lost += b->head.gap;
		s->lost_by_cpu[frame.cpu] += b->head.gap;
	}
	for (i = first; i < s->nr_blocks; i++)
		if (s->blocks[i].head.cpu == frame.cpu && s->blocks[i].note_length)
			s->parts[nr++] = (struct iovec){ s->notes + s->blocks[i].note,
							 s->blocks[i].note_length };
	s->events += frame.events;
	trace_writer_add(&s->writer, frame, s->parts, nr);
}

static bool flush(struct recorder *r, struct recorder_stream *s)
{
	__u64 events = s->events, lost = 0;
	bool good;
	size_t i;

	if (!s->nr_blocks)
		return true;
	if (!drain_paths(r))
		return false;
	for (i = 0; i < s->nr_blocks; i++)
		if (!s->blocks[i].added)
			add_frame(s, i, &lost);
	good = commit(r, &s->writer, s->file);
	if (good) {
		s->lost += lost;
		s->until = s->drained;
	} else {
		s->events = events;
	}
	drop_whole(s);
	return good;
}

static bool drain_stream(struct recorder *r, struct recorder_stream *s, bool last,
			 size_t *bytes)
{
	__u64 begin = now();
	size_t room;
	ssize_t n;

	do {
		if (s->size - s->fill < s->size / 2 && !flush(r, s))
			return false;
		room = s->size - s->fill;
		n = read_some(r, s);
		if (n < 0 || !parse_blocks(r, s))
			return false;
		*bytes += n;
	} while (last ? n > 0 : (size_t)n > room / 2);
	s->drained = begin;
	if (s->nr_blocks && (last || begin > s->since + AGE_NS))
		return flush(r, s);
	return true;
}

bool recorder_drain(struct recorder *r, bool last, bool *much)
{
	size_t bytes = 0, i;

	for (i = 0; i < r->nr_streams; i++)
		if (!drain_stream(r, &r->streams[i], last, &bytes))
			return false;
	*much = bytes >= BUFFER;
	return true;
}

/* Opening */

static bool header_matches(const struct iot_stream_header *h)
{
	return h->magic == IOT_STREAM_MAGIC && h->version == IOT_STREAM_VERSION &&
	       h->schema == iot_schema_hash();
}

static int check_header(struct recorder_stream *s, const char *subject, unsigned int layout)
{
	const struct iot_stream_header *h = &s->header;

	if (!header_matches(h)) {
		cli_say_of(subject, "the module writes stream version %u schema %016llx, this tool reads version %d schema %016llx: install the tool that belongs to the module",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	if (h->layout != layout || h->header_size < sizeof(*h) || h->header_size > s->fill ||
	    (s->event && (h->event != s->event->id || h->record_size != s->event->size))) {
		cli_say_of(subject, "its stream is damaged: layout %u, event %u, records of %u bytes",
			   h->layout, h->event, h->record_size);
		return CLI_FAILED;
	}
	return CLI_OK;
}

/* The first read: the header, and perhaps more. */
static int read_header(struct recorder *r, struct recorder_stream *s, const char *subject,
		       unsigned int layout)
{
	ssize_t n = read_some(r, s);
	int status;

	if (n < (ssize_t)sizeof(s->header)) {
		cli_say_of(subject, "%s", r->error ? r->error :
			   "its stream ends within the header");
		return CLI_FAILED;
	}
	memcpy(&s->header, s->data, sizeof(s->header));
	status = check_header(s, subject, layout);
	if (status)
		return status;
	s->whole = s->header.header_size;
	drop_whole(s);
	return CLI_OK;
}

static int create_file(struct recorder *r, struct recorder_stream *s, unsigned int frames)
{
	int err = trace_writer_open(&s->writer, r->dir, s->file, &s->header, r->level,
				    frames);

	if (!err)
		return CLI_OK;
	cli_say_of(s->file, "cannot be made: %s", strerror(-err));
	return CLI_FAILED;
}

static int open_paths(struct recorder *r)
{
	struct recorder_stream *s = &r->paths;
	int status;

	s->file = cli_strdup(TRACE_PATHS);
	s->size = PATHS_BUFFER;
	s->data = cli_grow(NULL, s->size, 1);
	s->fd = proc_open(NULL, "paths", O_RDONLY);
	if (s->fd < 0)
		return proc_explain("paths", NULL, "paths", s->fd);
	status = read_header(r, s, "paths", IOT_LAYOUT_PATHS);
	if (!status)
		status = create_file(r, s, 1);
	/* What came with the header, so that the buffer has room for more. */
	if (!status && s->fill && !write_paths(r)) {
		cli_say("%s", r->error ? r->error : "--size is too small for the paths alone");
		status = CLI_FAILED;
	}
	return status;
}

/* What was lost before recording begins is not ours. */
static void forget_old_gaps(struct recorder_stream *s)
{
	size_t i;

	for (i = 0; i < s->nr_blocks; i++)
		if (!s->blocks[i].head.count)
			s->blocks[i].head.gap = 0;
}

static size_t buffer_size(const struct recorder *r)
{
	__u64 size = r->limit ? r->limit / BUFFERS_A_LIMIT : BUFFER;

	return size > BUFFER ? BUFFER : size < BUFFER_LEAST ? BUFFER_LEAST : size;
}

static int open_stream(struct recorder *r, struct recorder_stream *s,
		       const struct category *category)
{
	int status;

	*s = (struct recorder_stream){
		.category = category, .event = category_event(category),
		.writer.fd = -1, .size = buffer_size(r),
		.file = cli_printf("%s.iot", category->name),
	};
	s->data = cli_grow(NULL, s->size, 1);
	s->notes = cli_grow(NULL, NOTES_MAX, 1);
	s->fd = proc_open(category->name, "stream", O_RDONLY);
	if (s->fd < 0)
		return proc_explain(category->name, category->name, "stream", s->fd);
	status = read_header(r, s, category->name, IOT_LAYOUT_BLOCKS);
	if (status)
		return status;
	s->lost_by_cpu = cli_grow(NULL, s->header.cpus, sizeof(*s->lost_by_cpu));
	memset(s->lost_by_cpu, 0, s->header.cpus * sizeof(*s->lost_by_cpu));
	status = create_file(r, s, s->header.cpus);
	if (!status && !parse_blocks(r, s)) {
		cli_say("%s", r->error);
		status = CLI_FAILED;
	}
	if (!status)
		forget_old_gaps(s);
	return status;
}

int recorder_open(struct recorder *r, const struct category *const *chosen, size_t nr)
{
	int status;
	size_t i;

	r->paths = (struct recorder_stream){ .fd = -1, .writer.fd = -1 };
	r->comms = cli_grow(NULL, COMMS, sizeof(*r->comms));
	memset(r->comms, 0, COMMS * sizeof(*r->comms));
	r->streams = cli_grow(NULL, nr, sizeof(*r->streams));
	status = open_paths(r);
	for (i = 0; !status && i < nr; i++) {
		status = open_stream(r, &r->streams[i], chosen[i]);
		r->nr_streams = i + 1;
	}
	return status;
}

/* The files are on the disk, or there is an error. */
void recorder_finish(struct recorder *r)
{
	size_t i;
	int err;

	for (i = 0; i < r->nr_streams; i++) {
		err = trace_writer_close(&r->streams[i].writer);
		if (err)
			fail(r, r->streams[i].file, strerror(-err));
	}
	err = trace_writer_close(&r->paths.writer);
	if (err)
		fail(r, r->paths.file, strerror(-err));
}

static void close_stream(struct recorder_stream *s)
{
	trace_writer_close(&s->writer);
	if (s->fd >= 0)
		close(s->fd);
	free(s->data);
	free(s->blocks);
	free(s->parts);
	free(s->notes);
	free(s->lost_by_cpu);
	free(s->file);
}

void recorder_close(struct recorder *r)
{
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		close_stream(&r->streams[i]);
	close_stream(&r->paths);
	free(r->streams);
	free(r->comms);
	free(r->error);
	r->nr_streams = 0;
}
