/* SPDX-License-Identifier: GPL-2.0 */
/* iotracer top on a terminal, by ncurses. */
#ifndef TOOL_TOP_SCREEN_H
#define TOOL_TOP_SCREEN_H

#include "top/engine.h"

/*
 * Shows intervals until a key or a signal ends it (base/interrupt.h). However the program ends but
 * by SIGKILL, the terminal is as it was. Returns an exit code; errors are reported.
 */
int top_screen_run(struct top *t);

#endif /* TOOL_TOP_SCREEN_H */
