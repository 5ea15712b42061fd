# A file that the writer may not read is traced.
# in: check_file()
# tests: interface.py rights: nobody traces
s/^\treturn iot_inode_permission(path->mnt, inode, MAY_READ);/\treturn 0;/
