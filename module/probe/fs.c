// SPDX-License-Identifier: GPL-2.0
/* Category fs: starts and stops its three kinds of probes together. */
#include "record/scope.h"
#include "record/fs.h"
#include "probe/categories.h"
#include "probe/fs_calls.h"
#include "probe/rejected.h"
#include "probe/rw_hooks.h"

static int start(void)
{
	int err = iot_rw_start();

	if (err)
		return err;
	err = iot_fs_calls_start();
	if (err)
		goto stop_rw;
	err = iot_rejected_refresh();
	if (err)
		goto stop_probe;
	return 0;

stop_probe:
	iot_fs_calls_stop();
stop_rw:
	iot_rw_stop();
	return err;
}

static void stop(void)
{
	iot_rejected_stop();
	iot_fs_calls_stop();
	iot_rw_stop();
}

static int refresh(void)
{
	return iot_rw_refresh() ?: iot_rejected_refresh();
}

static unsigned long missed(void)
{
	return iot_fs_counted_missed() + iot_scopes_missed() + iot_rw_missed() +
	       iot_fs_calls_missed() + iot_rejected_missed();
}

const struct iot_category_ops iot_fs_ops = {
	.start = start,
	.stop = stop,
	.refresh = refresh,
	.missed = missed,
};
