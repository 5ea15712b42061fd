# Processes keep as many events as files.
# in: module/adding.c
# tests: tasks_host.bats without one the module
/^int adding_tasks/,/^}/s#add_command(text, max_events, options)#add_command(text, max_events ? max_events : adding_default_events(), options)#
