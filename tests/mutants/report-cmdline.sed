# An anonymized trace has the command in plain text.
# in: json_hidden()
# tests: export.bats anonymize: 
s|if (!s->options->anonymize)|if (s->options->anonymize)|
