// Scene, time, integrator, output and forces; bodies and what is on them are in table_body.c, obstacles in
// table_obstacle.c, cuts in table_cut.c, events in table_event.c.
#include "scene/table.h"

#include "scene/table_macros.h"
#include "step/core/method.h"

// ---- Forces

#define ON_BODY(type)                                                                                                \
    {                                                                                                                \
        FIELD(type, body, RBT_TEXT),                                                                                 \
            .flags = RBT_NOT_EMPTY, .doc = "Name of the body it acts on; absent: all of them.", .example = "\"bar\"" \
    }

static const rbt_field GRAVITY[] = {
    {FIELD(rbt_force_gravity, acceleration, RBT_VEC3), .fallback = {0, -9.80665, 0}, .unit = "m/s^2",
     .doc = "Acceleration of everything."},
};
RECORD(static, FORCE_GRAVITY_RECORD, rbt_force_gravity, GRAVITY, "force-gravity", "Weight.");

static const rbt_field PULL[] = {
    ON_BODY(rbt_force_pull),
    {FIELD(rbt_force_pull, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "The nodes that are pulled."},
    {FIELD(rbt_force_pull, force, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "N",
     .doc = "Total force, shared in proportion to the mass of the nodes.", .example = "[0, 10, 0]"},
    TIME_SPAN(rbt_force_pull, "When it ends."),
};
RECORD(, RBT_FORCE_PULL_RECORD, rbt_force_pull, PULL, "force-pull", "A constant force for a while.");

static const rbt_field PULSE[] = {
    ON_BODY(rbt_force_pulse),
    {FIELD(rbt_force_pulse, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "The nodes that are pushed."},
    {FIELD(rbt_force_pulse, peak, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "N",
     .doc = "Total force at the top of the wave, shared in proportion to the mass of the nodes.",
     .example = "[0, 10, 0]"},
    {FIELD(rbt_force_pulse, from, RBT_REAL), .unit = "s", .max = INFINITY, .doc = "When it begins."},
    {FIELD(rbt_force_pulse, duration, RBT_REAL), .flags = RBT_ABOVE, .fallback = {0.1}, .unit = "s",
     .doc = "How long it lasts."},
};
RECORD(, RBT_FORCE_PULSE_RECORD, rbt_force_pulse, PULSE, "force-pulse", "A push in the shape of half a sine wave.");

static const rbt_field WIND[] = {
    ON_BODY(rbt_force_wind),
    {FIELD(rbt_force_wind, velocity, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m/s",
     .doc = "Mean velocity of the air.", .example = "[5, 0, 0]"},
    {FIELD(rbt_force_wind, air_density, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1.225}, .unit = "kg/m^3",
     .doc = "Density of the air."},
    {FIELD(rbt_force_wind, gust, RBT_REAL), .max = 10, .doc = "The speed varies by this share of itself."},
    {FIELD(rbt_force_wind, gust_frequency, RBT_REAL), .flags = RBT_ABOVE, .fallback = {0.5}, .unit = "Hz",
     .doc = "Frequency of the slowest of the three waves that make the gusts."},
    TIME_SPAN(rbt_force_wind, "When it ends."),
};
RECORD(, RBT_FORCE_WIND_RECORD, rbt_force_wind, WIND, "force-wind",
       "Pressure of moving air on the surface: 1/2 rho |u| u along the normal, u being the air's velocity against "
       "the surface along its normal. A shell's triangles are front and back at once and feel it twice.");

static const rbt_field DRAG[] = {
    ON_BODY(rbt_force_drag),
    {FIELD(rbt_force_drag, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "The nodes that are dragged."},
    {FIELD(rbt_force_drag, point, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "Where their centre of mass is pulled to.", .example = "[0, 1, 0]"},
    {FIELD(rbt_force_drag, stiffness, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .unit = "N/m", .max = INFINITY,
     .doc = "Force per distance; at most the mass of the nodes over the square of the step.", .example = "10"},
    TIME_SPAN(rbt_force_drag, "When it lets go."),
};
RECORD(, RBT_FORCE_DRAG_RECORD, rbt_force_drag, DRAG, "force-drag",
       "A spring from the centre of mass of some nodes to a point, as when something is dragged with the mouse; its "
       "force is shared in "
       "proportion to the mass of the nodes.");

static const rbt_field FORCES[RBT_FORCE_KINDS] = {
    [RBT_FORCE_GRAVITY] = ALTERNATIVE("gravity", &FORCE_GRAVITY_RECORD, "Weight of all bodies."),
    [RBT_FORCE_PULL] = ALTERNATIVE("pull", &RBT_FORCE_PULL_RECORD, "A constant force on some nodes for a while."),
    [RBT_FORCE_PULSE] = ALTERNATIVE("pulse", &RBT_FORCE_PULSE_RECORD, "A short push on some nodes."),
    [RBT_FORCE_WIND] = ALTERNATIVE("wind", &RBT_FORCE_WIND_RECORD, "Wind with gusts on the surface."),
    [RBT_FORCE_DRAG] =
        ALTERNATIVE("drag", &RBT_FORCE_DRAG_RECORD, "A spring that pulls some nodes to a point for a while."),
};
VARIANTS(static, FORCE_VARIANTS, FORCES, force_at, "force", "What acts on the bodies from outside.", -1)

// ---- Contact

static const char *contact_solver_name(int i) {
    static const char *const NAMES[RBT_CONTACT_SOLVERS] = {
        [RBT_CONTACT_BARRIER] = "barrier", [RBT_CONTACT_AUGMENTED_LAGRANGIAN] = "augmented-lagrangian"};
    return i >= 0 && i < RBT_CONTACT_SOLVERS ? NAMES[i] : NULL;
}

static const rbt_field CONTACT_PAIR[] = {
    {FIELD(rbt_contact_pair_def, a, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "One side: the name of a body, or obstacles[2]; absent: any.", .example = "\"block\""},
    {FIELD(rbt_contact_pair_def, b, RBT_TEXT), .flags = RBT_NOT_EMPTY, .doc = "The other side, likewise.",
     .example = "\"obstacles[0]\""},
    {FIELD(rbt_contact_pair_def, friction, RBT_REAL), .flags = RBT_REQUIRED, .max = 1e6,
     .doc = "Coulomb's coefficient between the two."},
};
RECORD(static, CONTACT_PAIR_RECORD, rbt_contact_pair_def, CONTACT_PAIR, "contact-pair",
       "What two sides have between them instead of their own values; where several match, the last one counts.");

static const rbt_field CONTACT[] = {
    {FIELD(rbt_contact_def, thickness, RBT_REAL), .flags = RBT_ABOVE | RBT_AUTO, .fallback = {NAN}, .max = INFINITY,
     .unit = "m",
     .doc =
         "Distance at which surfaces begin to push each other. auto: a tenth of the mean edge of the surfaces, at "
         "most a thousandth of the bodies' box, and less than the gaps of the start, down to a thousandth of that."},
    {FIELD(rbt_contact_def, friction, RBT_REAL), .max = 1e6,
     .doc = "Coulomb's coefficient, where bodies and pairs have none of their own."},
    {FIELD(rbt_contact_def, gap, RBT_REAL), .max = INFINITY, .unit = "m",
     .doc = "Distance that surfaces always keep, where bodies have none of their own: the thickness of cloth."},
    {FIELD(rbt_contact_def, slip_speed, RBT_REAL), .flags = RBT_ABOVE | RBT_AUTO, .fallback = {NAN}, .max = INFINITY,
     .unit = "m/s",
     .doc =
         "Speed below which surfaces count as sticking to each other: friction grows from 0 to its full size up to "
         "it. auto: a thousandth of the smallest body per second."},
    {FIELD(rbt_contact_def, solver, RBT_CHOICE), .of.names = contact_solver_name,
     .doc =
         "How contact is solved by implicit methods. barrier: an energy that grows without bound as gaps close (Li "
         "et al. 2020). augmented-lagrangian: gaps are constraints, at least the thickness, and their multipliers "
         "the forces (Zheng et al. 2026). semi-implicit, siere, imex and multirate-euler have impulses of "
         "their own, with which surfaces stick wholly: slip_speed does not count. async-contact has layers, and "
         "refuses "
         "slip_speed and augmented-lagrangian."},
    {FIELD(rbt_contact_def, pairs, RBT_RECORDS), .of.record = &CONTACT_PAIR_RECORD,
     .doc = "Coefficients of certain pairs of bodies and obstacles."},
};
RECORD(, RBT_CONTACT_RECORD, rbt_contact_def, CONTACT, "contact",
       "With it nothing passes through anything: bodies, themselves included, and obstacles. For backward-euler, "
       "implicit-midpoint, bdf2 and energy-euler with the solver newton, dot or lbfgs-h, for semi-implicit, siere, "
       "imex and "
       "multirate-euler with cholesky, and for async-contact, which keeps bodies apart without it as well.");

rbt_contact_def rbt_contact_default(void) {
    rbt_contact_def def;
    rbt_record_default(&RBT_CONTACT_RECORD, &def);
    return def;
}

// ---- Time, method, output

static const rbt_field TIME[] = {
    {FIELD(rbt_time_def, step, RBT_REAL), .flags = RBT_ABOVE | RBT_AUTO, .fallback = {NAN}, .unit = "s",
     .doc =
         "Time step; shortened so that a whole number of steps makes a frame. auto: with backward-euler, bdf2, "
         "implicit-midpoint, semi-implicit and siere every step is as long as the error that goal asks for allows; "
         "imex takes the step with the least predicted cost per simulated second. Absent from a scene that names its "
         "method: 0.01 s."},
    {FIELD(rbt_time_def, end, RBT_REAL), .fallback = {4}, .max = INFINITY, .unit = "s", .doc = "When the run ends."},
    {FIELD(rbt_time_def, frame, RBT_REAL), .flags = RBT_ABOVE, .fallback = {0.04}, .unit = "s",
     .doc = "Time between two frames on disk."},
    {FIELD(rbt_time_def, min_step, RBT_REAL), .max = INFINITY, .unit = "s",
     .doc = "Least length of steps that are chosen by their error; where it makes a larger error than asked for, the "
            "run says so. 0: a frame times that error where bodies can meet something, else a frame over 2^20."},
};
RECORD(, RBT_TIME_RECORD, rbt_time_def, TIME, "time", "Steps and frames.");

static const char *quality_name(int i) {
    static const char *const names[RBT_QUALITIES] = {
        [RBT_BALANCED] = "balanced", [RBT_PREVIEW] = "preview", [RBT_ACCURATE] = "accurate"};
    return i >= 0 && i < RBT_QUALITIES ? names[i] : NULL;
}

static const char *keep_name(int i) {
    static const char *const names[RBT_KEEPS] = {
        [RBT_KEEP_SHAPE] = "shape", [RBT_KEEP_ENERGY] = "energy", [RBT_KEEP_NOTHING] = "nothing"};
    return i >= 0 && i < RBT_KEEPS ? names[i] : NULL;
}

static const rbt_field GOAL[] = {
    {FIELD(rbt_goal_def, quality, RBT_CHOICE), .of.names = quality_name,
     .doc = "Stands for an error: preview 0.05, balanced 0.01, accurate 0.001; in scenes with contact or obstacles "
            "preview 0.2, balanced 0.05, accurate 0.01."},
    {FIELD(rbt_goal_def, error, RBT_REAL), .flags = RBT_AUTO | RBT_ABOVE, .fallback = {NAN}, .min = 0, .max = 1,
     .doc = "How far the worst node may be from where it should be when the run ends, over the size (the diagonal of "
            "the box) of its body. auto: by quality."},
    {FIELD(rbt_goal_def, budget, RBT_REAL), .flags = RBT_ABOVE | RBT_NEVER, .fallback = {INFINITY}, .max = INFINITY,
     .unit = "s/s", .doc = "Seconds of computing that a simulated second may take; never: as long as it takes."},
    {FIELD(rbt_goal_def, keep, RBT_CHOICE), .of.names = keep_name,
     .doc = "What a method must be good at beside positions: shape, energy (without damping of its own), nothing."},
};
RECORD(, RBT_GOAL_RECORD, rbt_goal_def, GOAL, "goal", "What is wanted of the result, where the step is left open.");

static rbt_name_of solvers_of(int method) {
    const rbt_method *m = rbt_method_at(method);
    return m ? m->solvers : NULL;
}

static const rbt_record *options_of(int method) {
    const rbt_method *m = rbt_method_at(method);
    return m ? m->options : NULL;
}

static const rbt_dependence BY_METHOD = {"method", solvers_of, options_of};

static const rbt_field INTEGRATOR[] = {
    {FIELD(rbt_integrator_def, method, RBT_CHOICE), .flags = RBT_AUTO, .fallback = {-1}, .of.names = rbt_method_name,
     .doc =
         "How time is stepped; `rubato methods` says when to use which. auto: rubato tries those that can, and takes "
         "the one that gets to goal in the least time."},
    {FIELD(rbt_integrator_def, solver, RBT_CHOICE_BY), .flags = RBT_AUTO, .of.by = &BY_METHOD,
     .doc =
         "How the method solves its equations; absent: the method's first one. auto: the one that is found to take "
         "the least time; of imex, its own."},
    {FIELD(rbt_integrator_def, options, RBT_RECORD_BY), .of.by = &BY_METHOD, .doc = "What only this method has."},
    {FIELD(rbt_integrator_def, max_halvings, RBT_INT), .fallback = {14}, .max = 30,
     .doc = "How often a failing step may be halved before the run stops."},
};
RECORD(, RBT_INTEGRATOR_RECORD, rbt_integrator_def, INTEGRATOR, "integrator", "The method that moves the bodies.");

static const rbt_field BODY_INTEGRATOR[] = {
    {FIELD(rbt_body_integrator_def, method, RBT_CHOICE), .flags = RBT_REQUIRED, .of.names = rbt_method_name,
     .doc = "How this body is stepped. One method for all bodies is that method; beside the scene's backward-euler, "
            "semi-implicit and siere are stepped in one coupled step, and others are refused.",
     .example = "\"siere\""},
    {FIELD(rbt_body_integrator_def, options, RBT_RECORD_BY), .of.by = &BY_METHOD,
     .doc =
         "What only this method has. Bodies of the same method and options are stepped as a scene of these alone."},
};
RECORD(, RBT_BODY_INTEGRATOR_RECORD, rbt_body_integrator_def, BODY_INTEGRATOR, "body-integrator",
       "The method of one body.");

static const rbt_field OUTPUT[] = {
    {FIELD(rbt_output_def, folder, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "Where the results go, relative to the working folder; -o comes first; absent: out/ and the name of the "
            "scene.",
     .example = "\"out/bar\""},
    {FIELD(rbt_output_def, vtu, RBT_BOOL), .fallback = {1}, .doc = "A VTU file per frame and frames.pvd (ParaView)."},
    {FIELD(rbt_output_def, obj, RBT_BOOL), .doc = "The surface of every body as an OBJ file per frame."},
    {FIELD(rbt_output_def, pc2, RBT_BOOL), .doc = "A PC2 point cache of every body's surface (Blender)."},
    {FIELD(rbt_output_def, usda, RBT_BOOL), .doc = "One USDA text file with the moving surfaces."},
    {FIELD(rbt_output_def, compress, RBT_BOOL), .doc = "Compress the data inside the VTU files with zlib."},
    {FIELD(rbt_output_def, single_precision, RBT_BOOL), .doc = "32-bit instead of 64-bit numbers in the VTU files."},
    {FIELD(rbt_output_def, warp, RBT_BOOL), .doc = "Show bodies of the linear material with their turns made whole "
                                                   "(rotation-strain warping), so that they bend without "
                                                   "growing. Positions, displacements and surfaces in the frames are "
                                                   "warped; velocities, stresses, energies and checkpoints "
                                                   "are those of the motion itself."},
    {FIELD(rbt_output_def, checkpoint_every, RBT_INT), .fallback = {1}, .max = INFINITY, .unit = "frames",
     .doc = "How often a checkpoint is written; 0: never."},
    {FIELD(rbt_output_def, checkpoint_keep, RBT_INT), .max = INFINITY,
     .doc = "How many of the newest checkpoints stay on disk; 0: all of them."},
};
RECORD(, RBT_OUTPUT_RECORD, rbt_output_def, OUTPUT, "output", "What is written, and where.");

// ---- Probes

static const char *every_name(int i) {
    static const char *const names[RBT_EVERY_KINDS] = {[RBT_EVERY_FRAME] = "frame", [RBT_EVERY_STEP] = "step"};
    return i >= 0 && i < RBT_EVERY_KINDS ? names[i] : NULL;
}

static const rbt_field PROBE[] = {
    {FIELD(rbt_probe_def, name, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Its columns in probes.csv begin with this name and a dot.", .example = "\"tip\""},
    {FIELD(rbt_probe_def, body, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "Name of the body whose nodes it reads; absent: all of them.", .example = "\"bar\""},
    {FIELD(rbt_probe_def, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "The nodes that it reads."},
    {FIELD(rbt_probe_def, every, RBT_CHOICE), .of.names = every_name,
     .doc = "When it is read: at every frame, or after every step too. Rows of steps begin with the number of the "
            "last whole frame, and other probes have empty cells there."},
};
RECORD(, RBT_PROBE_RECORD, rbt_probe_def, PROBE, "probe",
       "Nodes whose mean place and velocity, weighted by mass, and whose forces of constraints and of contact are "
       "written "
       "into probes.csv, a row a frame or a step.");

// ---- The scene

static const rbt_field SCENE[] = {
    {.name = "$schema",
     .kind = RBT_TEXT,
     .flags = RBT_NOT_KEPT,
     .doc = "Where an editor finds the JSON Schema; rubato does not look at it.",
     .example = "\"docs/scene.schema.json\""},
    {.name = "rubato",
     .kind = RBT_INT,
     .offset = offsetof(rbt_scene, version),
     .flags = RBT_REQUIRED,
     .fallback = {1},
     .min = 1,
     .max = 1,
     .doc = "Version of the scene format."},
    {FIELD(rbt_scene, about, RBT_TEXT), .doc = "What the scene shows, for people.",
     .example = "\"a bar falls on the ground\""},
    {FIELD(rbt_scene, bodies, RBT_RECORDS), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .of.record = &RBT_BODY_RECORD,
     .doc = "The elastic bodies."},
    {FIELD(rbt_scene, forces, RBT_VARIANTS), .of.variants = &FORCE_VARIANTS,
     .doc = "What acts on them from outside."},
    {FIELD(rbt_scene, obstacles, RBT_VARIANTS), .of.variants = &RBT_OBSTACLE_VARIANTS,
     .doc = "What they bounce off."},
    {FIELD(rbt_scene, contact, RBT_OPTIONAL), .of.record = &RBT_CONTACT_RECORD,
     .doc = "Whether and how they touch; absent: bodies pass through each other, and obstacles push by penalties."},
    {FIELD(rbt_scene, cuts, RBT_RECORDS), .of.record = &RBT_CUT_RECORD, .doc = "What is cut while time runs."},
    {FIELD(rbt_scene, events, RBT_RECORDS), .of.record = &RBT_EVENT_RECORD,
     .doc = "What is done to the bodies while time runs, as a person or a program would."},
    {FIELD(rbt_scene, probes, RBT_RECORDS), .of.record = &RBT_PROBE_RECORD,
     .doc = "What is read and written down while time runs."},
    {FIELD(rbt_scene, time, RBT_RECORD), .of.record = &RBT_TIME_RECORD, .doc = "Steps and frames."},
    {FIELD(rbt_scene, goal, RBT_RECORD), .of.record = &RBT_GOAL_RECORD,
     .doc = "What is wanted of the result, where the step is left open."},
    {FIELD(rbt_scene, integrator, RBT_RECORD), .of.record = &RBT_INTEGRATOR_RECORD,
     .doc = "The method that moves the bodies."},
    {FIELD(rbt_scene, output, RBT_RECORD), .of.record = &RBT_OUTPUT_RECORD, .doc = "What is written, and where."},
};
RECORD_WITH_COOKIE(, RBT_SCENE_RECORD, rbt_scene, SCENE, "scene", "The whole file.");

rbt_scene rbt_scene_default(void) {
    rbt_scene scene;
    rbt_record_default(&RBT_SCENE_RECORD, &scene);
    return scene;
}
