# stats counts bios that are stored as calls.
# in: count_stored()
# tests: directories.py the bios of its files
s/counts\[of->class_of(record)\].stored++;/counts[0 * of->class_of(record)].stored++;/
