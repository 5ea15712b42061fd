// SPDX-License-Identifier: GPL-2.0
/* Whether this system is a guest or a container, and the VMs that it runs. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* compilers have it for architectures with this instruction */
#if __has_include(<cpuid.h>)
#include <cpuid.h>
#define HAS_CPUID
#endif

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/system.h"

struct sign {
	const char *found;
	const char *name;
};

/* Prefixes of the firmware's names of vendor or product. */
static const struct sign by_firmware[] = {
	{ "QEMU", "qemu" }, { "KVM", "kvm" }, { "Bochs", "bochs" }, { "VMware", "vmware" },
	{ "VirtualBox", "virtualbox" }, { "innotek", "virtualbox" }, { "Xen", "xen" },
	{ "Virtual Machine", "hyper-v" }, { "Parallels", "parallels" }, { "BHYVE", "bhyve" },
	{ "Amazon EC2", "amazon" }, { "Google Compute Engine", "google" },
	{ "OpenStack", "kvm" }, { "RHEV", "kvm" }, { "Apple Virtualization", "apple" },
};

#ifdef HAS_CPUID
/* Names of hypervisors, as CPUID returns them. */
static const struct sign by_cpuid[] = {
	{ "KVMKVMKVM", "kvm" }, { "TCGTCGTCGTCG", "qemu" }, { "VMwareVMware", "vmware" },
	{ "Microsoft Hv", "hyper-v" }, { "XenVMMXenVMM", "xen" }, { "bhyve bhyve ", "bhyve" },
	{ "VBoxVBoxVBox", "virtualbox" }, { " lrpepyh  vr", "parallels" },
	{ "ACRNACRNACRN", "acrn" }, { "LKVMLKVMLKVM", "kvm" },
};

static const char *hypervisor_by_cpuid(void)
{
	unsigned int a, b, c, d;
	char text[13] = "";
	size_t i;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return NULL;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(text, &b, 4);
	memcpy(text + 4, &c, 4);
	memcpy(text + 8, &d, 4);
	for (i = 0; i < sizeof(by_cpuid) / sizeof(by_cpuid[0]); i++)
		if (!strcmp(text, by_cpuid[i].found))
			return by_cpuid[i].name;
	return "unknown";
}
#else
static const char *hypervisor_by_cpuid(void)
{
	return NULL;
}
#endif

static const char *hypervisor_by_firmware(void)
{
	static const char *const files[] = { "product_name", "sys_vendor", "bios_vendor" };
	const char *name = NULL;
	size_t i, j;

	for (i = 0; !name && i < sizeof(files) / sizeof(files[0]); i++) {
		char *text = system_text("/sys/class/dmi/id/%s", files[i]);

		for (j = 0; text && !name && j < sizeof(by_firmware) / sizeof(by_firmware[0]); j++)
			if (!strncmp(text, by_firmware[j].found, strlen(by_firmware[j].found)))
				name = by_firmware[j].name;
		free(text);
	}
	return name;
}

/* The control domain of Xen, which owns the hardware, is not a guest. */
static bool is_xen_host(void)
{
	char *text = system_text("/proc/xen/capabilities");
	bool is = text && strstr(text, "control_d");

	free(text);
	return is;
}

static void put_guest_of(json_t *object)
{
	const char *name = getenv("IOTRACER_ROOT") ? NULL : hypervisor_by_cpuid(), *source = "cpuid";
	char *type = system_text("/sys/hypervisor/type");
	char *tree = system_text("/proc/device-tree/hypervisor/compatible");

	if (!name) {
		name = hypervisor_by_firmware();
		source = "firmware";
	}
	if (!name && (tree || type)) {
		name = tree ? tree : type;
		source = tree ? "device tree" : "/sys/hypervisor";
	}
	if (name && is_xen_host())
		name = NULL;
	json_put(object, "guest_of", name ? json_shown(name) : json_null());
	json_put(object, "guest_of_source", name ? json_string(source) : json_null());
	free(tree);
	free(type);
}

/* The name of the container manager, from the environment of the first process. */
static json_t *container(void)
{
	char *text = system_text("/run/systemd/container");

	if (!text && host_has("/run/.containerenv"))
		text = xstrdup("podman");
	if (!text && host_has("/.dockerenv"))
		text = xstrdup("docker");
	return system_take(text);
}

/* The number of links in /proc/PID/fd that begin with @prefix. */
static size_t count_links(const char *pid, const char *prefix)
{
	char *path = xasprintf("/proc/%s/fd", pid);
	struct system_names names;
	size_t i, nr = 0;

	system_list(&names, path, "");
	for (i = 0; i < names.nr; i++) {
		char *target = system_link("/proc/%s/fd/%s", pid, names.at[i]);

		nr += target && !strncmp(target, prefix, strlen(prefix));
		free(target);
	}
	system_unlist(&names);
	free(path);
	return nr;
}

/* The command line: words that end with a NUL each, and another NUL after the last. */
static char *command_line(const char *pid)
{
	char *path = xasprintf("/proc/%s/cmdline", pid), *real = host_path(path);
	FILE *f = fopen(real, "re");
	char *text = xreallocarray(NULL, 65538, 1);
	size_t length = f ? fread(text, 1, 65536, f) : 0;

	if (f)
		fclose(f);
	text[length] = '\0';
	text[length + 1] = '\0';
	free(real);
	free(path);
	return text;
}

/* The guest in QEMU's option -name NAME or -name guest=NAME,...; NULL if there is none. */
static char *guest_name(const char *pid)
{
	char *text = command_line(pid), *name = NULL;
	const char *word;

	for (word = text; *word && !name; word += strlen(word) + 1) {
		const char *value = word + strlen(word) + 1;

		if (strcmp(word, "-name") || !*value)
			continue;
		if (!strncmp(value, "guest=", 6))
			value += 6;
		name = xasprintf("%.*s", (int)strcspn(value, ","), value);
	}
	free(text);
	return name;
}

static void add_guest(const struct system *s, json_t *all, const char *pid)
{
	size_t vms = count_links(pid, "anon_inode:kvm-vm");
	json_t *object;

	if (!vms)
		return;
	object = json_object();
	json_put(object, "pid", json_integer(atoi(pid)));
	json_put(object, "machines", json_integer(vms));
	json_put(object, "vcpus", json_integer(count_links(pid, "anon_inode:kvm-vcpu")));
	if (!s->anonymizer) {
		json_put(object, "comm", system_string("/proc/%s/comm", pid));
		json_put(object, "name", system_take(guest_name(pid)));
	}
	json_add(all, object);
}

/* Processes that have a VM of KVM open. */
static json_t *guests(const struct system *s)
{
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, "/proc", "");
	for (i = 0; i < names.nr; i++)
		if (isdigit((unsigned char)names.at[i][0]))
			add_guest(s, all, names.at[i]);
	system_unlist(&names);
	return all;
}

json_t *system_virtualisation(const struct system *s)
{
	bool is_host = host_has("/dev/kvm");
	json_t *object = json_object();

	put_guest_of(object);
	json_put(object, "container", container());
	json_put(object, "kvm_host", json_boolean(is_host));
	json_put(object, "kvm_guests", is_host ? guests(s) : json_array());
	return object;
}
