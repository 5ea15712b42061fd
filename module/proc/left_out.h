/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of the module that do not compile with the headers it was built with. Kbuild finds the
 * parts by the name IOT_WITHOUT_<PART> in the files of probe/, and compat/probe.sh tries each.
 * If one fails, config.h defines that name as the compiler's first error, and the part's files
 * compile to nothing.
 */
#ifndef IOT_LEFT_OUT_H
#define IOT_LEFT_OUT_H

struct seq_file;

void iot_left_out_report(void);
const char *iot_left_out_why(const char *part);
void iot_left_out_show(struct seq_file *m);

#endif /* IOT_LEFT_OUT_H */
