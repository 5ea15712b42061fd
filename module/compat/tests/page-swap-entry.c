/* cfeed8ffe55b ("mm/swap: stop using page->private on tail pages for THP_SWAP"), 6.6 */
#include <linux/swap.h>
swp_entry_t iot_test(struct page *p) { return page_swap_entry(p); }
