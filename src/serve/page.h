// The page that browsers show, one HTML file with everything in it (web/). It is made while rubato is built, where node
// and npm are there, and lies in the program.
#ifndef RBT_SERVE_PAGE_H
#define RBT_SERVE_PAGE_H

#include "base/error.h"

#include <stddef.h>

extern const unsigned char RBT_PAGE[];
extern const size_t RBT_PAGE_SIZE;          // 0: it was not made
extern const char *const RBT_PAGE_MISSING;  // and why

bool rbt_page_is_there(rbt_error *error);

#endif
