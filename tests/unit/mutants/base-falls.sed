# Lets a late reader lower @base, so that records hidden by a reset are shown again.
s/while (base < index)/while (base != index)/
