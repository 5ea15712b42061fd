# A device on a mount with nodev is traced.
# in: check_file()
# tests: hostile_access.py a device node on a nodev mount
s/^\t\treturn -EACCES;/\t\treturn 0;/
