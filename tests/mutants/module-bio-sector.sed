# The sector of a bio is one too high.
# in: bio_queued()
# tests: directories.py the bios of its files
s/iot_bio_sector(bio) << SECTOR_SHIFT/(iot_bio_sector(bio) + 1) << SECTOR_SHIFT/
