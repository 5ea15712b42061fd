/* SPDX-License-Identifier: GPL-2.0 */
/* Category epoll: values of the field timeout that are no time. */
#ifndef IOT_EPOLL_TIMEOUT_H
#define IOT_EPOLL_TIMEOUT_H

#define IOT_EPOLL_WITHOUT_LIMIT	(-1)
#define IOT_EPOLL_UNKNOWN	(-2)

#endif /* IOT_EPOLL_TIMEOUT_H */
