# Lets a late reader show again what a reset has hidden.
s/while (base < index)/while (base != index)/
