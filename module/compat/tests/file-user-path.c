/* def3ae83da02 ("fs: store real path instead of fake path in backing file f_path"), 6.7 */
#include <linux/fs.h>
const struct path *iot_test(const struct file *f) { return file_user_path(f); }
