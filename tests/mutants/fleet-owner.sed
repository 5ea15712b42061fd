# A directory of another user is used.
# in: enter_own()
# tests: fleet.bats links
s/st.st_uid == geteuid()/st.st_uid < 1000000/
