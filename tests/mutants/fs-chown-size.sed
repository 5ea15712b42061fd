# CHOWN shows the new group as the size.
# file: tools/category_fs.c
# tests: columns.bats
s|	case IOT_FS_CHOWN:|	case IOT_FS_CHMOD:|
