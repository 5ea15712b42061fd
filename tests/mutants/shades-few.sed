# A map has a shade fewer than it could.
# in: shades_of()
# tests: histogram.bats heat as text
s|highest / levels + 1|highest / levels + 2|
