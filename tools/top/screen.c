// SPDX-License-Identifier: GPL-2.0
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "top/draw.h"
#include "top/screen.h"

#define LOOK_MS		100	/* between two looks for events */
#define ESC_MS		25	/* after Esc, a key's sequence comes within this time */
#define ESC		27

struct screen {
	struct top *top;
	struct top_detail detail;
	struct top_draw draw;
	bool ends;
	int status;
};

/* --- the terminal --------------------------------------------------------------------- */

static struct termios before;
static char leave[256];		/* what a terminal is sent in the end */
static SCREEN *terminal;

static void restore(void)
{
	if (terminal && !isendwin())
		endwin();
}

/* After a fault nothing of curses can be called. */
static void crashed(int number)
{
	if (write(STDOUT_FILENO, leave, strlen(leave)) < 0)
		_exit(CLI_FAILED);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	raise(number);		/* SA_RESETHAND has made it fatal */
}

static void add_leave(const char *sequence)
{
	size_t used = strlen(leave);

	if (sequence && sequence != (const char *)-1)
		snprintf(leave + used, sizeof(leave) - used, "%s", sequence);
}

static void catch_crashes(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_RESETHAND | SA_NODEFER };
	size_t i;

	add_leave(tigetstr("sgr0"));
	add_leave(tigetstr("cnorm"));
	add_leave(tigetstr("rmcup"));
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static int open_terminal(void)
{
	const char *name = getenv("TERM");

	tcgetattr(STDIN_FILENO, &before);
	setlocale(LC_CTYPE, "");
	set_escdelay(ESC_MS);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		cli_say("the terminal \"%s\" is not known, so no screen can be drawn: set TERM, or say --once",
			name ? name : "");
		return CLI_FAILED;
	}
	atexit(restore);
	catch_crashes();
	cbreak();
	noecho();
	keypad(stdscr, true);
	curs_set(0);
	top_draw_init();
	return CLI_OK;
}

/* --- messages ------------------------------------------------------------------------- */

/* A message would spoil the picture: the last one is shown in it. */
static void take_message(void *data, const char *line)
{
	struct screen *s = data;

	snprintf(s->draw.message, sizeof(s->draw.message), "%s", line);
}

/* --- keys ----------------------------------------------------------------------------- */

static void show_view(struct screen *s, size_t number)
{
	top_detail_close(&s->detail);
	s->draw.page = TOP_TABLE;
	s->draw.cursor = 0;
	*s->draw.message = '\0';
	/* an error is in the message, and the view stays */
	top_change(s->top, &top_views[number]);
}

static void sort_by(struct screen *s, int step)
{
	static const enum top_sort order[] = {
		TOP_BY_OPS, TOP_BY_READ, TOP_BY_BYTES, TOP_BY_WRITE, TOP_BY_P50, TOP_BY_P99, TOP_BY_MISSES,
		TOP_BY_DEVICE, TOP_BY_NAME,
	};
	struct top_list *l = &s->top->list;
	size_t i;

	for (i = 0; order[i] != l->sort; i++)
		;
	l->sort = order[(i + TOP_SORTS + step) % TOP_SORTS];
	top_list_make(l, s->top->shown);
}

static void look_closely(struct screen *s)
{
	const struct top_list *l = &s->top->list;

	if (s->draw.cursor >= l->nr)
		return;
	top_detail_open(&s->detail, top_sums_key(&s->top->shown->sums, l->rows[s->draw.cursor]));
	top_detail_add(&s->detail, s->top->source, s->top->shown);
	s->draw.page = TOP_DETAIL;
}

static void go_back(struct screen *s)
{
	if (s->draw.page != TOP_TABLE) {
		s->draw.page = TOP_TABLE;
		top_detail_close(&s->detail);
	} else if (*s->top->list.filter) {
		*s->top->list.filter = '\0';
		top_list_make(&s->top->list, s->top->shown);
	}
}

/* The text of a filter, a byte at a time; those of a character of UTF-8 come one after another. */
static void type(struct screen *s, int key)
{
	char *filter = s->top->list.filter;
	size_t length = strlen(filter);

	if (key == '\n' || key == KEY_ENTER || key == ESC) {
		s->draw.is_typing = false;
		if (key == ESC)
			*filter = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length) {
		do {
			filter[--length] = '\0';
		} while (length && (filter[length] & 0xc0) == 0x80);
	} else if (key >= ' ' && key < 256 && key != 127 && length < TOP_FILTER - 1) {
		filter[length] = key;
		filter[length + 1] = '\0';
	}
	s->draw.cursor = 0;
	top_list_make(&s->top->list, s->top->shown);
}

static void turn(struct screen *s, bool show)
{
	int status = top_turn(s->top, show);

	if (status) {
		s->status = status;
		s->ends = true;
	} else if (show && s->detail.key) {
		top_detail_add(&s->detail, s->top->source, s->top->shown);
	}
}

/* Of a trace: another interval. */
static void step(struct screen *s, int by)
{
	struct top *t = s->top;
	__u64 back = (__u64)(1 - by) * t->interval;

	if (t->source->is_live)
		return;
	t->at = t->at > back ? t->at - back : 0;
	top_list_forget(&t->list);
	turn(s, true);
}

static void move_cursor(struct screen *s, long by)
{
	long cursor = (long)s->draw.cursor + by, last = (long)s->top->list.nr - 1;

	cursor = cursor > last ? last : cursor;
	s->draw.cursor = cursor < 0 ? 0 : cursor;
}

static bool handle_move(struct screen *s, int key)
{
	const long page = top_draw_rows(), all = (long)s->top->list.nr;

	switch (key) {
	case KEY_UP: case 'k':
		return move_cursor(s, -1), true;
	case KEY_DOWN: case 'j':
		return move_cursor(s, 1), true;
	case KEY_PPAGE:
		return move_cursor(s, -page), true;
	case KEY_NPAGE:
		return move_cursor(s, page), true;
	case KEY_HOME: case 'g':
		return move_cursor(s, -all), true;
	case KEY_END: case 'G':
		return move_cursor(s, all), true;
	case KEY_LEFT:
		return step(s, -1), true;
	case KEY_RIGHT:
		return step(s, 1), true;
	}
	return false;
}

static void handle(struct screen *s, int key)
{
	if (key == KEY_RESIZE)
		return;
	if (s->draw.is_typing) {
		type(s, key);
		return;
	}
	if (handle_move(s, key))
		return;
	if (key >= '1' && key < '1' + TOP_VIEWS) {
		show_view(s, key - '1');
		return;
	}
	switch (key) {
	case 'q': case 'Q':
		s->ends = true;
		break;
	case '\t':
		show_view(s, (s->top->view - top_views + 1) % TOP_VIEWS);
		break;
	case '<': case '>':
		sort_by(s, key == '<' ? -1 : 1);
		break;
	case 'r':
		s->top->list.is_reversed = !s->top->list.is_reversed;
		top_list_make(&s->top->list, s->top->shown);
		break;
	case '/':
		s->draw.is_typing = s->draw.page == TOP_TABLE;
		break;
	case ' ': case 'p':
		s->draw.is_frozen = !s->draw.is_frozen;
		break;
	case '\n': case KEY_ENTER:
		look_closely(s);
		break;
	case ESC:
		go_back(s);
		break;
	case '?': case 'h':
		s->draw.page = TOP_HELP;
		break;
	}
}

/* --- the loop ------------------------------------------------------------------------- */

/* A trace that is frozen, or at its end, stays where it is; the module goes on. */
static bool stands_still(const struct screen *s)
{
	const struct top_source *source = s->top->source;

	return !source->is_live && (s->draw.is_frozen || source->at_end);
}

static void look(struct screen *s)
{
	int status = top_fill(s->top);

	if (status) {
		s->status = status;
		s->ends = true;
	} else if (!top_wait_ms(s->top, 1) && !stands_still(s)) {
		turn(s, !s->draw.is_frozen);
		top_draw(&s->draw);
	}
}

static void loop(struct screen *s)
{
	int key;

	if (!s->top->source->is_live)
		turn(s, true);
	top_draw(&s->draw);
	while (!s->ends && !interrupt_came(NULL)) {
		timeout(stands_still(s) ? LOOK_MS : top_wait_ms(s->top, LOOK_MS));
		key = getch();
		if (key != ERR) {
			handle(s, key);
			top_draw(&s->draw);
		}
		look(s);
	}
}

int top_screen_run(struct top *t)
{
	struct screen s = { .top = t, .draw = { .top = t } };
	const struct say_sink sink = { take_message, &s }, *old;
	int status;

	s.draw.detail = &s.detail;
	progress_quiet();
	status = open_terminal();
	if (status)
		return status;
	old = say_to(&sink);
	loop(&s);
	say_to(old);
	restore();
	if (s.status && *s.draw.message)
		cli_say("%s", s.draw.message);
	top_detail_close(&s.detail);
	return s.status;
}
