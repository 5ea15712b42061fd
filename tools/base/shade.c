// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/scaled.h"
#include "base/shade.h"
#include "base/terminal.h"

#define BLOCKS 4

static const char *const blocks[BLOCKS] = { "░", "▒", "▓", "█" };
static const char characters[SHADES_MOST + 1] = ".:-=+*%@";

/* Of the 256 colours of xterm; each is brighter than the one before it, also to the colour-blind. */
static const unsigned char palette[SHADES_MOST] = { 54, 61, 31, 36, 77, 149, 190, 226 };

/* --- counts --------------------------------------------------------------------- */

/* The highest bit of a number that is not 0. */
static unsigned int log2_of(__u64 n)
{
	return 63 - __builtin_clzll(n);
}

struct shades shades_of(__u64 most, unsigned int levels)
{
	unsigned int highest = most ? log2_of(most) : 0;
	struct shades s = { .bits = highest / levels + 1 };

	s.nr = highest / s.bits + 1;
	return s;
}

struct shades shades_for(__u64 most)
{
	return shades_of(most, terminal_is_utf8() && !terminal_has_palette() ? BLOCKS : SHADES_MOST);
}

int shade_of(const struct shades *s, __u64 count)
{
	return count ? (int)(log2_of(count) / s->bits) : SHADE_NONE;
}

__u64 shade_least(const struct shades *s, unsigned int shade)
{
	return 1ULL << (shade * s->bits);
}

/* --- text ----------------------------------------------------------------------- */

static void put_character(int shade)
{
	if (shade == SHADE_NONE)
		putchar(' ');
	else if (!terminal_is_utf8())
		putchar(characters[shade]);
	else if (terminal_has_palette())
		fputs(blocks[shade * BLOCKS / SHADES_MOST], stdout);
	else
		fputs(blocks[shade], stdout);
}

void shade_put(const int *shades, unsigned int nr)
{
	int color = SHADE_NONE;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (terminal_has_palette() && shades[i] != color) {
			color = shades[i];
			if (color == SHADE_NONE)
				fputs("\033[0m", stdout);
			else
				printf("\033[38;5;%u;48;5;%um", palette[color], palette[color]);
		}
		put_character(shades[i]);
	}
	if (color != SHADE_NONE)
		fputs("\033[0m", stdout);
}

void shade_put_legend(const struct shades *s)
{
	char text[SCALED];
	unsigned int i;

	putchar(' ');
	for (i = 0; i < s->nr; i++) {
		const int shade = i;

		putchar(' ');
		shade_put(&shade, 1);
		printf(" %s", scaled_number(text, shade_least(s, i)));
	}
	putchar('\n');
}
