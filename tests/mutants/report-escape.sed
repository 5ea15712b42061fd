# Names can end the element that the document is in.
# in: put_document()
# tests: report.bats attacks
s/strcspn(p, "<>&")/strcspn(p, "\\1")/
