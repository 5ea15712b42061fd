/* SPDX-License-Identifier: GPL-2.0 */
/* Bios that carry a target's data. */
#ifndef IOT_PROBE_BIO_H
#define IOT_PROBE_BIO_H

int iot_bio_attach(void);
void iot_bio_detach(void);

#endif /* IOT_PROBE_BIO_H */
