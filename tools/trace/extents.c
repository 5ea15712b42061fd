// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/xalloc.h"
#include "trace/extents.h"

/* --- the tree ------------------------------------------------------------------- */

/* Xorshift, from a seed that nobody knows. */
static __u32 new_priority(void)
{
	static __u64 state;

	while (!state)
		if (getrandom(&state, sizeof(state), 0) != sizeof(state))
			state = 88172645463325252ULL;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

static struct extent *new_extent(struct extents *e, __u64 begin, __u64 end)
{
	struct extent *x = xreallocarray(NULL, 1, sizeof(*x));

	*x = (struct extent){ .begin = begin, .end = end, .priority = new_priority() };
	++*e->count;
	return x;
}

static void free_extent(struct extents *e, struct extent *x)
{
	--*e->count;
	free(x);
}

static void free_tree(struct extents *e, struct extent *x)
{
	if (!x)
		return;
	free_tree(e, x->left);
	free_tree(e, x->right);
	free_extent(e, x);
}

/* All of @a is before all of @b. */
static struct extent *merge(struct extent *a, struct extent *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->priority > b->priority) {
		a->right = merge(a->right, b);
		return a;
	}
	b->left = merge(a, b->left);
	return b;
}

static void split(struct extents *e, struct extent *x, __u64 at, struct extent **before, struct extent **behind)
{
	struct extent *second, *right;

	if (!x) {
		*before = NULL;
		*behind = NULL;
	} else if (x->end <= at) {
		split(e, x->right, at, &right, behind);
		x->right = right;
		*before = x;
	} else if (x->begin >= at) {
		split(e, x->left, at, before, &right);
		x->left = right;
		*behind = x;
	} else {
		second = new_extent(e, at, x->end);
		second->nr = x->nr;
		memcpy(second->versions, x->versions, sizeof(x->versions));
		*behind = merge(second, x->right);
		x->end = at;
		x->right = NULL;
		*before = x;
	}
}

/* --- what is done with it ------------------------------------------------------- */

struct extent *extents_take(struct extents *e, __u64 begin, __u64 end)
{
	struct extent *before, *taken, *behind;

	if (begin >= end)
		return NULL;
	split(e, e->root, begin, &before, &taken);
	split(e, taken, end, &taken, &behind);
	e->root = merge(before, behind);
	return taken;
}

void extents_put(struct extents *e, struct extent *taken)
{
	struct extent *before, *behind;
	const struct extent *first = taken;

	if (!taken)
		return;
	while (first->left)
		first = first->left;
	split(e, e->root, first->begin, &before, &behind);
	e->root = merge(merge(before, taken), behind);
}

void extents_cut(struct extents *e, __u64 at)
{
	struct extent *before, *behind;

	split(e, e->root, at, &before, &behind);
	e->root = merge(before, behind);
}

void extents_free(struct extents *e)
{
	free_tree(e, e->root);
	e->root = NULL;
}

void extents_drop(struct extents *e, __u64 begin, __u64 end)
{
	free_tree(e, extents_take(e, begin, end));
}

/* The range that has this byte, or NULL. */
static const struct extent *find(const struct extents *e, __u64 at)
{
	const struct extent *x = e->root;

	while (x && (at < x->begin || at >= x->end))
		x = at < x->begin ? x->left : x->right;
	return x;
}

void extents_add(struct extents *e, __u64 begin, __u64 end)
{
	const struct extent *x;

	if (begin >= end)
		return;
	x = begin ? find(e, begin - 1) : NULL;
	if (x && x->end >= end)
		return;
	if (x)
		begin = x->begin;
	x = find(e, end);
	if (x)
		end = x->end;
	extents_drop(e, begin, end);
	extents_put(e, new_extent(e, begin, end));
}

bool extents_has(const struct extents *e, __u64 begin, __u64 end)
{
	const struct extent *x = find(e, begin);

	return x && x->end >= end;
}

struct extent *extents_keep(struct extents *e, struct extent *taken,
			    bool (*each)(struct extent *x, void *data), void *data)
{
	struct extent *left, *right, *rest;
	bool kept;

	if (!taken)
		return NULL;
	left = extents_keep(e, taken->left, each, data);
	kept = each(taken, data);
	right = extents_keep(e, taken->right, each, data);
	if (kept) {
		taken->left = left;
		taken->right = right;
		return taken;
	}
	rest = merge(left, right);
	free_extent(e, taken);
	return rest;
}

struct extent *extents_fill(struct extents *e, struct extent *taken, __u64 begin, __u64 end)
{
	struct extent *left, *right;

	if (begin >= end)
		return NULL;
	if (!taken)
		return new_extent(e, begin, end);
	left = extents_fill(e, taken->left, begin, taken->begin);
	right = extents_fill(e, taken->right, taken->end, end);
	taken->left = NULL;
	taken->right = NULL;
	return merge(merge(left, taken), right);
}

static void each_of(const struct extent *x, __u64 begin, __u64 end,
		    void (*each)(const struct extent *x, void *data), void *data)
{
	if (!x)
		return;
	if (x->begin > begin)
		each_of(x->left, begin, end, each, data);
	if (x->begin < end && x->end > begin)
		each(x, data);
	if (x->end < end)
		each_of(x->right, begin, end, each, data);
}

void extents_each(const struct extents *e, __u64 begin, __u64 end,
		  void (*each)(const struct extent *x, void *data), void *data)
{
	each_of(e->root, begin, end, each, data);
}
