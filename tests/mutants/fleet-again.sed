# A trace that is there is exported again.
# in: is_there()
# tests: fleet.bats once$
s/if (there)/there = 0;\n\tif (there)/
