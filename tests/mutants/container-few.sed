# One digit is enough for a container.
# in: container.c
# tests: tasks_host.bats too few digits
s|#define ID_DIGITS_MIN	4|#define ID_DIGITS_MIN	1|
