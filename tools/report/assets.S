/* SPDX-License-Identifier: GPL-2.0 */
/* struct asset asset_NAME of each file. */

.macro asset name, file
	.section .rodata
text_\name:
	.incbin "report/\file"
end_\name:
	.section .data.rel.ro, "aw"
	.balign 8
	.globl asset_\name
asset_\name:
	.quad text_\name, end_\name
.endm

asset page, "page/page.html"
asset style, "page/page.css"
asset data, "page/data.js"
asset time, "page/time.js"
asset charts, "page/charts.js"
asset sizes, "page/sizes.js"
asset tables, "page/tables.js"
asset flame, "page/flame.js"
asset cache, "page/cache.js"
asset durability, "page/durability.js"
asset drives, "page/drives.js"
asset app, "page/app.js"
asset d3, "vendor/d3.min.js"
asset plot, "vendor/plot.umd.min.js"
asset licences, "vendor/LICENCES"

	.section .note.GNU-stack, "", %progbits
