/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For columns.py wrong: compiled into tools/trace/row.c by columns.bats, which calls
 * wrong_column() for what each column shows, from @out to @end. WRONG_COLUMN="HOW NAME" makes
 * column NAME wrong: "other" shows another value, "none" 0 or nothing, of the same type.
 */
#include <ctype.h>

static bool is_number(const char *text, const char *end)
{
	for (text += text < end && *text == '-'; text < end; text++)
		if (!isdigit((unsigned char)*text) && *text != '.')
			return false;
	return true;
}

static char *wrong_column(const struct row_printer *p, const struct row_column *c, char *out, char *end)
{
	const char *wrong = getenv("WRONG_COLUMN");
	const char *name = wrong ? strchr(wrong, ' ') : NULL;
	bool number = out < end && is_number(out, end);
	const char *text;

	if (!name || strcmp(name + 1, c->name))
		return end;
	if (!strncmp(wrong, "none ", 5))
		text = number ? "0" : "";
	else
		text = number ? "987654" : "wrong";
	if (number)
		return out + sprintf(out, "%s", text);
	return out + sprintf(out, p->json ? "\"%s\"" : "%s", text);
}
