// In the place of the viewer's page, for builds that nobody looks at.
#include "serve/page.h"

const unsigned char RBT_PAGE[] = "<!doctype html><title>rubato</title>";
const size_t RBT_PAGE_SIZE = sizeof RBT_PAGE - 1;
const char *const RBT_PAGE_MISSING = "";
