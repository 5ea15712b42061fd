# A quote ends a string of the metadata.
# in: quoted()
# tests: ctf.bats hostile
s/\*at == '"' || //
