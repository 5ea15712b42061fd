/* Sanity: this compiles on every kernel; if not, the probes are broken. */
#include <linux/module.h>
#include <linux/fs.h>
