# A file with two paths is two.
# in: trace/finding_fs.c
# tests: findings.bats rows have their own
s/fs->inode ? 0 : fs->path/fs->path/
