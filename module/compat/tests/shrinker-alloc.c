/* c42d50aefd17 ("mm: shrinker: add infrastructure for dynamically allocating shrinker"), 6.7 */
#include <linux/shrinker.h>
struct shrinker *iot_test(void) { return shrinker_alloc(0, "test"); }
