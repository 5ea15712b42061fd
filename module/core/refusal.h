/* SPDX-License-Identifier: GPL-2.0 */
/* Why a command was refused: write(2) returns an error number, the file `error` has the text. */
#ifndef IOT_REFUSAL_H
#define IOT_REFUSAL_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct seq_file;

#define IOT_WHY_MAX	320	/* bytes of a reason, its NUL included */
#define IOT_COMMAND_MAX	128	/* bytes of the command that is shown with it */

/**
 * struct iot_why - why one command was refused
 * @text:	begins with what is wrong; empty if the error number says it all
 */
struct iot_why {
	char text[IOT_WHY_MAX];
};

/**
 * struct iot_refusal - the last command that was refused
 * @text:	the line that the file `error` shows, without its newline
 */
struct iot_refusal {
	struct mutex lock;	/* protects @text */
	char text[IOT_COMMAND_MAX + IOT_WHY_MAX];
};

#define IOT_REFUSAL_INIT(name) { .lock = __MUTEX_INITIALIZER((name).lock) }

__printf(3, 4) int iot_why(struct iot_why *why, int err, const char *format, ...);

int iot_refusal_run(struct iot_refusal *last, char *line, void *data,
		    int (*run)(void *data, char *line, struct iot_why *why));
void iot_refusal_show(struct seq_file *m, struct iot_refusal *last);

#endif /* IOT_REFUSAL_H */
