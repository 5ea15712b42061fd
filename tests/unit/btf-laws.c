// SPDX-License-Identifier: GPL-2.0
/*
 * Tests module/core/btf.c with BTF that is made here: which prototypes fit, where members
 * are, and that damaged BTF is never read beyond its end, which AddressSanitizer would report.
 */
#include <linux/kernel.h>
#include <uapi/linux/btf.h>
#include "core/btf.h"
#include "unit.h"

#define MAX_SECTION	8192

/* The sections under construction, and the BTF made of them. */
static u32 types[MAX_SECTION / 4];
static char strings[MAX_SECTION];
static u32 types_len, strings_len, nr_types;
static unsigned char *blob;
static size_t blob_len;

static u32 add_string(const char *text)
{
	u32 at = strings_len;

	if (!*text)
		return 0;
	CHECK(at + strlen(text) < MAX_SECTION, "too many strings");
	strcpy(strings + at, text);
	strings_len += strlen(text) + 1;
	return at;
}

static void add_words(const u32 *words, u32 n)
{
	CHECK(types_len + n <= ARRAY_SIZE(types), "too many types");
	memcpy(types + types_len, words, n * sizeof(*words));
	types_len += n;
}

/* @last: the size of the type, or the type that it refers to. Return: the id of the type. */
static u32 add_type(const char *name, u32 kind, u32 count, u32 last)
{
	u32 words[] = { add_string(name), kind << 24 | count, last };

	add_words(words, 3);
	return ++nr_types;
}

static u32 add_int(const char *name, u32 size)
{
	u32 id = add_type(name, BTF_KIND_INT, 0, size), bits = size * 8;

	add_words(&bits, 1);
	return id;
}

static u32 add_struct(const char *name, u32 kind, u32 member)
{
	u32 id = add_type(name, kind, 1, 8), words[] = { add_string("member"), member, 0 };

	add_words(words, 3);
	return id;
}

static u32 add_enum(const char *name, u32 kind, u32 size)
{
	u32 id = add_type(name, kind, 1, size), words[3] = { add_string("VALUE") };

	add_words(words, kind == BTF_KIND_ENUM ? 2 : 3);
	return id;
}

static u32 pointer_to(u32 type)
{
	return add_type("", BTF_KIND_PTR, 0, type);
}

struct member {
	const char *name;
	u32 type;
	u32 offset;	/* in bits; if @has_bits, the upper 8 bits are the size of a bit field */
};

static u32 add_members(const char *name, u32 kind, bool has_bits, u32 size,
		       const struct member *m, u32 n)
{
	u32 id = add_type(name, kind | (has_bits ? 1U << 7 : 0), n, size);

	for (; n; n--, m++)
		add_words((const u32[]){ add_string(m->name), m->type, m->offset }, 3);
	return id;
}

#define MEMBERS(name, kind, has_bits, size, ...)				\
	add_members(name, kind, has_bits, size, (const struct member[]){ __VA_ARGS__ },	\
		    sizeof((const struct member[]){ __VA_ARGS__ }) / sizeof(struct member))

/* Ends the @args of add_func(). */
#define NONE	(~0U)

static u32 add_func(const char *name, u32 result, const u32 *args)
{
	u32 n = 0, proto, words[2] = { add_string("arg") };

	while (args[n] != NONE)
		n++;
	proto = add_type("", BTF_KIND_FUNC_PROTO, n, result);
	for (; *args != NONE; args++) {
		words[1] = *args;
		add_words(words, 2);
	}
	return add_type(name, BTF_KIND_FUNC, 0, proto);
}

#define FUNC(name, result, ...) add_func(name, result, (const u32[]){ __VA_ARGS__ NONE })

static void close_blob(void)
{
	struct btf_header h = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h),
		.type_len = 4 * types_len, .str_off = 4 * types_len, .str_len = strings_len,
	};

	blob_len = sizeof(h) + h.type_len + h.str_len;
	blob = unit_alloc(blob_len);
	memcpy(blob, &h, sizeof(h));
	memcpy(blob + sizeof(h), types, h.type_len);
	memcpy(blob + sizeof(h) + h.type_len, strings, h.str_len);
}

/* @filler: types to put before the functions, so that the index has more entries. */
static void make_blob(u32 filler)
{
	u32 i, l, c, s, b, file, files, name, names, loff, e, e64, fwd, fn, tag, anonymous,
	    u;

	types_len = 0;
	nr_types = 0;
	strings_len = 1;
	i = add_int("unsigned int", 4);
	l = add_int("long int", 8);
	c = add_int("char", 1);
	s = add_int("short int", 2);
	b = add_int("__int128", 16);
	file = add_struct("file", BTF_KIND_STRUCT, l);
	while (filler--)
		add_type("", BTF_KIND_PTR, 0, file);
	loff = add_type("loff_t", BTF_KIND_TYPEDEF, 0,
			add_type("__kernel_loff_t", BTF_KIND_TYPEDEF, 0, l));
	files = pointer_to(add_type("", BTF_KIND_CONST, 0, file));
	name = add_type("filename", BTF_KIND_FWD, 0, 0);
	names = add_type("", BTF_KIND_RESTRICT, 0, pointer_to(name));
	e = add_enum("how", BTF_KIND_ENUM, 4);
	e64 = add_enum("where", BTF_KIND_ENUM64, 8);
	fwd = add_type("either", BTF_KIND_FWD, 1U << 31, 0);
	fn = pointer_to(add_type("", BTF_KIND_FUNC_PROTO, 0, i));
	tag = add_type("user", BTF_KIND_TYPE_TAG, 0, c);
	anonymous = pointer_to(add_struct("", BTF_KIND_UNION, l));

	u = MEMBERS("", BTF_KIND_UNION, false, 8, { "ptr", l, 0 }, { "buffer", files, 0 });
	MEMBERS("node", BTF_KIND_STRUCT, false, 32, { "refs", i, 32 }, { "tag", l, 64 },
		{ "", u, 128 }, { "far", l, 512 }, { "named", u, 192 });
	MEMBERS("bits", BTF_KIND_STRUCT, true, 16, { "one", i, 1 << 24 | 3 }, { "whole", l, 64 },
		{ "odd", l, 65 });
	add_type("later", BTF_KIND_FWD, 0, 0);

	FUNC("plain", i, files, loff, s,);
	FUNC("nothing", 0,);
	FUNC("pointers", pointer_to(pointer_to(tag)), pointer_to(0), pointer_to(loff), names,
	     fn, pointer_to(fwd),);
	FUNC("enums", c, e, e64,);
	FUNC("by_value", l, file, i,);
	FUNC("wide", i, b,);
	FUNC("unnamed", i, anonymous,);
	FUNC("variable", i, l, 0,);
	FUNC("twice", i, l,);
	FUNC("twice", i, i,);
	FUNC("equal", i, l,);
	FUNC("equal", e, loff,);
	add_type("no_function", BTF_KIND_VAR, 0, i);
	add_words((const u32[]){ 0 }, 1);
	close_blob();
}

static const struct {
	const char *func;
	const char *text;
} texts[] = {
	{ "plain", "int (struct file *, long, short)" },
	{ "nothing", "void (void)" },
	{ "pointers", "char ** (void *, long *, struct filename *, function *, union either *)" },
	{ "enums", "char (int, long)" },
	{ "by_value", "long (struct file, int)" },
	{ "wide", "int (?)" },
	{ "unnamed", "int (union ? *)" },
	{ "variable", "int (long, ...)" },
};

static const struct {
	const char *func;
	const char *proto;
	enum iot_btf_match match;
} laws[] = {
#define FITS(func, proto)	{ func, proto, IOT_BTF_FITS }
#define DIFFERS(func, proto)	{ func, proto, IOT_BTF_DIFFERS }
	FITS("plain", "int (struct file *, long, short)"),
	FITS("plain", "_ (struct file *, _, short)"),
	FITS("plain", "int (struct file *, long, ...)"),
	FITS("plain", "int (struct file *, long, short, ...)"),
	FITS("plain", "int (...)"),
	FITS("plain", "int (struct file *, long) | int (struct file *, long, short)"),
	FITS("plain", "int (struct file *, long, short) | void (void)"),
	/* an argument less, more, of another type, in another place; another result */
	DIFFERS("plain", "int (struct file *, long)"),
	DIFFERS("plain", "int (struct file *, long, short, int)"),
	DIFFERS("plain", "int (struct file *, long, short, int, ...)"),
	DIFFERS("plain", "int (void)"),
	DIFFERS("plain", "int (struct files *, long, short)"),
	DIFFERS("plain", "int (struct fil *, long, short)"),
	DIFFERS("plain", "int (union file *, long, short)"),
	DIFFERS("plain", "int (struct file **, long, short)"),
	DIFFERS("plain", "int (struct file *, int, short)"),
	DIFFERS("plain", "int (struct file *, long, int)"),
	DIFFERS("plain", "int (long, struct file *, short)"),
	DIFFERS("plain", "long (struct file *, long, short)"),
	DIFFERS("plain", "void (struct file *, long, short)"),
	DIFFERS("plain", "int (struct file *, long) | int (long, long, short)"),
	FITS("nothing", "void (void)"),
	FITS("nothing", "_ (void)"),
	FITS("nothing", "_ (...)"),
	DIFFERS("nothing", "void (_)"),
	DIFFERS("nothing", "void (int)"),
	DIFFERS("nothing", "int (void)"),
	FITS("pointers",
	     "char ** (void *, long *, struct filename *, function *, union either *)"),
	FITS("pointers", "_ (_, _, _, _, _)"),
	DIFFERS("pointers", "_ (_, _, _, _)"),
	DIFFERS("pointers", "char * (void *, ...)"),
	DIFFERS("pointers", "char ** (struct file *, ...)"),
	DIFFERS("pointers", "char ** (void *, long, ...)"),
	FITS("enums", "_ (int, long)"),
	DIFFERS("enums", "_ (long, int)"),
	/* an argument that does not take exactly one register moves all others */
	FITS("by_value", "long (struct file, ...)"),
	DIFFERS("by_value", "long (_, int)"),
	DIFFERS("wide", "int (_)"),
	FITS("unnamed", "int (_)"),
	DIFFERS("unnamed", "int (union either *)"),
	FITS("variable", "int (long, ...)"),
	DIFFERS("variable", "int (long, _)"),
	/* if two functions have the same name, both have to fit */
	DIFFERS("twice", "int (long)"),
	DIFFERS("twice", "int (int)"),
	FITS("twice", "int (int) | int (long)"),
	FITS("equal", "int (long)"),
	{ "plai", "int (struct file *, long, short)", IOT_BTF_ABSENT },
	{ "no_function", "int (void)", IOT_BTF_ABSENT },
	{ "plain", NULL, IOT_BTF_UNCHECKED },
};

static const struct {
	const char *name;
	const char *member;
	const char *type;
	int result;
} members[] = {
	{ "node", "refs", "int", 4 },
	{ "node", "tag", "long", 8 },
	{ "node", "ptr", "long", 16 },
	{ "node", "buffer", "struct file *", 16 },
	{ "node", "tag", "int", -EPROTOTYPE },
	{ "node", "ptr", "struct file *", -EPROTOTYPE },
	{ "node", "far", "long", -EPROTOTYPE },
	{ "node", "absent", "long", -ENOENT },
	{ "bits", "one", "int", -EPROTOTYPE },
	{ "bits", "whole", "long", 8 },
	{ "bits", "odd", "long", -EPROTOTYPE },
	{ "later", "ptr", "long", -ENOENT },
	{ "plain", "ptr", "long", -ENOENT },
	{ "nodes", "ptr", "long", -ENOENT },
};

static struct iot_btf_check checks[ARRAY_SIZE(laws)];

static void check_all(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(laws); i++)
		checks[i] = (struct iot_btf_check){ laws[i].func, laws[i].proto, 0, 0, 0 };
	iot_btf_check(checks, ARRAY_SIZE(checks));
}

static void is_lawful(u32 filler)
{
	u32 i;

	make_blob(filler);
	CHECK(!iot_btf_init(blob, blob_len), "valid BTF is refused");
	check_all();
	for (i = 0; i < ARRAY_SIZE(laws); i++)
		CHECK(checks[i].match == laws[i].match, "%s: \"%s\" gives %d", laws[i].func,
		      laws[i].proto ?: "", checks[i].match);
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		int got = iot_btf_member(members[i].name, members[i].member, members[i].type);

		CHECK(got == members[i].result, "%s.%s: %d", members[i].name, members[i].member,
		      got);
	}
	iot_btf_exit();
	free(blob);
}

static void fits(void)
{
	is_lawful(0);
}

/* The index has an entry for 64 types: its entries may be anywhere among the functions. */
static void fits_by_index(void)
{
	u32 filler;

	for (filler = 1; filler < 130; filler++)
		is_lawful(filler);
}

static void prints(void)
{
	struct iot_btf_check check = { .proto = "function (void)" };
	char text[IOT_BTF_TEXT], room;
	size_t size;
	u32 i;

	make_blob(0);
	CHECK(!iot_btf_init(blob, blob_len), "valid BTF is refused");
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		check.name = texts[i].func;
		iot_btf_check(&check, 1);
		CHECK(check.match == IOT_BTF_DIFFERS, "%s: %d", texts[i].func, check.match);
		iot_btf_print(check.func, text, sizeof(text));
		CHECK(!strcmp(text, texts[i].text), "%s: %s", texts[i].func, text);
		for (size = 1; size < strlen(text); size++) {
			char *less = unit_alloc(size);

			iot_btf_print(check.func, less, size);
			CHECK(strlen(less) < size, "%s: not ended in %zu bytes", text, size);
			free(less);
		}
	}
	for (i = 0; i < 2 * nr_types; i++)
		iot_btf_print(i, &room, 1);
	iot_btf_exit();
}

static void is_unchecked(void)
{
	u32 i;

	check_all();
	for (i = 0; i < ARRAY_SIZE(laws); i++)
		CHECK(checks[i].match == IOT_BTF_UNCHECKED, "%s: %d", laws[i].func,
		      checks[i].match);
}

static void no_btf(void)
{
	is_unchecked();
	CHECK(iot_btf_member("node", "tag", "long") == -ENOENT, "a member is known");
}

/* Use @len bytes of any content, and no more. Return: 0, or -EINVAL if they are refused. */
static int look_at(const void *data, size_t len)
{
	unsigned char *copy = unit_alloc(len ?: 1);
	char text[40];
	int err;
	u32 i;

	memcpy(copy, data, len);
	err = iot_btf_init(copy, len);
	CHECK(!err || err == -EINVAL, "error %d", err);
	if (err)
		is_unchecked();
	else
		check_all();
	for (i = 0; i <= nr_types; i++)
		iot_btf_print(i, text, sizeof(text));
	for (i = 0; i < ARRAY_SIZE(members); i++)
		iot_btf_member(members[i].name, members[i].member, members[i].type);
	iot_btf_exit();
	free(copy);
	return err;
}

static void truncated(void)
{
	struct btf_header *h;
	size_t len;
	u32 full, whole = 0;

	make_blob(0);
	CHECK(!look_at(blob, blob_len), "valid BTF is refused");
	for (len = 0; len < blob_len; len++)
		CHECK(look_at(blob, len) == -EINVAL, "%zu bytes are enough", len);
	/* with a shorter type section in the header, BTF is valid if it ends between two types */
	h = (struct btf_header *)blob;
	full = h->type_len;
	for (h->type_len = 0; h->type_len < full; h->type_len++)
		whole += !look_at(blob, blob_len);
	CHECK(whole == nr_types, "%u of %u types", whole, nr_types);
	for (h->str_len = 0; h->str_len < strings_len; h->str_len++)
		look_at(blob, sizeof(*h) + full + h->str_len);
}

/* Flip each bit, and set each byte to 0 and 0xff. */
static void damaged(void)
{
	u32 refused = 0, at, bit;

	make_blob(0);
	for (at = 0; at < blob_len; at++) {
		unsigned char was = blob[at];

		for (bit = 0; bit < 10; bit++) {
			blob[at] = bit < 8 ? was ^ 1 << bit : bit == 8 ? 0 : 0xff;
			refused += !!look_at(blob, blob_len);
		}
		blob[at] = was;
	}
	CHECK(refused, "no damage is noticed");
	CHECK(!look_at(blob, blob_len), "valid BTF is refused");
}

static const struct unit_test tests[] = {
	{ "fits", fits },
	{ "fits-by-index", fits_by_index },
	{ "prints", prints },
	{ "no-btf", no_btf },
	{ "truncated", truncated },
	{ "damaged", damaged },
};

int main(int argc, char **argv)
{
	return unit_main(argc, argv, tests, ARRAY_SIZE(tests));
}
