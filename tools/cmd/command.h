/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands. Each takes its own argc and argv (argv[0] is
 * "iotracer <name>", for messages) and returns an exit code of cli.h.
 */
#ifndef TOOL_CMD_COMMAND_H
#define TOOL_CMD_COMMAND_H

int command_add(int argc, char **argv);
int command_remove(int argc, char **argv);
int command_list(int argc, char **argv);
int command_status(int argc, char **argv);
int command_start(int argc, char **argv);
int command_stop(int argc, char **argv);
int command_reset(int argc, char **argv);
int command_timereset(int argc, char **argv);
int command_filter(int argc, char **argv);
int command_log(int argc, char **argv);
int command_profile(int argc, char **argv);
int command_format(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_record(int argc, char **argv);
int command_export(int argc, char **argv);
int command_traces(int argc, char **argv);
int command_snapshot(int argc, char **argv);
int command_vm(int argc, char **argv);
int command_map(int argc, char **argv);
int command_join(int argc, char **argv);

#endif /* TOOL_CMD_COMMAND_H */
