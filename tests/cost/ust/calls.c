// SPDX-License-Identifier: GPL-2.0
/* Makes events for LTTng-UST: calls EVENTS */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "calls.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(iotracer_bench, io,
				     "/srv/data/project-007/results/run_000123.parquet",
				     4096UL * i, 4096);
	return 0;
}
