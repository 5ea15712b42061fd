// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a directory like /proc/iotracer with many events of category fs, for
 * tests and measurements of the tool: many-events DIRECTORY EVENTS CPUS PATHS [BEGIN]. The
 * first event is at BEGIN ns of the monotonic clock; default: at one second.
 *
 * Of ten events six are reads or writes; the others are an open, a close, a stat
 * and a mapping. The time of a CPU rises by some microseconds per event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/schema.h"

#define BLOCK 512	/* records */

static unsigned long long state = 88172645463325252ULL;
static __u64 begin = 1000000000;

/* xorshift, so that each run writes the same events */
static unsigned int any(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

static FILE *create(const char *directory, const char *name, __u32 layout, __u32 cpus)
{
	struct iot_stream_header h = {
		.magic = IOT_STREAM_MAGIC, .version = IOT_STREAM_VERSION,
		.header_size = sizeof(h), .schema = iot_schema_hash(), .layout = layout,
		.event = layout == IOT_LAYOUT_BLOCKS ? IOT_EVENT_ID_FS : 0,
		.record_size = layout == IOT_LAYOUT_BLOCKS ? sizeof(struct iot_fs) : 0,
		.cpus = cpus,
	};
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	if (!f || !fwrite(&h, sizeof(h), 1, f)) {
		perror(path);
		exit(1);
	}
	return f;
}

static void write_paths(const char *directory, unsigned int paths)
{
	FILE *f = create(directory, "paths", IOT_LAYOUT_PATHS, 0);
	struct iot_path_record p = { .device = 0xfd00001 };
	char text[128];

	for (p.id = 1; p.id <= paths; p.id++) {
		memset(text, 0, sizeof(text));
		p.inode = 1000 + p.id;
		p.length = sprintf(text, "/srv/data/project-%03llu/results/run_%06llu.parquet",
				   p.id % 500, p.id);
		fwrite(&p, sizeof(p), 1, f);
		fwrite(text, (p.length + 7) & ~7u, 1, f);
	}
	if (fclose(f))
		exit(1);
}

static void fill(struct iot_fs *e, unsigned int cpu, __u64 time, unsigned int paths)
{
	static const __u16 ops[] = {
		IOT_FS_READ, IOT_FS_READ, IOT_FS_READ, IOT_FS_WRITE, IOT_FS_WRITE,
		IOT_FS_DIO_READ, IOT_FS_OPEN, IOT_FS_CLOSE, IOT_FS_GETATTR, IOT_FS_MMAP,
	};
	static const char names[][16] = { "postgres", "fio", "python3", "kworker/u8:2" };
	unsigned int who = any(4);

	*e = (struct iot_fs){
		.time = time, .latency = 500 + any(2000), .op = ops[any(10)], .cpu = cpu,
		.offset = 4096ULL * any(1 << 20), .requested = 4096, .result = 4096,
		.path = 1 + any(paths), .cgroup = 4321, .device = 0xfd00001,
		.pid = 1200 + who, .tid = 1200 + who + any(8), .ppid = 1, .uid = 1000,
		.fd = 3 + any(60), .sample = 1, .kind = IOT_KIND_FILE,
	};
	e->inode = 1000 + e->path;
	memcpy(e->comm, names[who], sizeof(e->comm));
	if (e->op == IOT_FS_MMAP) {
		e->flags = 2;
		e->flags2 = 3;
		e->address = 0x7f0000000000ULL + 4096ULL * any(1 << 20);
	}
	if (e->op == IOT_FS_OPEN)
		e->flags = 0x8002;
}

static void write_events(const char *directory, unsigned long long events,
			 unsigned int cpus, unsigned int paths)
{
	FILE *f = create(directory, "stream", IOT_LAYOUT_BLOCKS, cpus);
	unsigned long long *next = calloc(cpus, sizeof(*next));
	__u64 *time = calloc(cpus, sizeof(*time));
	unsigned int cpu = 0;
	struct iot_fs e;

	while (next && time && events) {
		unsigned int count = events < BLOCK ? events : BLOCK, i;
		struct iot_stream_block b = { IOT_STREAM_BLOCK_MAGIC, cpu, IOT_EVENT_ID_FS, count, next[cpu], 0 };

		fwrite(&b, sizeof(b), 1, f);
		for (i = 0; i < count; i++) {
			time[cpu] += 2600 + any(400);
			fill(&e, cpu, begin + time[cpu], paths);
			e.seq = next[cpu]++;
			time[cpu] += e.latency;
			fwrite(&e, sizeof(e), 1, f);
		}
		events -= count;
		cpu = (cpu + 1) % cpus;
	}
	free(next);
	free(time);
	if (fclose(f))
		exit(1);
}

int main(int argc, char **argv)
{
	char path[4096];
	unsigned long long events;
	unsigned int cpus, paths;
	FILE *f;

	if (argc != 5 && argc != 6)
		return 2;
	if (argc == 6)
		begin = strtoull(argv[5], NULL, 10);
	events = strtoull(argv[2], NULL, 10);
	cpus = atoi(argv[3]);
	paths = atoi(argv[4]);
	snprintf(path, sizeof(path), "%s/fs", argv[1]);
	mkdir(argv[1], 0755);
	mkdir(path, 0755);
	write_paths(argv[1], paths);
	write_events(path, events, cpus, paths);
	snprintf(path, sizeof(path), "%s/fs/control", argv[1]);
	f = fopen(path, "w");
	if (!f)
		return 1;
	fputs("stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n", f);
	return fclose(f) ? 1 : 0;
}
