# Maps have colours that nobody wants.
# in: terminal_has_palette()
# tests: histogram.bats heat as text
s/cli_has_color() && //
