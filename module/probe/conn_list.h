/* SPDX-License-Identifier: GPL-2.0 */
/* Category conn: the sockets that processes have open when tracing begins. */
#ifndef IOT_CONN_LIST_H
#define IOT_CONN_LIST_H

int iot_conn_list_begin(void);
void iot_conn_list_end(void);
void iot_conn_list_exit(void);

#endif /* IOT_CONN_LIST_H */
