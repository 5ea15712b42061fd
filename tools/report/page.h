/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page of a report: page/page.html, in which each {{NAME}} is replaced.
 *
 * No name of the trace can become a part of the page: names are in the document alone, which is data to the
 * browser, and its characters < > & are written as \u003c. Of scripts the page allows those alone whose hash it
 * has, and it allows no connection.
 */
#ifndef TOOL_REPORT_PAGE_H
#define TOOL_REPORT_PAGE_H

#include <jansson.h>
#include <stdio.h>

/* Errors are those of the stream. */
void page_write(FILE *to, const json_t *document);

#endif /* TOOL_REPORT_PAGE_H */
