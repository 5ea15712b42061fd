# A number in the program's registers is a descriptor only if it is open for this socket.
# in: verified()
# tests: net.py by socketcall
s/files_lookup_fd_raw(current->files, fd) == file/files_lookup_fd_raw(current->files, fd)/
