/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directories in which output is made. What is made is for its owner alone (0700): a trace
 * shows what the whole machine does.
 *
 * In a directory that everybody may write to, such as /tmp, another user can have put a symbolic
 * link in place of a name that we are going to use. So no link is followed there, unless it is
 * ours or belongs to the owner of the directory. Inside a directory that another user has made
 * there, no link of that user is followed either. Each step is made from the directory that the
 * step before has opened, so a name that is exchanged meanwhile leads nowhere else.
 */
#ifndef TOOL_BASE_PLACE_H
#define TOOL_BASE_PLACE_H

/* What is made of a path: nothing, its last name if that is not there, or all that is not there. */
enum place { PLACE_THERE, PLACE_LAST, PLACE_ALL };

/* Opens a directory. Returns its descriptor, or -1, which was reported. */
int place_open(const char *path, enum place make);

/*
 * Opens the directory that a path is in. Returns its descriptor, or -1, which was reported. *name is
 * the last name of the path, allocated.
 */
int place_parent(const char *path, char **name);

/*
 * Makes a directory, and opens it. Returns its descriptor, or a negative errno: it is there, or
 * another one is in its place when it is opened (-ESTALE).
 */
int place_make(int parent, const char *name);

/* Opens a directory that may be there. Returns a descriptor, or a negative errno. No link is followed. */
int place_enter(int parent, const char *name);

#endif /* TOOL_BASE_PLACE_H */
