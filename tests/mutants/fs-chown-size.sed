# CHOWN has the new group for a size.
# file: tools/category_fs.c
# tests: columns.bats
s|	case IOT_FS_CHOWN:|	case IOT_FS_CHMOD:|
