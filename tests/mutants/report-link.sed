# A symbolic link in place of the file is followed.
# in: report_file_open()
# tests: report.bats the file
s/AT_SYMLINK_NOFOLLOW/0/
s/EEXIST/EEXIST/
