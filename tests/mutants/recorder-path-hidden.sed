# A trace recorded with --anonymize has its paths in plain text.
# in: recorder.c
# tests: export.bats anonymize: 
s|	if (r->anonymizer)$|	if (0)|
