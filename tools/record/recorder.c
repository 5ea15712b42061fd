// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "module/control.h"
#include "module/proc.h"
#include "record/receipt.h"
#include "record/recorder.h"
#include "trace/record.h"
#include "trace/trace.h"

#define CHUNK		(1024 * 1024)	/* bytes of a frame */
#define CHUNK_LEAST	(64 * 1024)
#define CHUNKS_A_LIMIT	32		/* in --size, which is then kept within a few percent */
#define AGE_NS		500000000	/* gathered data is written after this time */
#define TURN		(4 * CHUNK)	/* bytes, after which the other streams are read */
#define SCRATCH		(64 * 1024)	/* for paths; the module requires room for the longest */
#define NOTES_MAX	(128 * 1024)	/* bytes in a frame; further notes are left out */
#define PATH_BYTES	4200		/* bytes of the longest path: PATH_MAX, and some more */

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

/* The length of a text with its padding. */
static size_t padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

static bool fail(struct recorder *r, const char *what, const char *why)
{
	if (!r->error)
		r->error = xasprintf("%s: %s", what, why);
	return false;
}

__u64 recorder_bytes(const struct recorder *r)
{
	__u64 bytes = r->paths.file.bytes;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		bytes += r->streams[i].file.bytes;
	return bytes;
}

__u64 recorder_events(const struct recorder *r)
{
	__u64 events = 0;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		events += r->streams[i].file.events;
	return events;
}

__u64 recorder_lost(const struct recorder *r)
{
	__u64 lost = 0;
	size_t i;

	for (i = 0; i < r->nr_streams; i++)
		lost += r->streams[i].file.lost;
	return lost;
}

static size_t room_of(const struct recorder *r, const struct recorder_stream *s)
{
	return r->writer.size - NOTES_MAX - s->fill;
}

/* Returns bytes read, 0 if there is nothing new, -1 on an error. */
static ssize_t read_some(struct recorder *r, struct recorder_stream *s, char *to, size_t room)
{
	ssize_t n;

	do {
		n = read(s->fd, to, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		fail(r, s->file.name, errno == EIO ? "the module was unloaded" : strerror(errno));
	return n;
}

/* Gives whole blocks to the writer; an incomplete block moves to another chunk. */
static void hand_over(struct recorder *r, struct recorder_stream *s)
{
	struct chunk *next = writer_take(&r->writer);
	struct trace_frame frame = { .events = s->events, .until = s->until };

	s->fill -= s->whole;
	memcpy(chunk_content(next), chunk_content(s->chunk) + s->whole, s->fill);
	if (s->used_notes)
		memcpy(chunk_content(s->chunk) + s->whole, s->notes, s->used_notes);
	frame.size = s->whole + s->used_notes;
	memcpy(s->chunk->data, &frame, sizeof(frame));
	s->chunk->to = &s->file;
	writer_put(&r->writer, s->chunk);
	s->chunk = next;
	s->whole = 0;
	s->events = 0;
	s->used_notes = 0;
}

/* Paths */

/* The length of the path record at @at, 0 if it is incomplete. */
static size_t path_length(const char *at, size_t size, struct iot_path_record *p)
{
	size_t length;

	if (size < sizeof(*p))
		return 0;
	memcpy(p, at, sizeof(*p));
	length = sizeof(*p) + padded(p->length);
	return length <= size || p->length > PATH_BYTES ? length : 0;
}

/* Appends a path to the chunk, hashed if there is an anonymizer. */
static void add_path(struct recorder *r, struct recorder_stream *s,
		     struct iot_path_record p, const char *text)
{
	char *to;

	if (room_of(r, s) < sizeof(p) + ANONYMOUS_PATH(p.length) + 8)
		hand_over(r, s);
	to = chunk_content(s->chunk) + s->whole;
	if (s->next_path && p.id > s->next_path && !s->listing)
		s->file.lost += p.id - s->next_path;
	s->next_path = p.id + 1;
	if (r->anonymizer)
		p.length = anonymize_path(r->anonymizer, to + sizeof(p), text, p.length);
	else
		memcpy(to + sizeof(p), text, p.length);
	busiest_name(r->busiest, p.id, to + sizeof(p), p.length);
	memcpy(to, &p, sizeof(p));
	memset(to + sizeof(p) + p.length, 0, -p.length & 7);
	s->whole += sizeof(p) + padded(p.length);
	s->fill = s->whole;
	s->events++;
}

/* Gives the whole paths in the scratch buffer to the writer. */
static bool take_paths(struct recorder *r, struct recorder_stream *s)
{
	struct iot_path_record p;
	size_t at = 0, length;

	while ((length = path_length(s->scratch + at, s->raw - at, &p))) {
		if (p.length > PATH_BYTES)
			return fail(r, s->file.name, "the module's paths are damaged");
		add_path(r, s, p, s->scratch + at + sizeof(p));
		at += length;
	}
	s->raw -= at;
	memmove(s->scratch, s->scratch + at, s->raw);
	if (s->events)
		hand_over(r, s);
	return true;
}

static bool drain_paths_of(struct recorder *r, struct recorder_stream *s)
{
	ssize_t n;

	do {
		n = read_some(r, s, s->scratch + s->raw, SCRATCH - s->raw);
		if (n < 0)
			return false;
		s->raw += n;
		if (!take_paths(r, s))
			return false;
	} while (n);
	return true;
}

static bool drain_paths(struct recorder *r)
{
	return drain_paths_of(r, &r->paths);
}

/* Events */

/* Reads the command line of a process, if it still has the command name of the record. */
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
	n = fd < 0 ? 0 : read(fd, out, TRACE_NOTE_MAX);
	if (fd >= 0)
		close(fd);
	while (n > 0 && !out[n - 1])
		n--;
	return n > 0 ? n : 0;
}

/* Appends the note of a record: its command line, with blanks between the words. */
static void add_note(const struct recorder *r, struct recorder_stream *s,
		     const char *record, unsigned int cpu)
{
	const char *comm = record + s->comm;
	struct trace_note note = { .magic = TRACE_NOTE_MAGIC, .cpu = cpu };
	char *text = s->notes + s->used_notes + sizeof(note);
	__s64 result;
	__u32 pid;
	size_t i;

	memcpy(&pid, record + s->pid, sizeof(pid));
	memcpy(&result, record + s->result, sizeof(result));
	if (result < 0 || s->used_notes + sizeof(note) + TRACE_NOTE_MAX + 8 > NOTES_MAX)
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

static void hide_port(const struct recorder *r, char *at)
{
	__u16 port;

	memcpy(&port, at, sizeof(port));
	port = anonymize_port(r->anonymizer, port);
	memcpy(at, &port, sizeof(port));
}

static void hide_names(const struct recorder *r, const struct recorder_stream *s,
		       char *record)
{
	unsigned int i;

	for (i = 0; i < s->event->nr_fields; i++) {
		const struct iot_schema_field *f = &s->event->fields[i];

		if (!strcmp(f->kind, "comm"))
			hide_comm(r, record + f->offset);
		else if (!strcmp(f->kind, "ipaddr"))
			anonymize_address(r->anonymizer, record + f->offset);
		else if (!strcmp(f->kind, "port"))
			hide_port(r, record + f->offset);
		else if (!strcmp(f->kind, "sockpath"))
			anonymize_sockpath(r->anonymizer, record + f->offset, f->size);
	}
}

static void look_at_records(const struct recorder *r, struct recorder_stream *s,
			    char *record, const struct iot_stream_block *b)
{
	const char *end = record + b->count * (size_t)s->event->size;
	const __u16 command_op = s->category->command_op;
	__u64 path;
	__u16 op;

	for (; record < end; record += s->event->size) {
		memcpy(&op, record + s->op, sizeof(op));
		if (op == command_op)
			add_note(r, s, record, b->cpu);
		if (r->anonymizer)
			hide_names(r, s, record);
		if (r->busiest && s->has_path) {
			memcpy(&path, record + s->path, sizeof(path));
			busiest_count(r->busiest, path);
		}
	}
}

static __u64 end_of(const struct recorder_stream *s, const char *record)
{
	__u64 began, latency;

	memcpy(&began, record + s->time, sizeof(began));
	memcpy(&latency, record + s->latency, sizeof(latency));
	return began + latency;
}

/*
 * Updates for each CPU the time before which all ended events were read. A CPU's events
 * are read in the order in which they ended, so its last record shows that time. The module
 * serves the CPUs in turns: when the marked CPU is served again, a CPU that was not served
 * in between had no unread events when the turn began.
 */
static void note_turn(struct recorder_stream *s, const struct iot_stream_block *b,
		      const char *records, __u64 time)
{
	const char *last = records + (b->count - 1) * (size_t)s->event->size;
	__u64 end;
	__u32 i;

	if (s->marked && b->cpu == s->mark) {
		for (i = 0; i < s->header.cpus; i++) {
			if (!s->cpus[i].seen && s->cpus[i].read < s->mark_time)
				s->cpus[i].read = s->mark_time;
			s->cpus[i].seen = false;
		}
		s->marked = false;
	}
	if (!s->marked) {
		s->marked = true;
		s->mark = b->cpu;
		s->mark_time = time;
	}
	s->cpus[b->cpu].seen = true;
	if (!b->count)
		return;
	end = end_of(s, last);
	if (end > s->cpus[b->cpu].read)
		s->cpus[b->cpu].read = end;
}

/* A read that left room has returned all events that ended before @time. */
static void note_all(struct recorder_stream *s, __u64 time)
{
	__u32 i;

	for (i = 0; i < s->header.cpus; i++)
		if (s->cpus[i].read < time)
			s->cpus[i].read = time;
	s->marked = false;
}

static __u64 all_read(const struct recorder_stream *s)
{
	__u64 until = ~0ULL;
	__u32 i;

	for (i = 0; i < s->header.cpus; i++)
		if (s->cpus[i].read < until)
			until = s->cpus[i].read;
	return until;
}

static bool is_sane(const struct recorder *r, const struct recorder_stream *s,
		    const struct iot_stream_block *b, size_t length)
{
	return b->magic == IOT_STREAM_BLOCK_MAGIC && b->event == s->event->id &&
	       b->cpu < s->header.cpus && length <= r->writer.size - NOTES_MAX;
}

/* Finds the records of a block that ended in the window: from the *from-th on, before the *to-th. */
static void find_inside(struct recorder_stream *s, const struct iot_stream_block *b,
			const char *records, __u32 *from, __u32 *to)
{
	const size_t size = s->event->size;

	*from = 0;
	*to = b->count;
	while (!s->cpus[b->cpu].begun && *from < b->count &&
	       end_of(s, records + *from * size) < s->begin)
		++*from;
	while (s->end && *to > *from && end_of(s, records + (*to - 1) * size) > s->end)
		--*to;
	s->cpus[b->cpu].begun |= *to > *from;
}

/*
 * Removes the events that ended outside of the window from the block at @at. Events that are
 * missing before a record that ended too early ended too early as well. Returns the bytes left of
 * the block.
 */
static size_t cut_block(struct recorder_stream *s, char *at, struct iot_stream_block *b,
			size_t length)
{
	char *records = at + sizeof(*b), *rest = at + length;
	const char *end = chunk_content(s->chunk) + s->fill;
	size_t size = s->event->size, left;
	__u32 from, to;

	find_inside(s, b, records, &from, &to);
	if (to - from == b->count)
		return length;
	s->outside += b->count - (to - from);
	if (from) {
		s->outside += b->gap;
		b->gap = 0;
	}
	b->first += from;
	b->count = to - from;
	left = b->count || b->gap ? sizeof(*b) + b->count * size : 0;
	if (left) {
		memmove(records, records + from * size, b->count * size);
		memcpy(at, b, sizeof(*b));
	}
	memmove(at + left, rest, end - rest);
	s->fill -= length - left;
	return left;
}

/* @time: a time before the read */
static bool parse_blocks(struct recorder *r, struct recorder_stream *s, __u64 time)
{
	char *content = chunk_content(s->chunk), *at;
	struct iot_stream_block head;
	size_t length;

	while (s->fill - s->whole >= sizeof(head)) {
		at = content + s->whole;
		memcpy(&head, at, sizeof(head));
		length = sizeof(head) + (size_t)head.count * s->event->size;
		if (!is_sane(r, s, &head, length))
			return fail(r, s->file.name, "the module's stream is damaged");
		if (s->fill - s->whole < length)
			break;
		note_turn(s, &head, at + sizeof(head), time);
		if (s->begin && (s->end || !s->cpus[head.cpu].begun))
			length = cut_block(s, at, &head, length);
		if (!length)
			continue;
		if (!s->whole)
			s->since = time;
		receipt_sum(r->receipt, s - r->streams, at + sizeof(head), head.count);
		look_at_records(r, s, at + sizeof(head), &head);
		s->events += head.count;
		s->whole += length;
	}
	return true;
}

static bool flush(struct recorder *r, struct recorder_stream *s)
{
	if (!s->whole)
		return true;
	if (!drain_paths(r))
		return false;
	hand_over(r, s);
	s->until = all_read(s);
	return true;
}

/* Reads once. @more: more may be available at once. */
static bool read_events(struct recorder *r, struct recorder_stream *s, size_t *bytes,
			bool *more)
{
	size_t room = room_of(r, s);
	__u64 time = now();
	ssize_t n = read_some(r, s, chunk_content(s->chunk) + s->fill, room);

	if (n < 0)
		return false;
	s->fill += n;
	*bytes += n;
	*more = (size_t)n > room / 2;
	if (!parse_blocks(r, s, time))
		return false;
	if (!*more)
		note_all(s, time);
	return true;
}

static bool drain_stream(struct recorder *r, struct recorder_stream *s, bool last,
			 size_t *bytes)
{
	const size_t begin = *bytes;
	size_t before;
	bool more;

	do {
		before = *bytes;
		if (room_of(r, s) < (r->writer.size - NOTES_MAX) / 2 && !flush(r, s))
			return false;
		if (!read_events(r, s, bytes, &more))
			return false;
		if (!writer_works(&r->writer))
			return false;
	} while (last ? *bytes > before : more && *bytes - begin < TURN);
	if (last || (s->whole && now() > s->since + AGE_NS))
		return flush(r, s);
	return true;
}

bool recorder_drain(struct recorder *r, bool last, bool *much)
{
	size_t bytes = 0, i;

	for (i = 0; i < r->nr_streams; i++)
		if (!drain_stream(r, &r->streams[i], last, &bytes))
			return false;
	*much = bytes >= CHUNK / 2;
	return writer_works(&r->writer);
}

void recorder_rescue(struct recorder *r)
{
	size_t i;

	if (!r->writer.running)
		return;
	drain_paths(r);
	for (i = 0; i < r->nr_streams && writer_works(&r->writer); i++)
		if (r->streams[i].whole)
			hand_over(r, &r->streams[i]);
}

/* Opening */

static bool header_matches(const struct iot_stream_header *h)
{
	return h->magic == IOT_STREAM_MAGIC && h->version == IOT_STREAM_VERSION &&
	       h->schema == iot_schema_hash();
}

static int check_header(const struct recorder_stream *s, const char *subject, size_t got)
{
	unsigned int layout = s->category ? IOT_LAYOUT_BLOCKS : IOT_LAYOUT_PATHS;
	const struct iot_stream_header *h = &s->header;

	if (!header_matches(h)) {
		cli_say_of(subject, "the module writes stream version %u schema %016llx, this tool reads version %d schema %016llx: install the tool that belongs to the module",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	if (h->layout != layout || h->header_size < sizeof(*h) || h->header_size > got ||
	    (s->event && (h->event != s->event->id || h->record_size != s->event->size))) {
		cli_say_of(subject, "its stream is damaged: layout %u, event %u, records of %u bytes",
			   h->layout, h->event, h->record_size);
		return CLI_FAILED;
	}
	return CLI_OK;
}

/* Does the first read into @to. The header is removed; @left bytes after it stay. */
static int read_header(struct recorder *r, struct recorder_stream *s, const char *subject,
		       char *to, size_t room, size_t *left)
{
	ssize_t n = read_some(r, s, to, room);
	int status;

	if (n < (ssize_t)sizeof(s->header)) {
		cli_say_of(subject, "%s", r->error ? r->error :
			   "its stream ends within the header");
		return CLI_FAILED;
	}
	memcpy(&s->header, to, sizeof(s->header));
	status = check_header(s, subject, n);
	if (status)
		return status;
	*left = n - s->header.header_size;
	memmove(to, to + s->header.header_size, *left);
	return CLI_OK;
}

/* Creates the file and adds it to the writer. */
static int create_file(struct recorder *r, struct recorder_stream *s)
{
	int err = trace_file_create(&s->file.file, r->dir, s->file.name, &s->header, r->level);

	if (err) {
		cli_say_of(s->file.name, "cannot be made: %s", strerror(-err));
		return CLI_FAILED;
	}
	writer_add(&r->writer, &s->file);
	return CLI_OK;
}

static void init_stream(struct recorder *r, struct recorder_stream *s)
{
	*s = (struct recorder_stream){ .fd = -1, .file.file.fd = -1 };
	s->chunk = writer_take(&r->writer);
}

static struct writer_range *new_ranges(size_t nr)
{
	struct writer_range *ranges = xreallocarray(NULL, nr, sizeof(*ranges));

	return memset(ranges, 0, nr * sizeof(*ranges));
}

/* @listing: the module's table has been in use before, and has gaps */
static int open_paths(struct recorder *r, struct recorder_stream *s, bool listing)
{
	int status;

	init_stream(r, s);
	s->listing = listing;
	s->file.name = xstrdup(TRACE_PATHS);
	s->file.ranges = new_ranges(1);
	s->scratch = xreallocarray(NULL, SCRATCH, 1);
	s->fd = proc_open(NULL, "paths", O_RDONLY);
	if (s->fd < 0)
		return proc_explain("paths", NULL, "paths", s->fd);
	status = read_header(r, s, "paths", s->scratch, SCRATCH, &s->raw);
	if (!status)
		status = create_file(r, s);
	/* Take the paths that came with the header, so that there is room for the next read. */
	if (!status && !take_paths(r, s)) {
		cli_say("%s", r->error);
		status = CLI_FAILED;
	}
	return status;
}

/* Events lost before recording began do not count, so their gaps are not written either. */
static void forget_old_gaps(struct recorder_stream *s)
{
	char *content = chunk_content(s->chunk);
	struct iot_stream_block head;
	size_t at;

	for (at = 0; at < s->whole; at += sizeof(head) + head.count * (size_t)s->event->size) {
		memcpy(&head, content + at, sizeof(head));
		if (head.count)
			continue;
		head.gap = 0;
		memcpy(content + at, &head, sizeof(head));
	}
}

static void find_fields(struct recorder_stream *s)
{
	const struct iot_schema_field *path = record_field(s->event, "path");

	s->op = record_field(s->event, "op")->offset;
	s->comm = record_field(s->event, "comm")->offset;
	s->pid = record_field(s->event, "pid")->offset;
	if (s->category->command_op != NO_OP)
		s->result = record_field(s->event, "result")->offset;
	s->time = record_field(s->event, "time")->offset;
	s->latency = record_field(s->event, "latency")->offset;
	s->has_path = path;
	if (path)
		s->path = path->offset;
}

static int open_stream(struct recorder *r, struct recorder_stream *s,
		       const struct category *category)
{
	int status;

	s->category = category;
	s->event = category_event(category);
	find_fields(s);
	s->file.name = xasprintf("%s.iot", category->name);
	s->notes = xreallocarray(NULL, NOTES_MAX, 1);
	s->fd = proc_open(category->name, "stream", O_RDONLY);
	if (s->fd < 0)
		return control_explain(category->name, "stream", s->fd);
	status = read_header(r, s, category->name, chunk_content(s->chunk), room_of(r, s),
			     &s->fill);
	if (status)
		return status;
	s->file.cpus = s->header.cpus;
	s->file.record = s->event->size;
	s->file.lost_by_cpu = xreallocarray(NULL, s->header.cpus, sizeof(__u64));
	memset(s->file.lost_by_cpu, 0, s->header.cpus * sizeof(__u64));
	s->file.ranges = new_ranges(s->header.cpus);
	s->cpus = xreallocarray(NULL, s->header.cpus, sizeof(*s->cpus));
	memset(s->cpus, 0, s->header.cpus * sizeof(*s->cpus));
	status = create_file(r, s);
	if (!status && !parse_blocks(r, s, 0)) {
		cli_say("%s", r->error);
		status = CLI_FAILED;
	}
	if (!status)
		forget_old_gaps(s);
	return status;
}

static size_t chunk_size(const struct recorder *r)
{
	__u64 whole = r->limit ? r->limit : r->chunks_of;
	__u64 size = whole ? whole / CHUNKS_A_LIMIT : CHUNK;

	if (size > CHUNK)
		return CHUNK;
	return size < CHUNK_LEAST ? CHUNK_LEAST : size;
}

int recorder_open(struct recorder *r, const struct category *const *chosen, size_t nr)
{
	int status;
	size_t i;

	if (!writer_start(&r->writer, chunk_size(r) + NOTES_MAX, r->limit))
		return CLI_FAILED;
	r->comms = xreallocarray(NULL, COMMS, sizeof(*r->comms));
	memset(r->comms, 0, COMMS * sizeof(*r->comms));
	r->streams = xreallocarray(NULL, nr, sizeof(*r->streams));
	status = open_paths(r, &r->paths, false);
	for (i = 0; !status && i < nr; i++) {
		init_stream(r, &r->streams[i]);
		r->nr_streams = i + 1;
		status = open_stream(r, &r->streams[i], chosen[i]);
	}
	return status;
}

static void finish_file(struct recorder *r, struct recorder_stream *s)
{
	int err = trace_file_close(&s->file.file);

	if (err)
		fail(r, s->file.name, strerror(-err));
}

void recorder_finish(struct recorder *r)
{
	size_t i;

	writer_finish(&r->writer);
	if (r->writer.error && !r->error)
		r->error = xstrdup(r->writer.error);
	for (i = 0; i < r->nr_streams; i++)
		finish_file(r, &r->streams[i]);
	finish_file(r, &r->paths);
}

static void close_stream(struct recorder *r, struct recorder_stream *s)
{
	trace_file_close(&s->file.file);
	if (s->chunk)
		writer_give(&r->writer, s->chunk);
	if (s->fd >= 0)
		close(s->fd);
	free(s->notes);
	free(s->scratch);
	free(s->cpus);
	free(s->file.lost_by_cpu);
	free(s->file.ranges);
	free(s->file.name);
}

void recorder_close(struct recorder *r)
{
	size_t i;

	writer_finish(&r->writer);
	for (i = 0; i < r->nr_streams; i++)
		close_stream(r, &r->streams[i]);
	close_stream(r, &r->paths);
	writer_free(&r->writer);
	free(r->streams);
	free(r->comms);
	busiest_free(r->busiest);
	r->busiest = NULL;
	free(r->error);
	r->nr_streams = 0;
}

/*
 * Opens the table of paths again, and writes its present content. A path whose id is not in the
 * table is not lost, because no later event refers to it.
 */
static bool list_paths(struct recorder *r, struct recorder_stream *next)
{
	if (!drain_paths(r))
		return false;
	if (open_paths(r, next, true) || !drain_paths_of(r, next))
		return fail(r, TRACE_PATHS, "the paths of the next trace cannot be read");
	next->listing = false;
	if (next->next_path < r->paths.next_path)
		next->next_path = r->paths.next_path;
	return true;
}

/* Reads all events that ended before @time, and gives them to the writer. */
static bool drain_until(struct recorder *r, struct recorder_stream *s, __u64 time)
{
	size_t bytes = 0;
	bool more;

	do {
		if (room_of(r, s) < (r->writer.size - NOTES_MAX) / 2 && !flush(r, s))
			return false;
		if (!read_events(r, s, &bytes, &more) || !writer_works(&r->writer))
			return false;
	} while (all_read(s) < time);
	return flush(r, s);
}

/* Waits until the writer has written everything, and closes the files. */
static bool close_files(struct recorder *r)
{
	recorder_finish(r);
	return !r->error;
}

/* Creates a new file for the events that follow. */
static bool begin_file(struct recorder *r, struct recorder_stream *s)
{
	struct writer_file *f = &s->file;

	f->events = 0;
	f->lost = 0;
	memset(f->lost_by_cpu, 0, f->cpus * sizeof(*f->lost_by_cpu));
	memset(f->ranges, 0, f->cpus * sizeof(*f->ranges));
	return !create_file(r, s) || fail(r, f->name, "cannot be made");
}

bool recorder_next(struct recorder *r, void (*done)(void *data), void *data)
{
	struct recorder_stream next = { .fd = -1, .file.file.fd = -1 };
	bool good = list_paths(r, &next);
	__u64 time = now();
	size_t i;

	for (i = 0; good && i < r->nr_streams; i++)
		good = drain_until(r, &r->streams[i], time);
	/* the writer refers to the files until it has written them */
	if (!close_files(r) || !good) {
		close_stream(r, &next);
		return false;
	}
	done(data);
	close_stream(r, &r->paths);
	r->paths = next;
	r->writer.bytes = r->paths.file.bytes;
	for (i = 0; good && i < r->nr_streams; i++)
		good = begin_file(r, &r->streams[i]);
	return writer_restart(&r->writer) && good;
}
