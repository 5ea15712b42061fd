/* SPDX-License-Identifier: GPL-2.0 */
/* The access patterns of a VM's drives, from a trace that record --vm made. */
#ifndef TOOL_CMD_PROFILE_VM_H
#define TOOL_CMD_PROFILE_VM_H

#include "base/cli.h"
#include "cmd/pass.h"
#include "vm/drive_profile.h"

/*
 * @name: the VM's name or PID. @memory: bytes for the distances of reuse; 0: without them. Opens
 * and closes the pass. Returns an exit code; errors are reported.
 */
int profile_vm(struct pass *pass, const struct cli_words *words, const char *name, enum cli_format format,
	       __u64 memory);

/* The calls on the images, which are in the profile. @again: the category was read before. */
int profile_vm_read(struct pass *pass, bool again, struct drive_profile *profile, struct basis *basis);

#endif /* TOOL_CMD_PROFILE_VM_H */
