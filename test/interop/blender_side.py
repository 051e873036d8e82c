"""Runs inside Blender: does what a list of orders says and writes what it sees. Called by with_blender.py.

    blender -b --factory-startup --python blender_side.py -- ORDERS.json ANSWERS.json
"""

import json
import sys
import traceback

import bpy


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def mesh_of(thing):
    """Corners and faces of an object as they are shown now, in the world."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    data = shown.to_mesh()
    answer = {"nodes": [list(thing.matrix_world @ vertex.co) for vertex in data.vertices],
              "triangles": [list(face.vertices) for face in data.polygons]}
    shown.to_mesh_clear()
    return answer


def the_mesh():
    [thing] = [thing for thing in bpy.data.objects if thing.type == "MESH"]
    return thing


def read_obj(order):
    bpy.ops.wm.obj_import(filepath=order["file"])
    return mesh_of(the_mesh())


def read_cache(order):
    """The surface of frame 0 with the point cache of all frames, as docs and tutorials say to do."""
    bpy.ops.wm.obj_import(filepath=order["file"])
    thing = the_mesh()
    cache = thing.modifiers.new("frames", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", order["cache"], 0
    answer = []
    for frame in range(order["frames"]):
        bpy.context.scene.frame_set(frame)
        answer.append(mesh_of(thing))
    return {"frames": answer}


def read_usd(order):
    if "usd_import" not in dir(bpy.ops.wm):
        return {"missing": "this Blender is built without USD"}
    bpy.ops.wm.usd_import(filepath=order["file"])
    thing, answer = the_mesh(), []
    for frame in range(order["frames"]):
        bpy.context.scene.frame_set(frame)
        answer.append(mesh_of(thing))
    return {"frames": answer, "fps": bpy.context.scene.render.fps / bpy.context.scene.render.fps_base}


def write(order):
    """A mesh of its own, saved in the format of the file's ending."""
    data = bpy.data.meshes.new("surface")
    data.from_pydata(order["nodes"], [], order["triangles"])
    thing = bpy.data.objects.new("surface", data)
    bpy.context.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = thing
    thing.select_set(True)
    ending = order["file"].rpartition(".")[2]
    if ending == "obj":
        bpy.ops.wm.obj_export(filepath=order["file"])
    elif ending == "ply":
        bpy.ops.export_mesh.ply(filepath=order["file"], use_ascii=order["text"], use_normals=False, use_uv_coords=False,
                                use_colors=False)
    else:
        bpy.ops.export_mesh.stl(filepath=order["file"], ascii=order["text"])
    return {}


def main():
    orders, answers = sys.argv[sys.argv.index("--") + 1:]
    results = []
    with open(orders) as file:
        for order in json.load(file):
            clear()
            try:
                results.append({"read_obj": read_obj, "read_cache": read_cache, "read_usd": read_usd,
                                "write": write}[order["do"]](order))
            except Exception:
                results.append({"failed": traceback.format_exc().strip().splitlines()[-1]})
    with open(answers, "w") as file:
        json.dump(results, file)


main()
