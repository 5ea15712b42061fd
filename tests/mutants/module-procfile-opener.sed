# A command acts with the rights of the writer.
# in: run_as_opener()
# tests: hostile_access.py commands act with the rights
s/override_creds(file->f_cred)/override_creds(current_cred())/
