// SPDX-License-Identifier: GPL-2.0
/* Network interfaces, and graphics processors. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/system.h"

/* The number of bits of a network mask. */
static unsigned int prefix_of(const unsigned char *mask, size_t length)
{
	unsigned int bits = 0;
	size_t i;

	for (i = 0; mask && i < length; i++)
		bits += __builtin_popcount(mask[i]);
	return bits;
}

/* An IPv4 or IPv6 address with its prefix length; NULL for other kinds. */
static char *address_of(const struct ifaddrs *a)
{
	const void *address, *mask = NULL;
	char text[INET6_ADDRSTRLEN];
	size_t length;

	if (a->ifa_addr->sa_family == AF_INET) {
		address = &((const struct sockaddr_in *)a->ifa_addr)->sin_addr;
		if (a->ifa_netmask)
			mask = &((const struct sockaddr_in *)a->ifa_netmask)->sin_addr;
		length = sizeof(struct in_addr);
	} else if (a->ifa_addr->sa_family == AF_INET6) {
		address = &((const struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
		if (a->ifa_netmask)
			mask = &((const struct sockaddr_in6 *)a->ifa_netmask)->sin6_addr;
		length = sizeof(struct in6_addr);
	} else {
		return NULL;
	}
	if (!inet_ntop(a->ifa_addr->sa_family, address, text, sizeof(text)))
		return NULL;
	return xasprintf("%s/%u", text, prefix_of(mask, length));
}

static json_t *addresses(const struct ifaddrs *all, const char *name)
{
	json_t *list = json_array();
	char *text;

	for (; all; all = all->ifa_next) {
		text = all->ifa_addr && !strcmp(all->ifa_name, name) ? address_of(all) : NULL;
		if (text)
			json_add(list, json_string(text));
		free(text);
	}
	return list;
}

/* A name may contain an address (enx525400123456), so it is hashed in an anonymous snapshot. */
static json_t *name_of(const struct system *s, const char *name)
{
	char hidden[ANONYMOUS_LENGTH];

	if (!s->anonymizer)
		return json_shown(name);
	anonymize_word(s->anonymizer, hidden, "interface", name, strlen(name));
	return json_stringn(hidden, sizeof(hidden));
}

static json_t *interface(const struct system *s, const struct ifaddrs *all, const char *name)
{
	char *driver = system_link("/sys/class/net/%s/device/driver", name);
	json_t *object = json_object();

	json_put(object, "name", name_of(s, name));
	json_put(object, "type", system_number(1, "/sys/class/net/%s/type", name));
	json_put(object, "state", system_string("/sys/class/net/%s/operstate", name));
	json_put(object, "mtu", system_number(1, "/sys/class/net/%s/mtu", name));
	json_put(object, "speed_mbit", system_number(1, "/sys/class/net/%s/speed", name));
	json_put(object, "duplex", system_string("/sys/class/net/%s/duplex", name));
	json_put(object, "queue_length", system_number(1, "/sys/class/net/%s/tx_queue_len", name));
	json_put(object, "driver", system_take(driver));
	if (s->anonymizer)
		return object;
	json_put(object, "mac", system_string("/sys/class/net/%s/address", name));
	json_put(object, "addresses", addresses(all, name));
	return object;
}

json_t *system_network(const struct system *s)
{
	struct ifaddrs *addresses = NULL;
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	if (getifaddrs(&addresses))
		addresses = NULL;
	system_list(&names, "/sys/class/net", "");
	for (i = 0; i < names.nr; i++) {
		char *type = system_text("/sys/class/net/%s/type", names.at[i]);

		/* /sys/class/net/bonding_masters is not an interface */
		if (type)
			json_add(all, interface(s, addresses, names.at[i]));
		free(type);
	}
	system_unlist(&names);
	if (addresses)
		freeifaddrs(addresses);
	return all;
}

/* The text after "0x1234  " at the start of a line, or NULL. @end: where to stop, or NULL. */
static char *id_name(const char *text, const char *end, const char *indent, const char *id)
{
	char *key = xasprintf("\n%s%s  ", indent, id + 2);
	const char *at = text ? strstr(text, key) : NULL;
	char *name = NULL;

	if (at && (!end || at < end)) {
		at += strlen(key);
		name = xasprintf("%.*s", (int)strcspn(at, "\n"), at);
	}
	free(key);
	return name;
}

/* The end of a vendor's devices: the next line that is not indented. */
static const char *end_of_vendor(const char *at)
{
	for (at = strchr(at + 1, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
		if (at[1] != '\t' && at[1] != '#')
			return at;
	return NULL;
}

/* Looks up the names in the list of pciutils, if it is installed. */
static void put_names(json_t *object, const char *ids, const char *vendor, const char *device)
{
	char *key = xasprintf("\n%s  ", vendor + 2);
	const char *at = ids ? strstr(ids, key) : NULL;

	json_put(object, "vendor", system_take(id_name(ids, NULL, "", vendor)));
	json_put(object, "model", system_take(at ? id_name(at, end_of_vendor(at), "\t", device) : NULL));
	free(key);
}

/* Class 3 is display controllers, class 12 processing accelerators. */
static bool is_gpu(const char *class)
{
	return class && (!strncmp(class, "0x03", 4) || !strncmp(class, "0x12", 4));
}

static void add_gpu(json_t *all, const char *ids, const char *address)
{
	char *vendor = system_text("/sys/bus/pci/devices/%s/vendor", address);
	char *device = system_text("/sys/bus/pci/devices/%s/device", address);
	json_t *object;

	if (vendor && device && strlen(vendor) > 2 && strlen(device) > 2) {
		object = json_object();
		json_put(object, "pci_address", json_shown(address));
		json_put(object, "vendor_id", json_shown(vendor));
		json_put(object, "device_id", json_shown(device));
		put_names(object, ids, vendor, device);
		json_put(object, "driver", system_take(system_link("/sys/bus/pci/devices/%s/driver",
								   address)));
		json_put(object, "memory_bytes",
			 system_number(1, "/sys/bus/pci/devices/%s/mem_info_vram_total", address));
		json_add(all, object);
	}
	free(device);
	free(vendor);
}

json_t *system_gpus(void)
{
	char *ids = system_text("/usr/share/misc/pci.ids");
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, "/sys/bus/pci/devices", "");
	for (i = 0; i < names.nr; i++) {
		char *class = system_text("/sys/bus/pci/devices/%s/class", names.at[i]);

		if (is_gpu(class))
			add_gpu(all, ids, names.at[i]);
		free(class);
	}
	system_unlist(&names);
	free(ids);
	return all;
}
