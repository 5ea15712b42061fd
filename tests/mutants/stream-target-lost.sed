# What a directory lost is looked for in the category.
# in: not_kept()
# tests: directory.bats columns of fs
s#if (!s->target)#if (s->category)#
