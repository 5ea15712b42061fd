# A target that was removed meanwhile, and added by somebody else, is removed in the end.
# in: watch_target_forget()
# tests: watch_real.bats what is traced already stays
s/added = NULL;/added = t;/
