/* SPDX-License-Identifier: GPL-2.0 */
/* Records: the whole of iotracer record but for its command line. */
#ifndef TOOL_RECORD_SESSION_H
#define TOOL_RECORD_SESSION_H

struct session_options;

/* Does a whole recording. The exit code is the command's, if there is one and all went well. */
int session_run(const struct session_options *options);

#endif /* TOOL_RECORD_SESSION_H */
