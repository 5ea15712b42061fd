// SPDX-License-Identifier: GPL-2.0
/* iotracer doctor: the needs of the categories, and whether the kernel meets them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "doctor/doctor.h"

enum need_kind {
	NEED_OPTION, NEED_SYMBOL, NEED_POINT, NEED_SYSCALL, NEED_FUNCTION, NEED_FUNCTION_IF,
	NEED_CALLED, NEED_CALLED_IF, NEED_MODULE, NEED_HELP,
};

struct need {
	const char *category;
	enum need_kind kind;
	const char *ops;	/* "READ WRITE" */
	const char *names;	/* "a|b" */
	const char *more;
	const char *option;
};

static const struct need needs[] = {
#define NEED(c, k, o, n, m, p) { #c, NEED_##k, o, n, m, p },
#include "doctor/needs.def"
};

#define NR_NEEDS (sizeof(needs) / sizeof(needs[0]))
#define NAME_MAX_LENGTH 64

/* The state of a need: a verdict, or FATE_NONE if it does not matter here. */
enum fate { FATE_OK, FATE_MISSING, FATE_UNKNOWN, FATE_NONE };

/* Copies the next of the words that @separator separates; false after the last. */
static bool next_word(const char **words, char separator, char *word)
{
	size_t length = strcspn(*words, (char[]){ separator, '\0' });

	if (!length || length >= NAME_MAX_LENGTH)
		return false;
	memcpy(word, *words, length);
	word[length] = '\0';
	*words += length + ((*words)[length] != '\0');
	return true;
}

static bool has_word(const char *words, char separator, const char *wanted)
{
	char word[NAME_MAX_LENGTH];

	while (next_word(&words, separator, word))
		if (!strcmp(word, wanted))
			return true;
	return false;
}

static bool has(const struct host *host, const char *prefix, const char *name)
{
	char *symbol = xasprintf("%s%s", prefix, name);
	bool there = host_has_symbol(host, symbol);

	free(symbol);
	return there;
}

static bool has_syscall(const struct host *host, const char *name)
{
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_",
						"__arm64_sys_", "__arm64_compat_sys_" };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (has(host, prefixes[i], name))
			return true;
	return false;
}

static bool has_in_module(const struct host *host, const char *name, const char *module)
{
	char *symbol = xasprintf("%s [%s]", name, module);
	bool there = host_has_symbol(host, symbol) || host_has_symbol(host, name);

	free(symbol);
	return there;
}

static bool has_name(const struct host *host, const struct need *need, const char *name)
{
	switch (need->kind) {
	case NEED_POINT:
		return has(host, "__traceiter_", name);
	case NEED_SYSCALL:
		return has_syscall(host, name);
	case NEED_MODULE:
		return has_in_module(host, name, need->more);
	default:
		return has(host, "", name);
	}
}

static bool has_any(const struct host *host, const struct need *need)
{
	const char *names = need->names;
	char name[NAME_MAX_LENGTH];

	while (next_word(&names, '|', name))
		if (has_name(host, need, name))
			return true;
	return false;
}

static bool is_loaded(const char *module)
{
	char *path = xasprintf("/sys/module/%s", module);
	bool loaded = host_has(path);

	free(path);
	return loaded;
}

/* Whether the need is hooked by the module. The other kinds are called, or are not functions. */
static bool is_hooked(const struct need *need)
{
	return need->kind != NEED_OPTION && need->kind != NEED_SYMBOL &&
	       need->kind != NEED_HELP;
}

/* "__x64_sys_open" becomes "open". */
static const char *without_prefix(const char *symbol)
{
	const char *sys = strstr(symbol, "_sys_");

	return !strncmp(symbol, "__", 2) && sys ? sys + strlen("_sys_") : symbol;
}

/* The error of the module's attempt to hook it, or 0. */
static int refused(const struct doctor *d, const struct need *need)
{
	const char *line = d->refused, *name;
	char symbol[NAME_MAX_LENGTH];
	int error;

	for (; is_hooked(need) && line && *line; line = strchr(line, '\n') + 1) {
		if (sscanf(line, "%63s %d", symbol, &error) != 2)
			continue;
		name = need->kind == NEED_SYSCALL ? without_prefix(symbol) : symbol;
		if (has_word(need->names, '|', name))
			return error;
	}
	return 0;
}

/* Whether the need matters for this kernel at all. */
static bool concerns(const struct host *host, const struct need *need)
{
	if (*need->option && host_option(host, need->option) == OPTION_NO)
		return false;
	if (need->kind == NEED_CALLED_IF)
		return has(host, "", need->more);
	return need->kind != NEED_MODULE || is_loaded(need->more);
}

static enum fate fate_of_option(const struct host *host, const struct need *need)
{
	const char *names = need->names, *functions = need->more;
	bool known = true;
	char name[NAME_MAX_LENGTH];

	while (next_word(&names, '|', name)) {
		enum host_option option = host_option(host, name);

		if (option == OPTION_YES)
			return FATE_OK;
		known &= option == OPTION_NO;
	}
	while (!known && next_word(&functions, '|', name))
		if (has(host, "", name))
			return FATE_OK;
	return known ? FATE_MISSING : FATE_UNKNOWN;
}

static enum fate fate_of(const struct doctor *d, const struct need *need)
{
	const struct host *host = &d->host;

	if (need->kind == NEED_OPTION)
		return fate_of_option(host, need);
	if (!host->symbols)
		return FATE_UNKNOWN;
	if (!concerns(host, need))
		return FATE_NONE;
	if (!has_any(host, need))
		return need->kind == NEED_SYSCALL || need->kind == NEED_FUNCTION_IF ?
		       FATE_NONE : FATE_MISSING;
	if (need->kind == NEED_CALLED && !has(host, "", need->more))
		return FATE_MISSING;
	return refused(d, need) ? FATE_MISSING : FATE_OK;
}

/* Takes ownership of @sentence, and drops it if it is already there. */
static void add(struct ability *a, char *sentence)
{
	size_t i;

	for (i = 0; i < a->nr; i++) {
		if (strcmp(a->missing[i], sentence))
			continue;
		free(sentence);
		return;
	}
	a->missing = xreallocarray(a->missing, a->nr + 1, sizeof(*a->missing));
	a->missing[a->nr++] = sentence;
}

/* Why a need is missing: "a is not in this kernel", or the module's error. */
static char *why_missing(const struct doctor *d, const struct need *need)
{
	const char *kind = need->kind == NEED_POINT ? "tracepoint " : "";
	const char *bar = strchr(need->names, '|');

	if (need->kind == NEED_OPTION && bar)
		return xasprintf("this kernel is built neither with CONFIG_%.*s nor CONFIG_%s",
				 (int)(bar - need->names), need->names, bar + 1);
	if (need->kind == NEED_OPTION)
		return xasprintf("this kernel is built without CONFIG_%s", need->names);
	if (has_any(&d->host, need) && refused(d, need))
		return xasprintf("the module cannot hook %s: error %d", need->names,
				 refused(d, need));
	if (has_any(&d->host, need))
		return xasprintf("%s is not in this kernel", need->more);
	if (bar)
		return xasprintf("neither %s%.*s nor %s is in this kernel", kind,
				 (int)(bar - need->names), need->names, bar + 1);
	return xasprintf("%s%s is not in this kernel", kind, need->names);
}

/* Says that @op, or the category if @op is NULL, is not recorded because @need is missing. */
static char *sentence_of(const struct doctor *d, const struct need *need, const char *op)
{
	char *why = why_missing(d, need), *sentence;
	bool uring = need->kind == NEED_CALLED || need->kind == NEED_CALLED_IF;

	if (need->kind == NEED_HELP)
		sentence = xasprintf("%s: %s", why, need->more);
	else if (op)
		sentence = xasprintf("%s%s: %s", op, uring ? " of io_uring" : "", why);
	else
		return why;
	free(why);
	return sentence;
}

static bool is_for_all(const struct need *need)
{
	return need->kind == NEED_OPTION || need->kind == NEED_SYMBOL ||
	       need->kind == NEED_POINT;
}

static enum verdict verdict_of(size_t ok, size_t missing, size_t unknown)
{
	if (missing)
		return ok ? VERDICT_PARTLY : VERDICT_MISSING;
	if (unknown)
		return VERDICT_UNKNOWN;
	return ok ? VERDICT_OK : VERDICT_MISSING;
}

/* Judges an operation by its needs. An operation without needs works. */
static enum verdict judge_operation(const struct doctor *d, const char *category,
				    const char *op, struct ability *a)
{
	size_t count[FATE_NONE + 1] = { 0 }, all = 0, i;
	enum verdict verdict;

	for (i = 0; i < NR_NEEDS; i++) {
		const struct need *need = &needs[i];
		enum fate fate;

		if (strcmp(need->category, category) || !has_word(need->ops, ' ', op))
			continue;
		fate = fate_of(d, need);
		all++;
		count[fate]++;
		if (fate == FATE_MISSING)
			add(a, sentence_of(d, need, op));
	}
	verdict = all ? verdict_of(count[FATE_OK], count[FATE_MISSING], count[FATE_UNKNOWN]) :
			VERDICT_OK;
	if (verdict == VERDICT_MISSING && !count[FATE_MISSING])
		add(a, xasprintf("%s: this kernel has no system call for it", op));
	return verdict;
}

static enum verdict judge_operations(const struct doctor *d, const struct category *category,
				     struct ability *a)
{
	size_t count[VERDICT_UNKNOWN + 1] = { 0 };
	const struct iot_op *op;
	unsigned int i;

	for (i = 0; (op = iot_names_op(category->event_id, i)); i++)
		count[judge_operation(d, category->name, op->name, a)]++;
	if (count[VERDICT_PARTLY])
		return VERDICT_PARTLY;
	return verdict_of(count[VERDICT_OK], count[VERDICT_MISSING], count[VERDICT_UNKNOWN]);
}

/* Judges the needs of the category as a whole, and its optional ones (HELP). */
static enum verdict judge_whole(const struct doctor *d, const char *category, struct ability *a)
{
	enum verdict verdict = VERDICT_OK;
	size_t i;

	for (i = 0; i < NR_NEEDS; i++) {
		const struct need *need = &needs[i];
		enum fate fate = strcmp(need->category, category) ? FATE_NONE : fate_of(d, need);

		if (fate == FATE_UNKNOWN && verdict == VERDICT_OK)
			verdict = VERDICT_UNKNOWN;
		if (fate != FATE_MISSING || (is_hooked(need) && need->kind != NEED_POINT))
			continue;
		add(a, sentence_of(d, need, NULL));
		/* without it the whole category is missing */
		if (need->kind == NEED_OPTION)
			return VERDICT_MISSING;
		if (is_for_all(need))
			verdict = VERDICT_MISSING;
		else if (verdict == VERDICT_OK)
			verdict = VERDICT_PARTLY;
	}
	return verdict;
}

/* Adds the checks that keep every category from working. False if there are none. */
static bool add_blockers(const struct doctor *d, struct ability *a)
{
	char *names = NULL;
	size_t i;

	for (i = 0; i < NR_CHECKS; i++) {
		if (d->checks[i].blocks)
			names = text_append(names, ", ", d->checks[i].name);
	}
	if (!names)
		return false;
	add(a, xasprintf("the module cannot be used here: see %s", names));
	free(names);
	return true;
}

/* Judges the parts that the module was built without: the whole category, or a part of it. */
static enum verdict judge_left_out(const struct doctor *d, const char *category,
				   struct ability *a)
{
	const char *line = d->left_out;
	enum verdict verdict = VERDICT_OK;
	char part[NAME_MAX_LENGTH], why[512];

	for (; line && *line; line = strchr(line, '\n') + 1) {
		if (sscanf(line, "%63s %511[^\n]", part, why) != 2 ||
		    strncmp(part, category, strcspn(part, "_")))
			continue;
		verdict = strcmp(part, category) ? VERDICT_PARTLY : VERDICT_MISSING;
		add(a, xasprintf("%s is left out of the module, because it does not compile for this kernel: %s",
				 part, why));
	}
	return verdict;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
	if (a == VERDICT_MISSING || b == VERDICT_MISSING)
		return VERDICT_MISSING;
	if (a == VERDICT_PARTLY || b == VERDICT_PARTLY)
		return VERDICT_PARTLY;
	return a == VERDICT_OK ? b : a;
}

void doctor_judge(const struct doctor *d, const struct category *category,
		  struct ability *found)
{
	memset(found, 0, sizeof(*found));
	found->name = category->name;
	found->verdict = VERDICT_MISSING;
	if (add_blockers(d, found))
		return;
	found->verdict = judge_left_out(d, category->name, found);
	if (found->verdict == VERDICT_MISSING)
		return;
	found->verdict = worse(found->verdict, judge_whole(d, category->name, found));
	/* otherwise each operation would repeat this */
	if (found->verdict == VERDICT_MISSING)
		return;
	found->verdict = worse(found->verdict, judge_operations(d, category, found));
	if (found->verdict == VERDICT_UNKNOWN)
		add(found, xasprintf("the %s of this kernel were not found",
				     d->host.symbols ? "options" : "symbols"));
}

void doctor_ability_free(struct ability *found)
{
	size_t i;

	for (i = 0; i < found->nr; i++)
		free(found->missing[i]);
	free(found->missing);
}

static json_t *json_words(const char *words, char separator)
{
	char word[NAME_MAX_LENGTH];
	json_t *array = json_array();

	while (next_word(&words, separator, word))
		json_add(array, json_string(word));
	return array;
}

static json_t *json_need(const struct doctor *d, const struct need *need)
{
	static const char *const kinds[NEED_HELP + 1] = {
		[NEED_OPTION] = "option", [NEED_POINT] = "tracepoint",
		[NEED_SYSCALL] = "syscall",
	};
	static const char *const states[] = { "ok", "missing", "unknown", "none" };
	json_t *object = json_object();

	json_put(object, "kind",
		 json_string(kinds[need->kind] ? kinds[need->kind] : "function"));
	json_put(object, "names", json_words(need->names, '|'));
	json_put(object, "operations", json_words(need->ops, ' '));
	json_put(object, "hooked", json_boolean(is_hooked(need)));
	json_put(object, "state", json_string(states[fate_of(d, need)]));
	return object;
}

json_t *doctor_needs(const struct doctor *d, const struct category *category)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < NR_NEEDS; i++)
		if (!strcmp(needs[i].category, category->name))
			json_add(array, json_need(d, &needs[i]));
	return array;
}
