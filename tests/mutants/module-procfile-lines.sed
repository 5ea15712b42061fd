# A write whose second line is refused reports that nothing was carried out.
# in: run_lines()
# tests: interface.py control: several lines in one write
s/^\t\t\treturn done ?: err;/\t\t\treturn err;/
