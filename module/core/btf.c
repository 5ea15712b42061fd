// SPDX-License-Identifier: GPL-2.0
/*
 * The prototypes of the kernel's functions, from its own BTF.
 *
 * Probes read the arguments of functions that are internal to the kernel. A kernel whose
 * arguments have changed would be read wrongly, so each function is compared with the
 * prototype that its probe expects before it is hooked. BTF is read from the kernel's memory,
 * as another file may be mounted over /sys/kernel/btf/vmlinux.
 *
 * A prototype is compared as text: iot_btf_print() writes the prototype of BTF in the notation
 * of struct iot_btf_check, and fits() compares it with the expected one.
 *
 * BTF describes the source. Where gcc changes the arguments of a function it also changes its
 * name ("read_pages.isra.0"), and a probe finds no function of the plain name. pahole leaves
 * out functions whose arguments are not where the source says, and functions that share a
 * name but differ. A function that BTF lacks is not hooked either, see hook_set.c.
 *
 * BTF of modules is not read: their functions are hooked unchecked. So are tracepoints, and
 * functions that are hooked by a pointer, whose type the compiler has checked.
 *
 * BTF may be damaged: nothing outside its bounds is read.
 *
 * Context: task. Nothing changes between iot_btf_init() and iot_btf_exit().
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <uapi/linux/btf.h>
#include "core/btf.h"

#define STEP		64	/* types from one entry of the index to the next */
#define MAX_DEPTH	32	/* modifiers and pointers of a type */
#define NR_HEADS	256	/* buckets of the hash table of names */
#define NONE		U32_MAX

/* Types have ids from 1, in the order in which they are stored. Id 0 is void. */
static struct {
	const char *types;
	u32 types_size;
	const char *strings;
	u32 strings_size;
	u32 nr;
	u32 *index;		/* offsets of types 1, 1 + STEP, 1 + 2 * STEP... */
} btf;

static u32 kind_of(const struct btf_type *t)
{
	return t->info >> 24 & 0x7f;
}

/* Number of members or arguments. Before Linux 7 it had 16 bits, and the 8 above were 0. */
static u32 count_of(const struct btf_type *t)
{
	return t->info & 0xffffff;
}

/* Bytes that the description of a type takes, 0 if its kind is unknown. */
static u32 size_of(const struct btf_type *t)
{
	u32 n = count_of(t);

	switch (kind_of(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
		return sizeof(*t);
	case BTF_KIND_INT:
		return sizeof(*t) + sizeof(u32);
	case BTF_KIND_VAR:
		return sizeof(*t) + sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*t) + n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return sizeof(*t) + n * sizeof(struct btf_var_secinfo);
	}
	return 0;
}

/* Return: the type at @offset, or NULL if it is truncated or of an unknown kind. */
static const struct btf_type *type_at(u32 offset)
{
	const struct btf_type *t = (const void *)(btf.types + offset);
	u32 left = btf.types_size - offset, size;

	if (left < sizeof(*t))
		return NULL;
	size = size_of(t);
	return size && size <= left ? t : NULL;
}

/* Return: the type, or NULL if there is no such type or it is void. */
static const struct btf_type *type_of(u32 id)
{
	const struct btf_type *t;
	u32 offset, i;

	if (!id || id > btf.nr)
		return NULL;
	offset = btf.index[(id - 1) / STEP];
	for (i = (id - 1) % STEP, t = type_at(offset); t && i; i--) {
		offset += size_of(t);
		t = type_at(offset);
	}
	return t;
}

/* open_sections() has checked that the last string is terminated. */
static const char *string_at(u32 offset)
{
	return offset < btf.strings_size ? btf.strings + offset : "";
}

static const char *integer_name(u32 size)
{
	switch (size) {
	case 1: return "char";
	case 2: return "short";
	case 4: return "int";
	case 8: return "long";
	}
	return "?";
}

static const char *base_name(const struct btf_type *t)
{
	const char *name;

	switch (kind_of(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return integer_name(t->size);
	case BTF_KIND_FUNC_PROTO:
		return "function";
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		name = string_at(t->name_off);
		return *name ? name : "?";
	}
	return "?";
}

static const char *tag_of(const struct btf_type *t)
{
	switch (kind_of(t)) {
	case BTF_KIND_STRUCT:
		return "struct ";
	case BTF_KIND_UNION:
		return "union ";
	case BTF_KIND_FWD: /* the kind flag distinguishes the two */
		return t->info >> 31 ? "union " : "struct ";
	}
	return "";
}

static bool is_modifier(const struct btf_type *t)
{
	switch (kind_of(t)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return true;
	}
	return false;
}

/* Return: bytes written. */
static size_t print_type(u32 id, char *text, size_t size)
{
	static const char stars[] = " ********";
	const struct btf_type *t;
	size_t depth, pointers = 0;

	for (depth = 0; (t = type_of(id)); depth++, id = t->type) {
		if (kind_of(t) == BTF_KIND_PTR)
			pointers++;
		else if (!is_modifier(t))
			break;
		if (depth == MAX_DEPTH || pointers == sizeof(stars) - 2)
			return scnprintf(text, size, "?");
	}
	if (!t && id) /* no such type */
		return scnprintf(text, size, "?");
	return scnprintf(text, size, "%s%s%.*s", t ? tag_of(t) : "",
			 t ? base_name(t) : "void", pointers ? (int)pointers + 1 : 0, stars);
}

/**
 * iot_btf_print() - print a function's prototype in the notation of struct iot_btf_check
 * @func:	id of the function's type
 * @text:	buffer of @size bytes; IOT_BTF_TEXT is enough for what a probe can expect
 */
void iot_btf_print(u32 func, char *text, size_t size)
{
	const struct btf_type *t = type_of(func);
	const struct btf_param *args;
	size_t n;
	u32 i;

	t = t ? type_of(t->type) : NULL;
	if (!t || kind_of(t) != BTF_KIND_FUNC_PROTO) {
		scnprintf(text, size, "?");
		return;
	}
	args = (const void *)(t + 1);
	n = print_type(t->type, text, size);
	n += scnprintf(text + n, size - n, " (");
	for (i = 0; i < count_of(t) && n + 1 < size; i++) {
		n += scnprintf(text + n, size - n, "%s", i ? ", " : "");
		/* the last argument of a variadic function has no type */
		n += args[i].type ? print_type(args[i].type, text + n, size - n) :
				    scnprintf(text + n, size - n, "...");
	}
	scnprintf(text + n, size - n, "%s)", i ? "" : "void");
}

/* Does the printed type, @len bytes, fit in one register? A return type of void does. */
static bool is_register(const char *text, size_t len)
{
	static const char * const integers[] = { "char", "short", "int", "long" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(integers); i++)
		if (len == strlen(integers[i]) && !strncmp(text, integers[i], len))
			return true;
	return (len && text[len - 1] == '*') || !strncmp(text, "void (", strlen("void ("));
}

/* Return: the end of the argument or return type that is printed at @text. */
static const char *end_of(const char *text)
{
	const char *end = text + strcspn(text, "(,)|");

	while (end > text && end[-1] == ' ')
		end--;
	return end;
}

/* Does the first prototype of @proto match the complete prototype that is printed in @text? */
static bool fits_first(const char *proto, const char *text)
{
	for (;;) {
		const char *proto_end = end_of(proto), *text_end = end_of(text);
		size_t len = proto_end - proto, text_len = text_end - text;

		if (len == 3 && !strncmp(proto, "...", 3))
			return true;
		if (len == 1 && *proto == '_') {
			if (!is_register(text, text_len))
				return false;
		} else if (len != text_len || strncmp(proto, text, len)) {
			return false;
		}
		/* the separator: ", " or " (", or nothing at the end of either */
		len = strspn(proto_end, " (,");
		if (len != strspn(text_end, " (,") || strncmp(proto_end, text_end, len))
			return *text_end == ')' && !strncmp(proto_end, ", ...)", 6);
		if (!len)
			return *proto_end == ')' && *text_end == ')';
		proto = proto_end + len;
		text = text_end + len;
	}
}

static bool fits(const char *proto, const char *text)
{
	while (proto) {
		if (fits_first(proto, text))
			return true;
		proto = strstr(proto, " | ");
		proto = proto ? proto + 3 : NULL;
	}
	return false;
}

static u32 hash_of(const char *name)
{
	u32 hash = 0;

	while (*name)
		hash = hash * 31 + (unsigned char)*name++;
	return hash % NR_HEADS;
}

/* Check a function of that name. BTF may have several that differ: all of them have to match. */
static void compare(struct iot_btf_check *check, u32 func)
{
	char text[IOT_BTF_TEXT];

	if (check->match == IOT_BTF_DIFFERS)
		return;
	iot_btf_print(func, text, sizeof(text));
	check->match = fits(check->proto, text) ? IOT_BTF_FITS : IOT_BTF_DIFFERS;
	check->func = func;
}

static void see_func(struct iot_btf_check *checks, const u32 *heads, u32 func,
		     const struct btf_type *t)
{
	const char *name = string_at(t->name_off);
	u32 i;

	for (i = heads[hash_of(name)]; i != NONE; i = checks[i].next)
		if (!strcmp(checks[i].name, name))
			compare(&checks[i], func);
}

/**
 * iot_btf_check() - compare functions with their expected prototypes
 * @checks:	@nr functions, all checked in one walk through BTF
 *
 * The walk takes milliseconds. Context: task, may sleep.
 */
void iot_btf_check(struct iot_btf_check *checks, unsigned int nr)
{
	u32 heads[NR_HEADS], offset = 0, id, i;
	const struct btf_type *t;

	memset(heads, 0xff, sizeof(heads)); /* NONE */
	for (i = 0; i < nr; i++) {
		u32 *head = &heads[hash_of(checks[i].name)];

		checks[i].match = IOT_BTF_UNCHECKED;
		if (!checks[i].proto || !btf.nr)
			continue;
		checks[i].match = IOT_BTF_ABSENT;
		checks[i].next = *head;
		*head = i;
	}
	for (id = 1; id <= btf.nr && (t = type_at(offset)); id++, offset += size_of(t)) {
		if (kind_of(t) == BTF_KIND_FUNC)
			see_func(checks, heads, id, t);
		if (!(id % 1024))
			cond_resched();
	}
}

static bool is_composite(const struct btf_type *t)
{
	return t && (kind_of(t) == BTF_KIND_STRUCT || kind_of(t) == BTF_KIND_UNION);
}

/* Offset of a member in bytes, or -EPROTOTYPE if it is a bit field or outside the struct. */
static int byte_of(const struct btf_type *t, const struct btf_member *m)
{
	bool has_bits = t->info >> 31;
	u32 bits = has_bits ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;

	if (has_bits && BTF_MEMBER_BITFIELD_SIZE(m->offset))
		return -EPROTOTYPE;
	return bits % 8 || bits / 8 >= t->size ? -EPROTOTYPE : (int)(bits / 8);
}

static int member_of(const struct btf_type *t, const char *member, const char *type)
{
	const struct btf_member *m = (const void *)(t + 1);
	char text[IOT_BTF_TEXT];
	u32 i;

	for (i = 0; i < count_of(t); i++, m++) {
		if (strcmp(string_at(m->name_off), member))
			continue;
		print_type(m->type, text, sizeof(text));
		return strcmp(text, type) ? -EPROTOTYPE : byte_of(t, m);
	}
	return -ENOENT;
}

/* As member_of(), but in the unnamed structs and unions of @t, one level down. */
static int inner_member_of(const struct btf_type *t, const char *member, const char *type)
{
	const struct btf_member *m = (const void *)(t + 1);
	int outer, inner = -ENOENT;
	u32 i;

	for (i = 0; i < count_of(t) && inner == -ENOENT; i++, m++) {
		const struct btf_type *composite = type_of(m->type);

		if (*string_at(m->name_off) || !is_composite(composite))
			continue;
		inner = member_of(composite, member, type);
		outer = byte_of(t, m);
		if (inner >= 0)
			inner = outer < 0 ? outer : outer + inner;
	}
	return inner;
}

/**
 * iot_btf_member() - find the offset of a struct member that no kernel header declares
 * @name:	name of the struct
 * @member:	member of the struct, or of an unnamed struct or union in it
 * @type:	its type as in struct iot_btf_check: "long", "struct file *"
 *
 * Walks through BTF, which takes milliseconds. Context: task, may sleep.
 * Return: offset in bytes; -ENOENT: no such struct or member, or no BTF; -EPROTOTYPE: the
 * member has another type or is a bit field.
 */
int iot_btf_member(const char *name, const char *member, const char *type)
{
	const struct btf_type *t;
	u32 offset = 0, id;
	int err;

	for (id = 1; id <= btf.nr && (t = type_at(offset)); id++, offset += size_of(t)) {
		if (kind_of(t) == BTF_KIND_STRUCT && !strcmp(string_at(t->name_off), name)) {
			err = member_of(t, member, type);
			return err == -ENOENT ? inner_member_of(t, member, type) : err;
		}
		if (!(id % 1024))
			cond_resched();
	}
	return -ENOENT;
}

/* Find the sections. Return: false if @data is not BTF or is damaged. */
static bool open_sections(const char *data, size_t size)
{
	const struct btf_header *h = (const void *)data;
	u64 body;

	if (size < sizeof(u64) || h->magic != BTF_MAGIC || h->version != BTF_VERSION)
		return false;
	/* the header of later kernels has more fields */
	if (h->hdr_len < offsetofend(struct btf_header, str_len) || h->hdr_len > size)
		return false;
	body = size - h->hdr_len;
	if ((u64)h->type_off + h->type_len > body || (u64)h->str_off + h->str_len > body)
		return false;
	if ((h->hdr_len | h->type_off) % sizeof(u32))
		return false;
	btf.types = data + h->hdr_len + h->type_off;
	btf.types_size = h->type_len;
	btf.strings = data + h->hdr_len + h->str_off;
	btf.strings_size = h->str_len;
	return h->str_len && !btf.strings[h->str_len - 1];
}

/* Return: 0; -ENOMEM; or -EINVAL if a type is truncated or of an unknown kind. */
static int make_index(void)
{
	const struct btf_type *t;
	u32 offset;

	btf.index = kvcalloc(btf.types_size / sizeof(*t) / STEP + 1, sizeof(*btf.index),
			     GFP_KERNEL);
	if (!btf.index)
		return -ENOMEM;
	for (offset = 0; offset < btf.types_size; offset += size_of(t)) {
		t = type_at(offset);
		if (!t) {
			iot_btf_exit();
			return -EINVAL;
		}
		if (!(btf.nr % STEP))
			btf.index[btf.nr / STEP] = offset;
		btf.nr++;
	}
	return 0;
}

/**
 * iot_btf_init() - check functions by this BTF from now on
 * @data:	BTF, @size bytes, which must stay and not change until iot_btf_exit()
 *
 * Before this nothing is checked. The index of the types takes 20 KiB. Context: load, may
 * sleep. Return: 0; -ENOMEM; or -EINVAL: the BTF is damaged or has types of an unknown kind.
 */
int iot_btf_init(const void *data, size_t size)
{
	return open_sections(data, size) ? make_index() : -EINVAL;
}

/** iot_btf_exit() - free the index; nothing is checked any more. Context: unload */
void iot_btf_exit(void)
{
	kvfree(btf.index);
	memset(&btf, 0, sizeof(btf));
}
