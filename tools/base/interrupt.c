// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/interrupt.h"

static atomic_int ended;	/* by this signal */

static void end(int number)
{
	ended = number;
}

void interrupt_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESETHAND | SA_RESTART };
	struct sigaction before;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	signal(SIGXFSZ, SIG_IGN);
}

bool interrupt_came(void *data)
{
	(void)data;
	return ended;
}

void interrupt_end(void)
{
	/* its handler is gone */
	if (ended)
		raise(ended);
}
