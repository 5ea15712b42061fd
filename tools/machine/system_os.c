// SPDX-License-Identifier: GPL-2.0
/* Kernel and distribution, hardware, CPUs and memory. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/system.h"

#define KIB 1024

static json_t *distribution(void)
{
	char *text = system_text("/etc/os-release");
	json_t *object = json_object();

	if (!text)
		text = system_text("/usr/lib/os-release");
	json_put(object, "id", system_take(system_value(text, "ID", '=')));
	json_put(object, "name", system_take(system_value(text, "NAME", '=')));
	json_put(object, "version", system_take(system_value(text, "VERSION_ID", '=')));
	json_put(object, "pretty_name", system_take(system_value(text, "PRETTY_NAME", '=')));
	free(text);
	return object;
}

static json_t *boot_time(void)
{
	char *text = system_text("/proc/stat"), *line = text ? strstr(text, "\nbtime ") : NULL;
	json_t *value = line ? json_integer(atoll(line + strlen("\nbtime "))) : json_null();

	free(text);
	return value;
}

static json_t *machine_type(void)
{
	char *arch = system_text("/proc/sys/kernel/arch");
	struct utsname name;

	uname(&name);
	return system_take(arch ? arch : xstrdup(name.machine));
}

/* The kernel's command line is hashed: it has ids of disks, and may have names and addresses. */
json_t *system_os(const struct system *s)
{
	json_t *object = json_object();

	json_put(object, "system", system_string("/proc/sys/kernel/ostype"));
	json_put(object, "kernel", system_string("/proc/sys/kernel/osrelease"));
	json_put(object, "kernel_version", system_string("/proc/sys/kernel/version"));
	json_put(object, "architecture", machine_type());
	json_put(object, "distribution", distribution());
	json_put(object, "boot_time_s", boot_time());
	json_put(object, "clocksource",
		 system_string("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
	if (s->anonymizer)
		return object;
	json_put(object, "hostname", system_string("/proc/sys/kernel/hostname"));
	json_put(object, "command_line", system_string("/proc/cmdline"));
	return object;
}

json_t *system_machine(const struct system *s)
{
	json_t *object = json_object();
	char *model = system_text("/sys/class/dmi/id/product_name");

	if (!model)
		model = system_text("/sys/firmware/devicetree/base/model");
	json_put(object, "vendor", system_string("/sys/class/dmi/id/sys_vendor"));
	json_put(object, "model", system_take(model));
	json_put(object, "board", system_string("/sys/class/dmi/id/board_name"));
	json_put(object, "firmware", system_string("/sys/class/dmi/id/bios_version"));
	if (s->anonymizer)
		return object;
	json_put(object, "serial", system_string("/sys/class/dmi/id/product_serial"));
	json_put(object, "uuid", system_string("/sys/class/dmi/id/product_uuid"));
	return object;
}

/* "32K" */
static json_t *cache_size(unsigned int index)
{
	char *text = system_text("/sys/devices/system/cpu/cpu0/cache/index%u/size", index);
	long long n = text ? atoll(text) : 0;

	if (text && strchr(text, 'K'))
		n *= KIB;
	if (text && strchr(text, 'M'))
		n *= KIB * KIB;
	free(text);
	return n ? json_integer(n) : json_null();
}

/* The caches of the first CPU. */
static json_t *caches(void)
{
	static const char base[] = "/sys/devices/system/cpu/cpu0/cache";
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, base, "index");
	for (i = 0; i < names.nr; i++) {
		json_t *object = json_object();

		json_put(object, "level", system_number(1, "%s/index%zu/level", base, i));
		json_put(object, "type", system_string("%s/index%zu/type", base, i));
		json_put(object, "size_bytes", cache_size(i));
		json_add(all, object);
	}
	system_unlist(&names);
	return all;
}

/* The number of different values of a file that each CPU has. */
static size_t count_values(const struct system_names *cpus, const char *format)
{
	json_t *seen = json_object();
	size_t i, nr;

	for (i = 0; i < cpus->nr; i++) {
		char *package = system_text("/sys/devices/system/cpu/%s/topology/physical_package_id",
					    cpus->at[i]);
		char *core = system_text("/sys/devices/system/cpu/%s/topology/%s", cpus->at[i], format);
		char *key = core ? xasprintf("%s %s", package ? package : "", core) : NULL;

		if (key)
			json_put(seen, key, json_true());
		free(key);
		free(core);
		free(package);
	}
	nr = json_object_size(seen);
	json_decref(seen);
	return nr;
}

static json_t *json_count(size_t nr)
{
	return nr ? json_integer(nr) : json_null();
}

/* Directories cpu0, cpu1 ..., without cpufreq and cpuidle. */
static void list_cpus(struct system_names *cpus)
{
	size_t i, nr = 0;

	system_list(cpus, "/sys/devices/system/cpu", "cpu");
	for (i = 0; i < cpus->nr; i++) {
		if (isdigit((unsigned char)cpus->at[i][3]))
			cpus->at[nr++] = cpus->at[i];
		else
			free(cpus->at[i]);
	}
	cpus->nr = nr;
}

json_t *system_cpu(void)
{
	static const char freq[] = "/sys/devices/system/cpu/cpu0/cpufreq";
	char *info = system_text("/proc/cpuinfo");
	char *vendor = system_value(info, "vendor_id", ':');
	struct system_names cpus, nodes;
	json_t *object = json_object();

	list_cpus(&cpus);
	system_list(&nodes, "/sys/devices/system/node", "node");
	json_put(object, "model", system_take(system_value(info, "model name", ':')));
	json_put(object, "vendor", system_take(vendor ? vendor :
					       system_value(info, "CPU implementer", ':')));
	json_put(object, "flags", system_take(system_value(info, "flags", ':')));
	json_put(object, "microcode", system_take(system_value(info, "microcode", ':')));
	json_put(object, "possible", system_string("/sys/devices/system/cpu/possible"));
	json_put(object, "online", system_string("/sys/devices/system/cpu/online"));
	json_put(object, "sockets", json_count(count_values(&cpus, "physical_package_id")));
	json_put(object, "cores", json_count(count_values(&cpus, "core_id")));
	json_put(object, "threads", json_count(cpus.nr));
	json_put(object, "numa_nodes", json_count(nodes.nr));
	json_put(object, "khz_min", system_number(1, "%s/cpuinfo_min_freq", freq));
	json_put(object, "khz_max", system_number(1, "%s/cpuinfo_max_freq", freq));
	json_put(object, "mhz_now", system_take(system_value(info, "cpu MHz", ':')));
	json_put(object, "governor", system_string("%s/scaling_governor", freq));
	json_put(object, "caches", caches());
	system_unlist(&nodes);
	system_unlist(&cpus);
	free(info);
	return object;
}

static json_t *of_meminfo(const char *info, const char *key, long long factor)
{
	char *text = system_value(info, key, ':');
	json_t *value = text ? json_integer(atoll(text) * factor) : json_null();

	free(text);
	return value;
}

/* /proc/swaps: a line of headings, then FILE TYPE SIZE USED PRIORITY */
static json_t *swaps(const struct system *s)
{
	char *text = system_text("/proc/swaps"), *next = text, *line;
	json_t *all = json_array();
	char file[4096], type[32];
	unsigned long long size;

	strsep(&next, "\n");
	while ((line = strsep(&next, "\n"))) {
		json_t *object;

		if (sscanf(line, "%4095s %31s %llu", file, type, &size) != 3)
			continue;
		object = json_object();
		json_put(object, "file", system_path(s, file));
		json_put(object, "type", json_shown(type));
		json_put(object, "size_bytes", json_integer(size * KIB));
		json_add(all, object);
	}
	free(text);
	return all;
}

json_t *system_memory(const struct system *s)
{
	static const char *const settings[] = {
		"dirty_ratio", "dirty_background_ratio", "dirty_bytes", "dirty_background_bytes",
		"dirty_expire_centisecs", "dirty_writeback_centisecs", "swappiness",
		"vfs_cache_pressure",
	};
	char *info = system_text("/proc/meminfo");
	json_t *object = json_object(), *vm = json_object();
	size_t i;

	json_put(object, "total_bytes", of_meminfo(info, "MemTotal", KIB));
	json_put(object, "available_bytes", of_meminfo(info, "MemAvailable", KIB));
	json_put(object, "free_bytes", of_meminfo(info, "MemFree", KIB));
	json_put(object, "cached_bytes", of_meminfo(info, "Cached", KIB));
	json_put(object, "dirty_bytes", of_meminfo(info, "Dirty", KIB));
	json_put(object, "swap_total_bytes", of_meminfo(info, "SwapTotal", KIB));
	json_put(object, "swap_free_bytes", of_meminfo(info, "SwapFree", KIB));
	json_put(object, "huge_pages", of_meminfo(info, "HugePages_Total", 1));
	json_put(object, "huge_page_bytes", of_meminfo(info, "Hugepagesize", KIB));
	json_put(object, "swaps", swaps(s));
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		json_put(vm, settings[i], system_number(1, "/proc/sys/vm/%s", settings[i]));
	json_put(object, "vm", vm);
	free(info);
	return object;
}
