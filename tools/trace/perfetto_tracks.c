// SPDX-License-Identifier: GPL-2.0
/* The tracks of a Perfetto trace: which there are, and the packets that describe them. */
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/check.h"
#include "trace/perfetto_parts.h"
#include "trace/record.h"

#define SHOWN_COMM (4 * PERFETTO_COMM + 64)	/* bytes of a name as it is shown */

/* The number of a track. *new: it is to be described. */
static __u32 find(struct perfetto *p, const struct perfetto_key *key, bool *new)
{
	size_t before = p->keys.nr;
	__u32 track = intern_add(&p->keys, key, sizeof(*key));

	*new = p->keys.nr > before;
	if (!*new)
		return track;
	if (track == PERFETTO_MOST_TRACKS) {
		cli_say_of(p->check->trace, "has more than %u threads and other tracks: select some with --filter or --from and --to",
			   PERFETTO_MOST_TRACKS);
		p->failed = true;
		return PERFETTO_NO_TRACK;
	}
	if (track == p->room_tracks) {
		p->room_tracks = 2 * p->room_tracks + 64;
		p->tracks = xreallocarray(p->tracks, p->room_tracks, sizeof(*p->tracks));
	}
	p->tracks[track] = (struct perfetto_track){ .uuid = perfetto_uuid(track) };
	return track;
}

/* A packet that describes a track. The caller adds to it, and ends it with end_track(). */
static char *begin_track(struct perfetto *p, __u32 track, __u32 parent, char **content)
{
	char *out = protobuf_open(perfetto_packet(p, 0), PACKET_TRACK);

	*content = out;
	out = protobuf_u64(out, TRACK_UUID, perfetto_uuid(track));
	return parent == PERFETTO_NO_TRACK ? out : protobuf_u64(out, TRACK_PARENT, perfetto_uuid(parent));
}

static bool end_track(struct perfetto *p, char *content, char *end)
{
	return perfetto_packet_end(p, protobuf_close(content, end));
}

static __u32 find_named(struct perfetto *p, const struct perfetto_key *key, __u32 parent, const char *name)
{
	char *content, *out;
	bool new;
	__u32 track = find(p, key, &new);

	if (!new || track == PERFETTO_NO_TRACK)
		return track;
	out = begin_track(p, track, parent, &content);
	end_track(p, content, protobuf_text(out, TRACK_NAME, name));
	return track;
}

static void describe_process(struct perfetto *p, __u32 track, __u32 pid, const char *name, size_t length)
{
	char *content, *process;
	char *out = begin_track(p, track, PERFETTO_NO_TRACK, &content);

	process = protobuf_open(out, TRACK_PROCESS);
	out = protobuf_u64(process, PROCESS_PID, pid);
	out = protobuf_bytes(out, PROCESS_NAME, name, length);
	end_track(p, content, protobuf_close(process, out));
}

static void describe_thread(struct perfetto *p, __u32 track, __u32 process, __u32 pid, __u32 tid,
			    const char *name, size_t length)
{
	char *content, *thread;
	char *out = begin_track(p, track, process, &content);

	thread = protobuf_open(out, TRACK_THREAD);
	out = protobuf_u64(thread, THREAD_PID, pid);
	out = protobuf_u64(out, THREAD_TID, tid);
	out = protobuf_bytes(out, THREAD_NAME, name, length);
	end_track(p, content, protobuf_close(thread, out));
}

/* A process has the name of its first thread, or of another one while there is nothing of that. */
static void describe(struct perfetto *p, __u32 track, __u32 pid, __u32 tid, const void *record)
{
	const struct perfetto_key key = { .kind = TRACK_OF_PROCESS, .a = pid };
	char name[SHOWN_COMM];
	size_t length;
	__u32 process;
	bool new;

	length = p->comm->put(&p->printer, p->comm, name, record) - name;
	process = find(p, &key, &new);
	if (process == PERFETTO_NO_TRACK)
		return;
	if (new || tid == pid)
		describe_process(p, process, pid, name, length);
	describe_thread(p, track, process, pid, tid, name, length);
}

static __u32 number(const void *record, const struct iot_schema_field *f)
{
	return record_scalar(record, f->offset, f->size);
}

__u32 perfetto_thread(struct perfetto *p, const void *record)
{
	struct perfetto_key key = { .kind = TRACK_OF_THREAD };
	const char *comm = (const char *)record + p->comm->offset;
	__u32 track;
	bool new;

	key.a = number(record, p->pid);
	key.b = number(record, p->tid);
	if (!key.b)
		return find_named(p, &key, PERFETTO_NO_TRACK, "no thread");
	track = find(p, &key, &new);
	if (track == PERFETTO_NO_TRACK)
		return track;
	if (new || memcmp(p->tracks[track].comm, comm, PERFETTO_COMM)) {
		memcpy(p->tracks[track].comm, comm, PERFETTO_COMM);
		describe(p, track, key.a, key.b, record);
	}
	return track;
}

__u32 perfetto_of_category(struct perfetto *p, const void *record)
{
	struct perfetto_key key = {
		.kind = TRACK_OF_CATEGORY, .a = number(record, p->pid), .b = number(record, p->tid),
		.category = p->category->event_id,
	};
	__u32 thread = perfetto_thread(p, record);

	if (thread == PERFETTO_NO_TRACK)
		return thread;
	return find_named(p, &key, thread, p->category->name);
}

__u32 perfetto_disk(struct perfetto *p, const char *name, size_t length)
{
	struct perfetto_key key = { .kind = TRACK_OF_DISK };
	char *content, *out, *shown;
	__u32 track;
	bool new;

	memcpy(key.name, name, length);
	track = find(p, &key, &new);
	if (!new || track == PERFETTO_NO_TRACK)
		return track;
	shown = text_show(name, length);
	out = begin_track(p, track, PERFETTO_NO_TRACK, &content);
	out = protobuf_text(out, TRACK_NAME, length ? shown : "unknown disk");
	end_track(p, content, protobuf_u64(out, TRACK_ORDERING, ORDERING_EXPLICIT));
	free(shown);
	return track;
}

__u32 perfetto_depth(struct perfetto *p, __u32 disk)
{
	const struct perfetto_key key = { .kind = TRACK_OF_DEPTH, .a = disk };
	char *content, *counter, *out;
	bool new;
	__u32 track = find(p, &key, &new);

	if (!new || track == PERFETTO_NO_TRACK)
		return track;
	out = begin_track(p, track, disk, &content);
	out = protobuf_text(out, TRACK_NAME, "requests in queue and device");
	counter = protobuf_open(out, TRACK_COUNTER);
	out = protobuf_close(counter, protobuf_u64(counter, COUNTER_UNIT, UNIT_COUNT));
	end_track(p, content, protobuf_u64(out, TRACK_RANK, 0));
	return track;
}

__u32 perfetto_lane(struct perfetto *p, __u32 track, __u32 lane)
{
	const struct perfetto_key key = {
		.kind = TRACK_OF_LANE, .a = track, .b = lane, .category = p->category->event_id,
	};
	char *content, *name, *out;
	__u32 found;
	bool new;

	if (!lane && p->tracks[track].lanes.nests)
		return track;
	found = find(p, &key, &new);
	if (!new || found == PERFETTO_NO_TRACK)
		return found;
	name = xasprintf("%s, slot %u", p->category->name, lane + !p->tracks[track].lanes.nests);
	out = begin_track(p, found, track, &content);
	out = protobuf_text(out, TRACK_NAME, name);
	end_track(p, content, protobuf_u64(out, TRACK_RANK, lane + 1));
	free(name);
	return found;
}

__u32 perfetto_missing(struct perfetto *p)
{
	const struct perfetto_key key = { .kind = TRACK_OF_MISSING };

	return find_named(p, &key, PERFETTO_NO_TRACK, "iotracer: what is missing");
}

void perfetto_free_tracks(struct perfetto *p)
{
	size_t i;

	for (i = 0; i < p->keys.nr && i < PERFETTO_MOST_TRACKS; i++) {
		lanes_free(&p->tracks[i].lanes);
		depth_free(&p->tracks[i].depth);
	}
	free(p->tracks);
	intern_free(&p->keys);
}
