// SPDX-License-Identifier: GPL-2.0
/* iotracer doctor: the checks of the system. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "doctor/doctor.h"
#include "module/proc.h"

static const char needs_root[] = "run iotracer doctor as root";
static const char other_kernel[] = "known only for the running kernel";
static const char no_config[] = "the options of this kernel were not found";

/* Takes ownership of @found and @remedy. */
static void say(struct check *c, enum verdict state, char *found, char *remedy)
{
	c->verdict = state;
	c->found = found;
	c->remedy = remedy;
}

static void say_unknown(struct check *c, const char *why, const char *remedy)
{
	say(c, VERDICT_UNKNOWN, xstrdup(why), remedy ? xstrdup(remedy) : NULL);
}

static void block(struct check *c)
{
	c->blocks = c->verdict == VERDICT_MISSING;
}

static bool is_wsl(const struct host *host)
{
	return strstr(host->release, "microsoft") || strstr(host->release, "Microsoft");
}

#define OLDEST_MAJOR 6
#define OLDEST_MINOR 1

static void check_kernel(struct doctor *d, struct check *c)
{
	const struct host *host = &d->host;
	char *found = xasprintf("%s, %s%s", host->release, host->machine,
				is_wsl(host) ? " (Windows Subsystem for Linux)" : "");
	int major, minor;

	if (sscanf(host->release, "%d.%d", &major, &minor) != 2)
		say(c, VERDICT_UNKNOWN, found, NULL);
	else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
		say(c, VERDICT_MISSING, found, xstrdup("boot kernel 6.1 or newer"));
	else if (strcmp(host->machine, "x86_64") && strcmp(host->machine, "aarch64"))
		say(c, VERDICT_PARTLY, found,
		    xstrdup("use x86-64 or arm64: other architectures have no category fs, and the"
			    " other categories are untested there"));
	else
		say(c, VERDICT_OK, found, NULL);
	block(c);
}

/* The inode number of a namespace of this process, from its link in /proc, or 0. */
static unsigned long namespace_of(const char *link)
{
	char *path = host_path(link), text[64];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	unsigned long number = 0;

	free(path);
	text[n < 0 ? 0 : n] = '\0';
	return sscanf(text, "%*[a-z]:[%lu]", &number) == 1 ? number : 0;
}

/* The initial namespaces: PROC_PID_INIT_INO, PROC_USER_INIT_INO */
#define FIRST_PID_NAMESPACE	0xeffffffcUL
#define FIRST_USER_NAMESPACE	0xeffffffdUL

/* The module accepts capabilities only of the initial user namespace (module/proc/access.c). */
static void check_container(struct doctor *d, struct check *c)
{
	unsigned long pid = namespace_of("/proc/self/ns/pid");
	unsigned long user = namespace_of("/proc/self/ns/user");

	(void)d;
	if (!pid || !user)
		say_unknown(c, "no /proc/self/ns", NULL);
	else if (user != FIRST_USER_NAMESPACE)
		say(c, VERDICT_MISSING, xstrdup("yes: this process has its own user namespace"),
		    xstrdup("run iotracer on the host"));
	else if (pid != FIRST_PID_NAMESPACE)
		say(c, VERDICT_PARTLY, xstrdup("yes: this process has its own pid namespace"),
		    xstrdup("run iotracer on the host, or give the container CAP_SYS_ADMIN:"
			    " PIDs are the host's in both cases"));
	else
		say(c, VERDICT_OK, xstrdup("none"), NULL);
	block(c);
}

static void check_config(struct doctor *d, struct check *c)
{
	if (d->host.config)
		say(c, VERDICT_OK, xstrdup(d->host.config_file), NULL);
	else
		say_unknown(c, "neither /proc/config.gz nor /boot/config-* of this kernel was found",
			    "install the headers of this kernel, which include its options");
}

/* The version of the loaded module from /sys, or NULL. */
static char *loaded_version(void)
{
	char *version;

	return host_read("/sys/module/iotracer/version", &version) ? NULL : version;
}

static void say_loaded(struct check *c)
{
	char *version = loaded_version();

	if (version && strcmp(version, IOTRACER_VERSION))
		say(c, VERDICT_PARTLY, xasprintf("loaded, version %s; this tool is %s", version,
						 IOTRACER_VERSION),
		    xstrdup("install both from the same source, and load the module again"));
	else
		say(c, VERDICT_OK, xasprintf("loaded%s%s", version ? ", version " : "",
					     version ? version : ""), NULL);
	free(version);
}

static void check_module(struct doctor *d, struct check *c)
{
	if (d->loaded)
		say_loaded(c);
	else if (d->object)
		say(c, VERDICT_OK, xasprintf("installed, not loaded: %s", d->object),
		    xstrdup("modprobe iotracer"));
	else
		say(c, VERDICT_MISSING, xstrdup("not installed for this kernel"),
		    xstrdup("make && sudo make install, or use DKMS (README, Install)"));
}

/* The command that installs the headers on this distribution. */
static char *headers_remedy(const struct host *host)
{
	static const struct {
		const char *like, *command;
	} known[] = {
		{ "debian", "apt-get install linux-headers-%s" },
		{ "ubuntu", "apt-get install linux-headers-%s" },
		{ "fedora", "dnf install kernel-devel-%s" },
		{ "rhel", "dnf install kernel-devel-%s" },
		{ "suse", "zypper install kernel-default-devel (of %s)" },
		{ "arch", "pacman -S linux-headers (of %s)" },
	};
	const char *format = "install the package with the headers of %s";
	char *text, *command;
	const char *rest;
	size_t i;

	if (is_wsl(host))
		return xstrdup("build this kernel from Microsoft's source, WSL2-Linux-Kernel:"
			       " its headers come with that");
	if (host_read("/etc/os-release", &text))
		text = xstrdup("");
	for (i = sizeof(known) / sizeof(known[0]); i-- > 0;)
		if (strstr(text, known[i].like))
			format = known[i].command;
	rest = strstr(format, "%s") + 2;
	command = xasprintf("%.*s%s%s", (int)(rest - 2 - format), format, host->release, rest);
	free(text);
	return command;
}

/* The module need not be built if it is loaded or installed. */
static bool has_to_be_built(const struct doctor *d)
{
	return !d->loaded && !d->object;
}

static void check_headers(struct doctor *d, struct check *c)
{
	static const char *const files[] = {
		"build/Makefile", "build/Module.symvers", "build/include/generated/autoconf.h",
		"build/scripts/mod/modpost",
	};
	char *dir = host_module_path(&d->host, "build");
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = host_module_path(&d->host, files[i]);
		bool has = host_has(path);

		if (!has)
			say(c, VERDICT_MISSING, i ? xasprintf("incomplete: no %s", path) :
			    xasprintf("no %s", dir), headers_remedy(&d->host));
		free(path);
		if (!has)
			break;
	}
	if (i == sizeof(files) / sizeof(files[0]))
		say(c, VERDICT_OK, xstrdup(dir), NULL);
	c->blocks = c->verdict == VERDICT_MISSING && has_to_be_built(d);
	free(dir);
}

/* Whether a program of this name is in PATH. */
static bool is_program(const char *name)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t length = strcspn(path, ":");
		char *file = xasprintf("%.*s/%s", (int)length, path, name);
		bool found = !access(file, X_OK);

		free(file);
		if (found)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* The version, or "". compiler_name() allows no character that the shell interprets. */
static char *version_of(const char *compiler)
{
	char *command = xasprintf("%s -dumpfullversion -dumpversion 2>/dev/null", compiler);
	FILE *out = popen(command, "re");
	char line[64] = "";

	free(command);
	if (out) {
		if (!fgets(line, sizeof(line), out))
			line[0] = '\0';
		pclose(out);
	}
	line[strcspn(line, "\n")] = '\0';
	return text_show(line, strlen(line));
}

/* The compiler that the build uses: the one that built the kernel, if it is installed. */
static char *compiler_name(const char *text)
{
	char *name = xasprintf("%.*s", (int)strcspn(text, " "), text);
	const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._";

	if (*name && *name != '-' && !name[strspn(name, letters)] && is_program(name))
		return name;
	free(name);
	return xstrdup(strstr(text, "clang") ? "clang" : "gcc");
}

/* The last word of "gcc-12 (Debian 12.2.0-14) 12.2.0", or the text after "version ", or "". */
static const char *version_in(const char *text)
{
	const char *clang = strstr(text, "version "), *last = strrchr(text, ' ');

	if (clang)
		return clang + strlen("version ");
	return last ? last + 1 : "";
}

static void compare_compilers(struct check *c, const char *compiler, const char *text)
{
	char *version = version_of(compiler);
	const char *kernels = version_in(text);
	int length = strcspn(kernels, " ");
	char *found;

	if (length)
		found = xasprintf("%s %s (the kernel's: %.*s)", compiler, version, length,
				  kernels);
	else
		found = xasprintf("%s %s", compiler, version);
	if (length && atoi(version) != atoi(kernels))
		say(c, VERDICT_PARTLY, found,
		    xasprintf("if the module does not build, install version %d of the compiler",
			      atoi(kernels)));
	else
		say(c, VERDICT_OK, found, NULL);
	free(version);
}

static void check_compiler(struct doctor *d, struct check *c)
{
	char *text = host_option_text(&d->host, "CC_VERSION_TEXT");
	char *compiler = compiler_name(text ? text : "");
	const char *absent = is_program(compiler) ? "make" : compiler;

	if (!is_program(absent))
		say(c, VERDICT_MISSING, xasprintf("no %s", absent),
		    xasprintf("install %s", absent));
	else
		compare_compilers(c, compiler, text ? text : "");
	c->blocks = c->verdict == VERDICT_MISSING && has_to_be_built(d);
	free(compiler);
	free(text);
}

static const char elsewhere[] =
	"boot another kernel, or try iotracer in a virtual machine: make demo, scripts/vm";

/* Whether the file consists of one of these letters. */
static bool says(const char *file, const char *letters)
{
	char *text;
	bool yes;

	if (host_read(file, &text))
		return false;
	yes = *text && !text[1] && strchr(letters, *text);
	free(text);
	return yes;
}

static void check_modules(struct doctor *d, struct check *c)
{
	enum host_option modules = host_option(&d->host, "MODULES");

	if (modules == OPTION_NO || (d->host.running && !host_has("/proc/modules")))
		say(c, VERDICT_MISSING, xstrdup("this kernel cannot load modules"),
		    xstrdup(elsewhere));
	else if (d->host.running && says("/proc/sys/kernel/modules_disabled", "1Y"))
		say(c, d->loaded ? VERDICT_PARTLY : VERDICT_MISSING,
		    xstrdup("none can be loaded until the next boot: kernel.modules_disabled=1"),
		    xstrdup("remove that setting from /etc/sysctl.d, and reboot"));
	else if (modules == OPTION_UNKNOWN && !d->host.running)
		say_unknown(c, no_config, NULL);
	else
		say(c, VERDICT_OK, xstrdup("can be loaded"), NULL);
	block(c);
}

static const char sign_remedy[] =
	"sign the module with a key that the firmware trusts: DKMS signs with its own, which"
	" mokutil --import enrols (/var/lib/dkms/mok.pub); or turn Secure Boot off";

/* For a kernel that loads only signed modules. */
static void say_signed_only(struct doctor *d, struct check *c, const char *by)
{
	if (d->loaded)
		say(c, VERDICT_OK, xasprintf("%s; the module is loaded", by), NULL);
	else if (d->object && d->is_signed == OPTION_YES)
		say(c, VERDICT_PARTLY,
		    xasprintf("%s; the module is signed, but it is not known whether by a trusted key", by),
		    xstrdup(sign_remedy));
	else if (d->object && d->is_signed == OPTION_UNKNOWN)
		say(c, VERDICT_PARTLY, xasprintf("%s; it is not known whether the module is signed",
						 by), xstrdup(sign_remedy));
	else
		say(c, VERDICT_MISSING, xasprintf("%s: only signed modules can be loaded", by),
		    xstrdup(sign_remedy));
	block(c);
}

static void say_lockdown(struct doctor *d, struct check *c, const char *text)
{
	const char *mode = strchr(text, '['), *by;
	char *name = mode ? xasprintf("%.*s", (int)strcspn(mode + 1, "]"), mode + 1) :
			    xstrdup("");

	by = text_show(name, strlen(name));
	if (!strcmp(name, "none") || !*name)
		say(c, *name ? VERDICT_OK : VERDICT_UNKNOWN, xstrdup(*name ? name : "unknown"),
		    NULL);
	else
		say_signed_only(d, c, by);
	free((char *)by);
	free(name);
}

static void check_lockdown(struct doctor *d, struct check *c)
{
	char *text;
	int err;

	if (!d->host.running) {
		say_unknown(c, other_kernel, NULL);
		return;
	}
	err = host_read("/sys/kernel/security/lockdown", &text);
	if (!err) {
		say_lockdown(d, c, text);
		free(text);
	} else if (err == -EACCES || err == -EPERM) {
		say_unknown(c, "needs root", needs_root);
	} else if (host_option(&d->host, "SECURITY_LOCKDOWN_LSM") == OPTION_NO) {
		say(c, VERDICT_OK, xstrdup("none: this kernel has no lockdown"), NULL);
	} else {
		say_unknown(c, "no /sys/kernel/security/lockdown",
			    "mount -t securityfs none /sys/kernel/security");
	}
}

/* The fifth byte of the file is the value of the firmware's variable. */
static bool is_secure_boot(void)
{
	char *path = host_path("/sys/firmware/efi/efivars/"
			       "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char bytes[5] = { 0 };
	bool on = fd >= 0 && read(fd, bytes, sizeof(bytes)) == sizeof(bytes) && bytes[4] == 1;

	if (fd >= 0)
		close(fd);
	free(path);
	return on;
}

static void check_signatures(struct doctor *d, struct check *c)
{
	const char *by = is_secure_boot() ? "not enforced; Secure Boot is on" : "not enforced";
	enum host_option forced = host_option(&d->host, "MODULE_SIG_FORCE");

	if (forced == OPTION_YES)
		say_signed_only(d, c, "enforced (CONFIG_MODULE_SIG_FORCE)");
	else if (d->host.running && says("/sys/module/module/parameters/sig_enforce", "1Y"))
		say_signed_only(d, c, "enforced (module.sig_enforce)");
	else if (!d->host.running && forced == OPTION_UNKNOWN)
		say_unknown(c, no_config, NULL);
	else
		say(c, VERDICT_OK, xstrdup(by), NULL);
}

static void check_ftrace(struct doctor *d, struct check *c)
{
	enum host_option args = host_option(&d->host, "DYNAMIC_FTRACE_WITH_ARGS");

	if (d->host.running && says("/proc/sys/kernel/ftrace_enabled", "0")) {
		say(c, VERDICT_MISSING, xstrdup("off (kernel.ftrace_enabled=0): no function"
						" call would be seen"),
		    xstrdup("sysctl -w kernel.ftrace_enabled=1"));
		block(c);
		return;
	}
	if (args == OPTION_UNKNOWN)
		say_unknown(c, no_config, NULL);
	else if (args == OPTION_NO)
		say(c, VERDICT_PARTLY,
		    xstrdup("no CONFIG_DYNAMIC_FTRACE_WITH_ARGS: functions are hooked by"
			    " kretprobes, which are slower"),
		    xstrdup("use a kernel that has it"));
	else
		say(c, VERDICT_OK, xstrdup("CONFIG_DYNAMIC_FTRACE_WITH_ARGS"), NULL);
}

/* Reports whether the kprobes of the kernel were turned off. */
static void say_kprobes(struct doctor *d, struct check *c)
{
	char *text;
	int err = d->host.running ? host_read("/sys/kernel/debug/kprobes/enabled", &text) : -ENOENT;

	if (err) {
		say(c, VERDICT_OK, xasprintf("CONFIG_KPROBES, CONFIG_KRETPROBES%s",
					     err == -EACCES || err == -EPERM ?
					     "; whether they are on is not known: needs root" : ""),
		    NULL);
		return;
	}
	if (!strcmp(text, "0"))
		say(c, VERDICT_PARTLY,
		    xstrdup("off: calls that need kretprobes may not be seen"),
		    xstrdup("echo 1 > /sys/kernel/debug/kprobes/enabled"));
	else
		say(c, VERDICT_OK, xstrdup("CONFIG_KPROBES, CONFIG_KRETPROBES; on"), NULL);
	free(text);
}

static void check_kprobes(struct doctor *d, struct check *c)
{
	static const char *const options[] = { "KPROBES", "KRETPROBES", "KALLSYMS" };
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (host_option(&d->host, options[i]) == OPTION_NO)
			break;
	if (!d->host.config)
		say_unknown(c, no_config, NULL);
	else if (i < sizeof(options) / sizeof(options[0]))
		say(c, VERDICT_MISSING, xasprintf("no CONFIG_%s: the module cannot find functions",
						  options[i]), xstrdup(elsewhere));
	else
		say_kprobes(d, c);
	block(c);
}

static void check_kallsyms(struct doctor *d, struct check *c)
{
	if (d->host.symbols)
		say(c, VERDICT_OK, xasprintf("%zu symbols", d->host.nr), NULL);
	else if (d->host.running)
		say_unknown(c, "/proc/kallsyms has no symbols, or cannot be read", needs_root);
	else
		say_unknown(c, "/boot/System.map-* of this kernel has no symbols",
			    "boot this kernel, and run iotracer doctor again");
}

static void check_btf(struct doctor *d, struct check *c)
{
	if (!d->host.running)
		say_unknown(c, other_kernel, NULL);
	else if (host_has("/sys/kernel/btf/vmlinux"))
		say(c, VERDICT_OK, xstrdup("/sys/kernel/btf/vmlinux"), NULL);
	else
		say(c, VERDICT_PARTLY, xstrdup("none: the types of functions are not known"),
		    xstrdup("none is needed; a kernel with CONFIG_DEBUG_INFO_BTF has it"));
}

static const struct {
	const char *name;
	void (*look)(struct doctor *d, struct check *c);
} looks[NR_CHECKS] = {
	{ "kernel", check_kernel },
	{ "container", check_container },
	{ "config", check_config },
	{ "module", check_module },
	{ "headers", check_headers },
	{ "compiler", check_compiler },
	{ "modules", check_modules },
	{ "lockdown", check_lockdown },
	{ "signatures", check_signatures },
	{ "ftrace", check_ftrace },
	{ "kprobes", check_kprobes },
	{ "kallsyms", check_kallsyms },
	{ "btf", check_btf },
};

static bool is_object(const char *name)
{
	return !strcmp(name, "iotracer.ko") || !strncmp(name, "iotracer.ko.", 12);
}

/* Finds the module's file as modprobe does. Returns a path below IOTRACER_ROOT, or NULL. */
static char *find_object(const struct host *host)
{
	char *prefix = host_path(""), *below = host_module_path(host, "");
	char *dir = host_path(below), *object = NULL;
	char *const dirs[] = { dir, NULL };
	FTS *walk = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (walk && !object && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F && is_object(entry->fts_name))
			object = xstrdup(entry->fts_path + strlen(prefix));
	if (walk)
		fts_close(walk);
	free(dir);
	free(below);
	free(prefix);
	return object;
}

/* A signature is at the end of the file. It is not visible in a compressed file. */
static enum host_option find_signature(const char *object)
{
	static const char mark[] = "~Module signature appended~\n";
	char *path = host_path(object), end[sizeof(mark)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool unreadable = strcmp(strrchr(object, '.'), ".ko");

	free(path);
	if (fd < 0)
		return OPTION_UNKNOWN;
	if (lseek(fd, -(off_t)(sizeof(mark) - 1), SEEK_END) >= 0 &&
	    read(fd, end, sizeof(mark) - 1) < 0)
		unreadable = true;
	close(fd);
	if (unreadable)
		return OPTION_UNKNOWN;
	return strcmp(end, mark) ? OPTION_NO : OPTION_YES;
}

/* Appends @line to *@kept, and frees @line. */
static void keep(char **kept, char *line)
{
	char *more = xasprintf("%s%s\n", *kept, line);

	free(*kept);
	free(line);
	*kept = more;
}

/* Stores the hooks that are not attached, and the parts that the module was built without. */
static void keep_refused(struct doctor *d, char *text)
{
	char *line, *next = NULL, symbol[64], part[32], mechanism[32], why[512];
	int error;

	d->refused = xstrdup("");
	d->left_out = xstrdup("");
	for (line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		if (sscanf(line, "%63s %31s %31s %*u %*u %511s %d", symbol, part, mechanism, why,
			   &error) != 5 || !error)
			continue;
		if (!strcmp(mechanism, "detached"))
			keep(&d->refused, xasprintf("%s %d", symbol, error));
		if (strcmp(mechanism, "left_out"))
			continue;
		text_unescape(why);
		keep(&d->left_out, xasprintf("%s %s", part, why));
	}
}

static void find_module(struct doctor *d)
{
	char *text, *control = xasprintf("%s/control", proc_root());

	d->loaded = d->host.running && (host_has("/sys/module/iotracer") ||
					(getenv("IOTRACER_PROC") && !access(control, F_OK)));
	free(control);
	d->object = find_object(&d->host);
	d->is_signed = d->object ? find_signature(d->object) : OPTION_UNKNOWN;
	if (!d->loaded || proc_read(NULL, "hooks", &text))
		return;
	keep_refused(d, text);
	free(text);
}

void doctor_look(struct doctor *d)
{
	size_t i;

	find_module(d);
	for (i = 0; i < NR_CHECKS; i++) {
		d->checks[i].name = looks[i].name;
		looks[i].look(d, &d->checks[i]);
	}
}

void doctor_close(struct doctor *d)
{
	size_t i;

	for (i = 0; i < NR_CHECKS; i++) {
		free(d->checks[i].found);
		free(d->checks[i].remedy);
	}
	free(d->refused);
	free(d->left_out);
	free(d->object);
	host_close(&d->host);
}
