// SPDX-License-Identifier: GPL-2.0
/* The packets of a Perfetto trace, and the strings that they name by number. */
#include <string.h>

#include "base/protobuf.h"
#include "trace/perfetto_parts.h"

char *perfetto_packet(struct perfetto *p, __u64 time)
{
	char *out = protobuf_open(output_row(&p->output), TRACE_PACKET);

	if (time)
		out = protobuf_u64(out, PACKET_TIMESTAMP, time < PERFETTO_MOST_TIME ? time : PERFETTO_MOST_TIME);
	out = protobuf_u64(out, PACKET_SEQUENCE, PERFETTO_SEQUENCE);
	return protobuf_u64(out, PACKET_FLAGS, FLAG_NEEDED);
}

bool perfetto_packet_end(struct perfetto *p, char *end)
{
	char *content = output_row(&p->output) + 1 + PROTOBUF_LENGTH;

	if (!p->failed && !output_put(&p->output, protobuf_close(content, end)))
		p->failed = true;
	return !p->failed;
}

void perfetto_intern(struct perfetto *p, unsigned int as, __u64 number, const char *text,
		     size_t length)
{
	char *out = protobuf_open(perfetto_packet(p, 0), PACKET_INTERNED), *content = out, *entry;

	entry = protobuf_open(out, as);
	out = protobuf_u64(entry, INTERNED_NUMBER, number);
	out = protobuf_bytes(out, INTERNED_BYTES, text, length);
	perfetto_packet_end(p, protobuf_close(content, protobuf_close(entry, out)));
}

__u32 perfetto_word(struct perfetto *p, const char *word, unsigned int as)
{
	size_t length = strlen(word), before = p->words.nr;
	char key[256];
	__u32 number;

	if (length > sizeof(key) - 1)
		length = sizeof(key) - 1;
	key[0] = as;
	memcpy(key + 1, word, length);
	number = intern_add(&p->words, key, length + 1) + 1;
	if (p->words.nr > before)
		perfetto_intern(p, as, number, word, length);
	return number;
}
