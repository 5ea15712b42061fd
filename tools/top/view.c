// SPDX-License-Identifier: GPL-2.0
#include "top/view.h"
#include "trace/categories.h"

static const struct category *const calls[] = { &category_fs, &category_block, NULL };
static const struct category *const requests[] = { &category_block, &category_fs, NULL };
static const struct category *const messages[] = { &category_net, NULL };

const struct top_view top_views[TOP_VIEWS] = {
	[TOP_FILES] = { "file", "files", { "file" }, calls },
	[TOP_DIRECTORIES] = { "directory", "directories", { "directory" }, calls },
	[TOP_PROCESSES] = { "process", "processes", { "process" }, calls, .note = "command" },
	[TOP_CGROUPS] = { "cgroup", "cgroups", { "cgroup" }, calls, .note = "path" },
	[TOP_DEVICES] = { "device", "devices", { "device" }, requests, .note = "disk" },
	[TOP_CONNECTIONS] = { "connection", "connections", { "connection" }, messages },
	[TOP_VMS] = { "vm", "VMs", { "process", "file" }, calls, .note = "drive", .live = true },
};
