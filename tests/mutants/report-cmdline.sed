# An anonymous trace has the command in plain.
# file: tools/report.c
# tests: export.bats anonymize: 
s|if (!s->options->anonymize)|if (s->options->anonymize)|
