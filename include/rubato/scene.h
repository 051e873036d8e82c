// The description of a simulation: plain structs that a JSON scene fills or a program fills by hand.
//
// Start from rbt_scene_default() and the other rbt_…_default() functions, which know every default; docs/scene.md is
// the reference of all members with limits and units (it is made from the same table as the parser). Everything is
// in SI units. The description only points to its data: what it points to must live until rbt_sim_create returns.
#ifndef RUBATO_SCENE_H
#define RUBATO_SCENE_H

#include "rubato/error.h"
#include "rubato/list.h"
#include "rubato/mesh.h"
#include "rubato/methods.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Selections: which nodes (or elements, by their centroids) of a body, in rest position after its transform

typedef rbt_variant rbt_selection;
typedef enum rbt_selection_kind {
    RBT_SELECT_BOX,      // rbt_select_box
    RBT_SELECT_SPHERE,   // rbt_select_sphere
    RBT_SELECT_PLANE,    // rbt_select_plane: the side the normal points to
    RBT_SELECT_SET,      // the text itself: a set of the mesh file, or one of the body's own named selections
    RBT_SELECT_NODES,    // RBT_LIST(int): node numbers of the body
    RBT_SELECT_NEAREST,  // rbt_select_nearest
    RBT_SELECT_ALL,      // RBT_LIST(rbt_selection): in all of them
    RBT_SELECT_ANY,      // RBT_LIST(rbt_selection): in at least one
    RBT_SELECT_NOT,      // rbt_selection
    RBT_SELECT_KINDS
} rbt_selection_kind;

typedef struct rbt_select_box {
    double min[3], max[3];  // [m], or fractions of the body's bounding box if `relative`
    bool relative;
} rbt_select_box;

typedef struct rbt_select_sphere {
    double centre[3], radius;  // [m]
} rbt_select_sphere;

typedef struct rbt_select_plane {
    double point[3], normal[3];
} rbt_select_plane;

typedef struct rbt_select_nearest {
    double point[3];
    int count;
} rbt_select_nearest;

typedef struct rbt_named_selection {
    const char *name;
    rbt_selection where;
} rbt_named_selection;

// ---- Bodies

typedef struct rbt_transform_def {  // scale first, then rotate, then fit, then translate
    double scale[3];
    double axis[3], degrees;
    double translate[3];  // [m]
    double fit;  // [m] length of the longest edge of the body's box, whose least corner goes to the origin; 0: none
} rbt_transform_def;

typedef struct rbt_slivers_def {  // bad tets made on purpose
    double share;                 // of the tets
    double height;                // least part of a tet's height that is left
    int seed;
} rbt_slivers_def;

typedef struct rbt_mesh_def {
    const rbt_mesh *mesh;            // either a mesh in memory, which is copied and checked as a file's is,
    const char *file;                // or a file, relative to the scene's folder,
    rbt_variant shape;               // or a generator, as the scene reader fills it in; in C: rbt_mesh_generate
    const char *unit;                // of the numbers in file or memory: "m", "cm", "mm", "in", …
    const rbt_slivers_def *slivers;  // NULL: none
} rbt_mesh_def;

typedef struct rbt_material_def {
    int model;     // index into the table of materials
    double young;  // [Pa]
    double poisson;
    double density;  // [kg/m^3]
} rbt_material_def;

typedef struct rbt_region_def {  // elements with a material of their own; where several match, the last one counts
    const char *name;
    rbt_selection where;
    rbt_material_def material;
} rbt_region_def;

// Nodes that take steps of their own, for methods that know tempi: the rest of the body takes the scene's step. A tempo
// inside another is a part of it; others must not touch.
typedef struct rbt_tempo_def {
    const char *name;  // for messages; NULL: none
    rbt_selection where;
    int substeps;  // in each step of the scene
} rbt_tempo_def;

// A body made of triangles: cloth, paper, sheet metal. Its material gives young, poisson and density; the law of the
// material is not used, since a sheet has its own (St. Venant and Kirchhoff's in plane stress, and discrete-shells
// bending).
typedef enum rbt_membrane_kind {
    RBT_MEMBRANE_CONSTANT_STRAIN,  // triangles of constant strain
    RBT_MEMBRANE_SPRINGS,          // a spring along every edge
    RBT_MEMBRANE_KINDS
} rbt_membrane_kind;

typedef struct rbt_shell_def {
    double thickness;  // [m]
    int membrane;      // rbt_membrane_kind: what resists stretching
    double bending;    // stiffness against bending [N m]; NaN: young thickness^3 / (12 (1 - poisson^2)); 0: none
    double yield;      // angle that a hinge bends elastically; beyond it the bend stays [rad]; infinity: never
} rbt_shell_def;

// A body made of edges: springs between point masses.
typedef struct rbt_springs_def {
    double stiffness;  // of every spring [N/m]
    double node_mass;  // of every node [kg]
    double limit;      // share of its length that a spring may get longer or shorter by; 0: any
} rbt_springs_def;

// A body made of the nodes of its mesh alone: balls that touch others, or discs if they stay in a plane.
typedef struct rbt_particles_def {
    double radius;  // [m]
    double mass;    // of every particle [kg]
    // Random velocities of up to this size are added at the start, within the plane of a flat body [m/s]
    double speed;
    int seed;  // of these
} rbt_particles_def;

typedef struct rbt_damping_def {  // Rayleigh: D = mass M + stiffness K
    double mass;                  // [1/s]
    double stiffness;             // [s]
} rbt_damping_def;

// ---- Driven nodes: each motion moves the point that the motions before it have made; before `from` it is at rest,
// after `until` it stays where it ended.

typedef rbt_variant rbt_motion;
typedef enum rbt_motion_kind {
    RBT_MOVE_VELOCITY,     // rbt_move_velocity
    RBT_MOVE_ROTATION,     // rbt_move_rotation
    RBT_MOVE_OSCILLATION,  // rbt_move_oscillation
    RBT_MOVE_KEYFRAMES,    // rbt_move_keyframes
    RBT_MOVE_KINDS
} rbt_motion_kind;

typedef struct rbt_move_velocity {
    double velocity[3];  // [m/s]
    double from, until;  // [s]
} rbt_move_velocity;

typedef struct rbt_move_rotation {
    double point[3], axis[3];
    double rate;         // [rad/s], right-handed about the axis
    double from, until;  // [s]
    bool relative;       // the point is given in fractions of the body's bounding box
} rbt_move_rotation;

typedef struct rbt_move_oscillation {
    double amplitude[3];  // [m]
    double frequency;     // [Hz]
    double phase;         // [rad]; the offset is amplitude (sin(2 pi f (t - from) + phase) - sin(phase))
    double from, until;   // [s]
} rbt_move_oscillation;

typedef struct rbt_move_keyframes {  // offsets, linear between the times, constant outside
    RBT_LIST(double) times;          // [s], ascending
    RBT_LIST(double) offsets;        // (count x 3) [m]
} rbt_move_keyframes;

typedef struct rbt_driven_def {
    const char *name;  // by which a program can move it (rubato/input.h); NULL: none
    rbt_selection where;
    RBT_LIST(rbt_motion) motions;
    double release;  // [s] from when on the nodes are free; infinity: never
} rbt_driven_def;

// ---- The start: deformations applied in order to the rest shape, and a rigid velocity field

typedef rbt_variant rbt_deformation;
typedef enum rbt_deformation_kind {
    RBT_DEFORM_STRETCH,  // rbt_deform_stretch
    RBT_DEFORM_TWIST,    // rbt_deform_twist
    RBT_DEFORM_BEND,     // rbt_deform_bend
    RBT_DEFORM_SCALE,    // rbt_deform_scale
    RBT_DEFORM_KINDS
} rbt_deformation_kind;

typedef struct rbt_deform_stretch {  // factor along the axis about the body's box centre, volume kept if asked for
    double axis[3], factor;
    bool keep_volume;
} rbt_deform_stretch;

typedef struct rbt_deform_twist {  // the ends of the body along the axis turn against each other by this angle
    double axis[3], degrees;
} rbt_deform_twist;

typedef struct rbt_deform_bend {  // the axis becomes an arc of this angle, curving towards `towards`
    double axis[3], towards[3], degrees;
} rbt_deform_bend;

typedef struct rbt_deform_scale {
    double factors[3];
} rbt_deform_scale;

typedef struct rbt_velocity_def {
    double linear[3];   // [m/s]
    double angular[3];  // [rad/s] about the centre of mass
} rbt_velocity_def;

typedef struct
    rbt_surface_def {  // a finer surface carried along by the tets (barycentric), written instead of the hull
    const char *file;
    const char *unit;
} rbt_surface_def;

typedef struct rbt_body_integrator_def {
    int method;           // index into the table of methods
    const void *options;  // the method's options struct; NULL: defaults
} rbt_body_integrator_def;

typedef struct rbt_body_def {
    uint64_t cookie;  // set by rbt_body_default
    const char *name;
    rbt_mesh_def mesh;
    rbt_transform_def transform;
    rbt_material_def material;
    const rbt_shell_def *shell;          // for a mesh of triangles; NULL: none
    const rbt_springs_def *springs;      // for a mesh of edges; NULL: none
    const rbt_particles_def *particles;  // its nodes only, without elements; NULL: none
    RBT_LIST(rbt_region_def) regions;
    RBT_LIST(rbt_tempo_def) tempo;
    RBT_LIST(rbt_named_selection) selections;
    rbt_damping_def damping;
    bool consistent_mass;  // the mass matrix of the linear elements instead of a mass per node; implicit methods only
    RBT_LIST(rbt_selection) fixed;
    RBT_LIST(rbt_driven_def) driven;
    RBT_LIST(rbt_deformation) deform;
    rbt_velocity_def velocity;
    const rbt_surface_def *surface;  // NULL: none
    double friction;                 // Coulomb's coefficient in contact; NaN: the scene's
    double gap;  // [m] that its surface keeps in contact, half of it on each side of a pair; NaN: the scene's
    const rbt_body_integrator_def *integrator;  // a method of its own; NULL: the scene's
} rbt_body_def;

// ---- Forces on all bodies, or on one

typedef rbt_variant rbt_force;
typedef enum rbt_force_kind {
    RBT_FORCE_GRAVITY,  // rbt_force_gravity
    RBT_FORCE_PULL,     // rbt_force_pull
    RBT_FORCE_PULSE,    // rbt_force_pulse
    RBT_FORCE_WIND,     // rbt_force_wind
    RBT_FORCE_DRAG,     // rbt_force_drag
    RBT_FORCE_KINDS
} rbt_force_kind;

typedef struct rbt_force_gravity {
    double acceleration[3];  // [m/s^2]
} rbt_force_gravity;

typedef struct rbt_force_pull {  // a total force, shared by the selected nodes in proportion to their mass
    const char *body;            // NULL: all
    rbt_selection where;
    double force[3];     // [N]
    double from, until;  // [s]
} rbt_force_pull;

typedef struct rbt_force_pulse {  // as pull, in the shape of half a sine wave
    const char *body;
    rbt_selection where;
    double peak[3];         // [N]
    double from, duration;  // [s]
} rbt_force_pulse;

typedef struct
    rbt_force_wind {  // pressure 1/2 rho |u_n| u_n on surface triangles, u_n: wind against them along n; shells: twice
    const char *body;
    double velocity[3];     // [m/s]
    double air_density;     // [kg/m^3]
    double gust;            // the speed varies by this share of itself
    double gust_frequency;  // [Hz] of the slowest of three waves
    double from, until;     // [s]
} rbt_force_wind;

typedef struct
    rbt_force_drag {  // a spring from the centre of mass of the selected nodes to a point, shared as a pull is
    const char *body;
    rbt_selection where;
    double point[3];  // [m]
    // [N/m]; at most the mass of the nodes over the step squared: it is not part of the step's matrix
    double stiffness;
    double from, until;  // [s]
} rbt_force_drag;

// ---- Obstacles: penalty energy 1/2 k A d^2 for every surface node of area A that is deeper than d = 0. They may
// follow prescribed motions as driven nodes do (planes do not turn), and may be meshes of triangles, with methods that
// have contact of their own.

typedef rbt_variant rbt_obstacle;
typedef enum rbt_obstacle_kind {
    RBT_OBSTACLE_PLANE,    // rbt_obstacle_plane
    RBT_OBSTACLE_SPHERE,   // rbt_obstacle_sphere
    RBT_OBSTACLE_BOX,      // rbt_obstacle_box
    RBT_OBSTACLE_CAPSULE,  // rbt_obstacle_capsule
    RBT_OBSTACLE_MESH,     // rbt_obstacle_mesh
    RBT_OBSTACLE_KINDS
} rbt_obstacle_kind;

typedef struct rbt_obstacle_plane {
    double point[3], normal[3];  // the normal points to the free side
    double stiffness;            // [Pa/m]
    RBT_LIST(rbt_motion) motions;
} rbt_obstacle_plane;

typedef struct rbt_obstacle_sphere {
    double centre[3], radius, stiffness;
    RBT_LIST(rbt_motion) motions;
} rbt_obstacle_sphere;

typedef struct rbt_obstacle_box {
    double min[3], max[3], stiffness;
    RBT_LIST(rbt_motion) motions;
} rbt_obstacle_box;

typedef struct rbt_obstacle_capsule {
    double a[3], b[3], radius, stiffness;
    RBT_LIST(rbt_motion) motions;
} rbt_obstacle_capsule;

// Positions of the nodes of a mesh, frame by frame, in the unit of the mesh and before its transform: linear in time
// between two frames; before the first and after the last constant.
typedef struct rbt_sequence_def {
    // Either in memory: (frame_count x nodes of the mesh x 3); NULL: from files. What follows until `rate` is for files
    const double *positions;
    size_t frame_count;
    // A PC2 point cache, or mesh files with a number each: the marks # in the name stand for its digits, as
    // walk_###.obj
    const char *file;
    int first, last;  // numbers of the frames to take, those of a cache from 0 on; last -1: as many as a cache has
    double rate;      // frames per second [1/s]
    double from;      // [s] when the first one is reached
    bool loop;        // again and again; from the last frame to the first it takes as long as between two others
} rbt_sequence_def;

// The surface of a mesh: of tets their hull, else its triangles as they are. Motions move what the sequence has made.
typedef struct rbt_obstacle_mesh {
    rbt_mesh_def mesh;
    rbt_transform_def transform;
    const rbt_sequence_def *sequence;  // NULL: its nodes are where the mesh has them
    RBT_LIST(rbt_motion) motions;
} rbt_obstacle_mesh;

// ---- Cuts: tets (or the triangles of shells) are split along a surface while time runs

typedef enum rbt_cut_surface_kind {
    RBT_CUT_PLANE,      // rbt_cut_plane
    RBT_CUT_RECTANGLE,  // rbt_cut_rectangle
    RBT_CUT_BLADE,      // rbt_cut_blade
    RBT_CUT_FILE,       // rbt_cut_file
    RBT_CUT_KINDS
} rbt_cut_surface_kind;

typedef struct rbt_cut_plane {  // without end
    double point[3], normal[3];
    double towards[3];  // where strokes go; zero: along the longest side of the body's box
    bool relative;      // the point is given in fractions of the body's bounding box
} rbt_cut_plane;

typedef struct rbt_cut_rectangle {  // corner + s along + r across; strokes go along
    double corner[3], along[3], across[3];
    bool relative;  // all of them in fractions of the body's bounding box
} rbt_cut_rectangle;

typedef struct rbt_cut_blade {  // a straight edge that is moved along a line with corners
    RBT_LIST(double) points;    // (count x 3) [m] where one end of the edge goes
    double blade[3];            // [m] from that end to the other
} rbt_cut_blade;

typedef struct rbt_cut_file {  // the triangles of a file
    const char *file;
    const char *unit;
    double towards[3];  // where strokes go; zero: along the longest side of the surface's box
} rbt_cut_file;

enum { RBT_MAX_CUTS = 64 };  // in a scene

typedef struct rbt_cut_def {
    const char *body;     // NULL: all that can be cut
    rbt_variant surface;  // rbt_cut_surface_kind
    double time;          // [s] when it begins
    double until;         // [s] when it is complete; NaN: at once
    int strokes;          // in how many steps it continues from `time` to `until`
    bool deformed;        // the surface lies in the world as it is then, not in the bodies' rest shape
    double tolerance;     // share of an edge within which its end counts as on the surface
} rbt_cut_def;

// ---- Events: what a person or a program does to a run while time runs, written down. Each takes effect where the
// first whole step begins that does not begin before its time; several at once in the order of the list. rubato/input.h
// has the same as functions.

typedef struct rbt_event_force {  // a total force, shared by the nodes in proportion to mass, until it is changed
    const char *body;             // NULL: all
    rbt_selection where;
    double force[3];  // [N] instead of what events and callers have put on these nodes before; zero: none
} rbt_event_force;

typedef struct rbt_event_drag {  // a spring from the centre of mass of nodes to a point (rbt_sim_drag)
    const char *body;            // NULL: all
    rbt_selection where;
    double point[3];   // [m]
    double stiffness;  // [N/m]; 0: it lets go
} rbt_event_drag;

typedef struct rbt_event_material {  // other values of a material; NaN: as they are
    const char *body;
    const char *region;  // of the body; NULL: the body's own material, where it has no region
    double young;        // [Pa]
    double poisson;
    double mass_damping;       // [1/s] Rayleigh's, of the whole body
    double stiffness_damping;  // [s]
} rbt_event_material;

typedef struct rbt_event_drive {  // a motion of driven nodes on top of their prescribed one (rbt_sim_drive)
    const char *driven;           // name of an entry of "driven"
    double velocity[3];           // [m/s]
    double spin[3];               // [rad/s]
    double about[3];              // [m] the point it turns about, where it is then; it moves along
    double duration;              // [s] after which it stands still; infinity: until the next one
} rbt_event_drive;

typedef struct rbt_event_def {
    double time;  // [s]
    // One of these, the others NULL
    const rbt_event_force *force;
    const rbt_event_drag *drag;
    const rbt_event_material *material;
    const rbt_cut_def *cut;  // its times count from that of the event
    const rbt_event_drive *drive;
} rbt_event_def;

// ---- Probes: nodes whose mean motion and forces a run writes into probes.csv, and rbt_sim_probe tells
// (rubato/query.h)

typedef enum rbt_every { RBT_EVERY_FRAME, RBT_EVERY_STEP, RBT_EVERY_KINDS } rbt_every;

typedef struct rbt_probe_def {
    const char *name;
    const char *body;  // NULL: all
    rbt_selection where;
    int every;  // rbt_every: when it has a row in probes.csv
} rbt_probe_def;

// ---- Contact: bodies never pass through each other, themselves or obstacles, with methods that have it

typedef enum rbt_contact_solver {
    RBT_CONTACT_BARRIER,
    RBT_CONTACT_AUGMENTED_LAGRANGIAN,
    RBT_CONTACT_SOLVERS
} rbt_contact_solver;

// What two sides have between them instead of their own values. A side is the name of a body, or "obstacles[2]"; NULL:
// any. Where several match, the last one counts.
typedef struct rbt_contact_pair_def {
    const char *a, *b;
    double friction;  // Coulomb's coefficient
} rbt_contact_pair_def;

typedef struct rbt_contact_def {  // made by rbt_contact_default
    double thickness;             // [m] distance at which surfaces begin to push each other; NaN: chosen
    double friction;              // Coulomb's coefficient of bodies and obstacles that have none of their own
    double gap;                   // [m] distance that surfaces always keep, of bodies that have none of their own
    double slip_speed;  // [m/s] below which friction sticks; NaN: a thousandth of the smallest body per second
    int solver;         // rbt_contact_solver
    RBT_LIST(rbt_contact_pair_def) pairs;
} rbt_contact_def;

// ---- Time, method, output

typedef struct rbt_time_def {
    double step;      // [s]; shortened to divide the frame interval; NaN: the method chooses, or the error
    double end;       // [s]
    double frame;     // [s] between frames
    double min_step;  // [s] of steps that are chosen by their error; 0: by that error
} rbt_time_def;

// What the user wants, where the scene leaves it to rubato how to get there.
typedef enum rbt_quality { RBT_BALANCED, RBT_PREVIEW, RBT_ACCURATE, RBT_QUALITIES } rbt_quality;
typedef enum rbt_keep { RBT_KEEP_SHAPE, RBT_KEEP_ENERGY, RBT_KEEP_NOTHING, RBT_KEEPS } rbt_keep;

typedef struct rbt_goal_def {
    int quality;    // rbt_quality: stands for an error
    double error;   // of the largest node at the end, over the size of its body; NaN: by quality
    double budget;  // seconds of computing per simulated second; infinity: none
    int keep;       // rbt_keep: what matters beside positions
} rbt_goal_def;

typedef struct rbt_integrator_def {
    int method;           // index into the table of methods; -1: rubato chooses
    int solver;           // index into that method's solvers; -1: rubato chooses
    const void *options;  // the method's options struct; NULL: defaults
    int max_halvings;     // how often a failing step may be halved
} rbt_integrator_def;

typedef struct rbt_output_def {
    const char *folder;
    bool vtu, obj, pc2, usda;
    bool compress;          // zlib inside the VTU files
    bool single_precision;  // 32-bit floats in the VTU files
    bool warp;              // tets of the linear material are shown with their turns made whole
    int checkpoint_every;   // frames; 0: never
    int checkpoint_keep;    // newest ones; 0: all
} rbt_output_def;

typedef struct rbt_scene {
    uint64_t cookie;  // set by rbt_scene_default
    int version;      // 1
    const char *about;
    RBT_LIST(rbt_body_def) bodies;
    RBT_LIST(rbt_force) forces;
    RBT_LIST(rbt_obstacle) obstacles;
    const rbt_contact_def *contact;  // NULL: bodies pass through each other, and obstacles push by penalties
    RBT_LIST(rbt_cut_def) cuts;
    RBT_LIST(rbt_event_def) events;
    RBT_LIST(rbt_probe_def) probes;
    rbt_time_def time;
    rbt_goal_def goal;
    rbt_integrator_def integrator;
    rbt_output_def output;
    const char *folder;  // relative file names start here; NULL: the working folder
    const char *file;    // where the scene came from, for messages; NULL if made by a program
} rbt_scene;

// Structs with their cookies and all defaults; they own nothing.
rbt_scene rbt_scene_default(void);
rbt_body_def rbt_body_default(void);
rbt_obstacle_mesh rbt_obstacle_mesh_default(void);
rbt_sequence_def rbt_sequence_default(void);
rbt_contact_def rbt_contact_default(void);

// Reads and validates a JSON scene, from a file or from text of `size` bytes; `name` is what messages call the text,
// and its folder is where file names in it start; NULL: none. `settings`: (count) texts "path=value" applied over the
// file's values, as integrator.method=siere; path=null takes the key out. The result owns everything it points to and
// is the caller's to free; NULL with an error that names line and column, or the key.
typedef struct rbt_scene_file rbt_scene_file;
rbt_scene_file *rbt_scene_read(const char *path, const char *const *settings, size_t count, rbt_error *error);
rbt_scene_file *rbt_scene_parse(const char *json, size_t size, const char *name, const char *const *settings,
                                size_t count, rbt_error *error);
const rbt_scene *rbt_scene_of(const rbt_scene_file *file);  // lives as long as the file
const char *rbt_scene_json(const rbt_scene_file *file);     // with the settings applied; lives as long as the file
// Warning i about the scene, as about keys that have been renamed; NULL past the last one. Lives as long as the
// library.
const char *rbt_scene_warning(const rbt_scene_file *file, int i);
void rbt_scene_free(rbt_scene_file *file);  // NULL: nothing

// Checks cookies, limits and dependencies of a description, however it was made; rbt_sim_create does it too. false
// with an error that names the member as a scene file has it.
bool rbt_scene_check(const rbt_scene *scene, rbt_error *error);

#ifdef __cplusplus
}
#endif
#endif
