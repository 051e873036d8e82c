#include "out/pvd.h"

#include <stdio.h>
#include <string.h>

static const char HEAD[] = "<?xml version=\"1.0\"?>\n"
                           "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
                           "  <Collection>\n";
static const char TAIL[] = "  </Collection>\n</VTKFile>\n";

static void line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    static const char PIECES[] = ".pvtu:";
    const char *prefix = context;
    bool pieces = strncmp(prefix, PIECES, strlen(PIECES)) == 0;
    snprintf(text, RBT_LINE_START, "    <DataSet part=\"0\" file=\"%s%06lld%s\" timestep=\"",
             prefix + (pieces ? strlen(PIECES) : 0), (long long)frame, pieces ? ".pvtu" : ".vtu");
}

bool rbt_pvd_open(rbt_frame_file *file, const char *path, const char *prefix, int64_t from_frame, rbt_error *error) {
    const rbt_frame_file_def def = {.path = path,
                                    .head = HEAD,
                                    .head_size = strlen(HEAD),
                                    .tail = TAIL,
                                    .line_start = line_start,
                                    .context = prefix};
    return rbt_frame_file_open(file, &def, from_frame, error);
}

bool rbt_pvd_add(rbt_frame_file *file, const char *prefix, double t, rbt_error *error) {
    char line[RBT_LINE_START + 64];
    line_start(prefix, file->frames, line);
    size_t n = strlen(line);
    n += (size_t)snprintf(line + n, sizeof line - n, "%.17g\"/>\n", t);
    return rbt_frame_file_add(file, line, n, error);
}
