# What a query makes controls the terminal.
# in: guarded()
# tests: sql.bats controls a terminal
s/text_guard(\(bytes ? bytes : ""\), length, "")/xasprintf("%.*s", (int)length, (const char *)(\1))/
