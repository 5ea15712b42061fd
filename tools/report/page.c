// SPDX-License-Identifier: GPL-2.0
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "report/assets.h"
#include "report/page.h"

/* In the order in which they run. */
static const struct asset *const scripts[] = {
	&asset_d3, &asset_plot, &asset_data, &asset_time, &asset_charts, &asset_sizes, &asset_tables,
	&asset_flame, &asset_cache, &asset_durability, &asset_drives, &asset_app,
};

#define NR_SCRIPTS (sizeof(scripts) / sizeof(scripts[0]))

static void put_text(FILE *to, const struct asset *a)
{
	fwrite(a->text, 1, a->end - a->text, to);
}

/* 'sha256-...' of each script, as a content security policy has them. */
static void put_hashes(FILE *to)
{
	char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	size_t i;

	for (i = 0; i < NR_SCRIPTS; i++) {
		sha256_init(&ctx);
		sha256_update(&ctx, scripts[i]->end - scripts[i]->text, (const uint8_t *)scripts[i]->text);
		sha256_digest(&ctx, sizeof(digest), digest);
		base64_encode_raw(text, sizeof(digest), digest);
		fprintf(to, " 'sha256-%.*s'", (int)sizeof(text), text);
	}
}

static void put_scripts(FILE *to)
{
	size_t i;

	for (i = 0; i < NR_SCRIPTS; i++) {
		fputs("<script>", to);
		put_text(to, scripts[i]);
		fputs("</script>\n", to);
	}
}

/* With 15 digits, as a double holds any number of 15 digits. */
static void put_document(FILE *to, const json_t *document)
{
	char *text = xchecked(json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15)));
	const char *p = text;
	size_t length;

	for (;;) {
		length = strcspn(p, "<>&");
		fwrite(p, 1, length, to);
		p += length;
		if (!*p)
			break;
		fprintf(to, "\\u%04x", *p++);
	}
	free(text);
}

static void put_named(FILE *to, const char *name, size_t length, const json_t *document)
{
	if (!strncmp(name, "style", length))
		put_text(to, &asset_style);
	else if (!strncmp(name, "hashes", length))
		put_hashes(to);
	else if (!strncmp(name, "licences", length))
		put_text(to, &asset_licences);
	else if (!strncmp(name, "document", length))
		put_document(to, document);
	else if (!strncmp(name, "scripts", length))
		put_scripts(to);
}

void page_write(FILE *to, const json_t *document)
{
	const char *p = asset_page.text, *begin, *end;

	while ((begin = memmem(p, asset_page.end - p, "{{", 2))) {
		end = memmem(begin, asset_page.end - begin, "}}", 2);
		fwrite(p, 1, begin - p, to);
		put_named(to, begin + 2, end - begin - 2, document);
		p = end + 2;
	}
	fwrite(p, 1, asset_page.end - p, to);
}
