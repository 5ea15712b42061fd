# The screen has colours whatever the user wants.
# in: top_draw_init()
# tests: top.bats NO_COLOR
s/!\*CLI_BOLD || //
