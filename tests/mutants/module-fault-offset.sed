# The offset of a fault is that in the mapping, not in the file.
# in: fault_begin_known()
# tests: fields.py page faults
s/((u64)vma->vm_pgoff << PAGE_SHIFT) + (f->address/(f->address/
