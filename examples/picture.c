// A ring of tets, drawn into picture.png: the view is a library beside rubato itself.
//   cc picture.c $(pkg-config --cflags --libs rubato_view) -o picture
#include <rubato/rubato.h>
#include <rubato/view.h>

#include <stdio.h>

int main(void) {
    rbt_error error;
    char text[2048];
    rbt_view_options options = rbt_view_default();
    options.color = "quality";
    options.edges = true;

    rbt_view_report report;
    rbt_mesh *mesh = rbt_mesh_generate("torus", NULL, &error);
    bool done = mesh && rbt_mesh_write(mesh, "ring.msh", false, &error) &&
                rbt_view_draw("ring.msh", "picture.png", &options, &report, &error);
    rbt_mesh_free(mesh);
    if (!done) {
        fprintf(stderr, "%s\n", rbt_error_text(&error, text, sizeof text));
        return 1;
    }
    printf("picture.png: %d x %d pixels, %zu triangles\n", report.width, report.height, report.triangle_count);
    return 0;
}
