# An anonymized trace has the command in plain text.
# file: tools/report.c
# tests: export.bats anonymize: 
s|if (!s->options->anonymize)|if (s->options->anonymize)|
