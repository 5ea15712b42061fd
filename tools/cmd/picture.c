// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/picture.h"

#define ENDING ".svg"

void picture_check(struct argp_state *state, const char *output, const struct option_parser *given)
{
	size_t length = output ? strlen(output) : 0;

	if (!output || !strcmp(output, "-"))
		length = 0;
	else if (length <= strlen(ENDING) || strcmp(output + length - strlen(ENDING), ENDING))
		cli_usage(state, "--output=%s: a picture is SVG: say a name that ends in " ENDING, output);
	if (output && option_given(given, "format"))
		cli_usage(state, "--output makes a picture instead of --format=%s: say one of them",
			  option_given(given, "format"));
}

int picture_open(struct picture *p, const char *output)
{
	*p = (struct picture){ .open = output };
	if (!output)
		return CLI_OK;
	svg_open(&p->svg);
	return new_file_open(&p->file, output, true);
}

static int write_picture(struct picture *p, const char *subject, const char *source)
{
	char *shown = text_show(source, strlen(source)), *description;

	if (p->svg.full) {
		free(shown);
		cli_say_of(p->file.path, "would show more than %u values: say a larger --bucket or --interval, or a smaller --top",
			   SVG_MARKS);
		return CLI_FAILED;
	}
	description = xasprintf("%s: %s, drawn by iotracer", subject, shown);
	svg_write(&p->svg, p->file.stream, subject, description);
	free(description);
	free(shown);
	return new_file_publish(&p->file);
}

int picture_finish(struct picture *p, int status, const char *subject, const char *source)
{
	if (!p->open)
		return status;
	if (p->svg.height > 0)
		status = cli_merge(status, write_picture(p, subject, source));
	svg_close(&p->svg);
	new_file_close(&p->file);
	return status;
}
