# A followed log of a VM does not notice a drive that is plugged in.
# in: look_at_vm()
# tests: vm_images.bats log --vm --follow
s/l->looked ? vm_named_or_ended(pid) : NULL/NULL/
