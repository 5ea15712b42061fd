# A file that is known by its inode has the path of before a rename.
# in: iot_paths_find_inode()
# tests: cache.py files that are renamed
s/if (!is_of(e, inode) || !is_current(e, &now))/if (!is_of(e, inode) || (0 \&\& !is_current(e, \&now)))/
