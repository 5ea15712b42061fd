// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the file to which the names of a call lead.
 *
 * Tracing must not make a call wait, fail or be audited differently. So its file is looked up
 *
 * - before the call, among the names that the kernel has cached, with the call's own flags: follow
 *   or not, RESOLVE_* (fs_name.c);
 * - if it is not found there, inside the call, where the kernel looks it up (fs_inside.c);
 * - if the call fails before that, after the call, among the names in memory (file/cached.c),
 *   unless the name may lead to another file by then.
 *
 * If all of this fails, the event has the name, but no file. If the filter has a condition on the
 * file, the event counts as missed.
 *
 * Contexts: as in fs_name.c.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/path.h>
#include "probe/fs_frame.h"

/**
 * iot_name_find() - record the file that the call's name leads to, if that can be told
 * @search:	where the file is to be seen inside the call if it cannot
 *
 * Return: 0; -EPERM if the filter does not want the file; -EAGAIN if it cannot be told, and
 * iot_name_settle() is to be called after the call; or another error if there is no file.
 */
int iot_name_find(struct iot_frame *f, enum iot_lookup lookup, enum iot_search search)
{
	struct path path;
	bool wanted;
	int err;

	f->lookup = lookup;
	err = iot_name_lookup(f, &f->name[0], lookup, &path);
	if (err == -EAGAIN)
		iot_inside_begin(f, search);
	if (err)
		return err;
	wanted = iot_fs_file(&f->e, &path, true);
	path_put(&path);
	return wanted ? 0 : -EPERM;
}

/* Can the event not be recorded, as the filter asks for the file that is not known? */
static bool is_missed(const struct iot_frame *f, s64 result)
{
	switch (result) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -EFAULT:
		return false; /* there is none */
	}
	if (!iot_fs_asks_file(&f->e))
		return false;
	iot_fs_count_missed();
	return true;
}

/* Look for the file after the call. Return: false if it is still not known. */
static bool find_after(struct iot_frame *f, bool *wanted)
{
	struct iot_name *n = &f->name[0];
	bool sealed = n->sealed || n->text;
	struct path path;

	if (f->call->path && f->call->op != IOT_FS_OPEN && iot_name_means_descriptor(f, n)) {
		*wanted = iot_file_resolve(f, n->dfd);
		return true;
	}
	if (iot_name_lookup_after(f, n, f->lookup, &path))
		return false;
	if (!sealed)
		f->e.unsure |= IOT_UNSURE_CHANGED;
	*wanted = iot_fs_file(&f->e, &path, true);
	path_put(&path);
	return true;
}

/**
 * iot_name_settle() - record the file of the call, or else the name, when it has returned
 *
 * For a call for which iot_name_find() has returned -EAGAIN. A file that was to be removed is not
 * looked for: the name may be that of another one.
 * Return: false if the filter does not want the file, or if that is not known: it is counted.
 */
bool iot_name_settle(struct iot_frame *f, s64 result)
{
	bool moved = f->search == IOT_SEARCH_REMOVE || f->search == IOT_SEARCH_RENAME;
	bool sealed = f->name[0].sealed || f->name[0].text;
	bool wanted = f->wanted;

	if (f->found || (!(moved && !result) && find_after(f, &wanted)))
		return wanted || (iot_name_is_there(&f->name[1]) && iot_fs_second_counts());
	iot_name_record(f, &f->name[0], false);
	if (!sealed && f->e.path)
		f->e.unsure |= IOT_UNSURE_CHANGED;
	return !is_missed(f, result);
}

/**
 * iot_name_resolve() - record the file that the call's name leads to, or else the name
 *
 * If it cannot be told yet, iot_name_settle() does so after the call.
 * Return: false if the filter does not want the file.
 */
bool iot_name_resolve(struct iot_frame *f, enum iot_lookup lookup, enum iot_search search)
{
	int err = f->may_sleep ? iot_name_find(f, lookup, search) : -ENOENT;

	if (err && err != -EPERM && err != -EAGAIN)
		iot_name_record(f, &f->name[0], false);
	return err != -EPERM;
}

/* The file that the call has made, as it was seen inside the call; NULL if it was not. */
static const struct path *made(const struct iot_frame *f, s64 result)
{
	const struct path *path = &f->made;

	return !result && path->dentry && d_is_positive(path->dentry) ? path : NULL;
}

/**
 * iot_name_resolve_new() - record the file that the call has made, or else the name
 *
 * Return: as iot_name_settle().
 */
bool iot_name_resolve_new(struct iot_frame *f, s64 result)
{
	const struct path *path = made(f, result);
	bool wanted;

	f->lookup = IOT_LOOKUP_NOFOLLOW;
	if (path)
		return iot_fs_file(&f->e, path, true);
	if (f->may_sleep && find_after(f, &wanted))
		return wanted;
	iot_name_record(f, &f->name[0], false);
	return !f->may_sleep || result || !is_missed(f, 0);
}

/** iot_name_resolve_second() - record the file that link(2) has made, or else the second name */
void iot_name_resolve_second(struct iot_frame *f, s64 result)
{
	const struct path *path = made(f, result);
	struct iot_name *n = &f->name[1];
	struct path found;

	if (path) {
		iot_fs_file2(&f->e, path, true);
	} else if (f->may_sleep && !iot_name_lookup_after(f, n, IOT_LOOKUP_NOFOLLOW, &found)) {
		iot_fs_file2(&f->e, &found, true);
		path_put(&found);
	} else {
		iot_name_record(f, n, true);
	}
}

#endif /* IOT_WITHOUT_FS_CALLS */
