#include "serve/page.h"

bool rbt_page_is_there(rbt_error *error) {
    return RBT_PAGE_SIZE > 0 ||
           rbt_fail(error,
                    "this rubato was built without its viewer: %s; install node (18 or newer) and npm, "
                    "build again, and this command will work (all others do without)",
                    RBT_PAGE_MISSING);
}
