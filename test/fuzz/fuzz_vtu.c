// The reader of VTU files on arbitrary bytes, without and with the fields.
#include "fuzz_mesh.h"
#include "mesh/io/read_vtu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh(rbt_read_vtu, data, size);
    rbt_bytes bytes = fuzz_bytes(data, size);
    rbt_mesh mesh;
    rbt_fields fields;
    rbt_error error = {0};
    if (rbt_vtu_read_fields_bytes("fuzz", &bytes, &mesh, &fields, &error)) {
        for (size_t i = 0; i < fields.count; i++)
            if (!rbt_fields_find(&fields, fields.items[i].name, fields.items[i].on_cells)) abort();
        rbt_mesh_clear(&mesh);
        rbt_fields_free(&fields);
    }
    free(bytes.data);
    return 0;
}
