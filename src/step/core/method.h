// The table of time-stepping methods. Adding one is a file and a line in RBT_METHOD_LIST; the scene format, `rubato
// methods`, the documentation and the tests iterate over the table.
#ifndef RBT_STEP_CORE_METHOD_H
#define RBT_STEP_CORE_METHOD_H

#include "base/record.h"
#include "model/change.h"
#include "rubato/methods.h"
#include "step/core/free_step.h"
#include "step/core/stage.h"
#include "step/core/step_work.h"

// An observer that receives intermediate positions, as `rubato run --verify` asks for.
typedef enum rbt_seen {
    RBT_SEEN_START,  // of an attempt: what was seen of one before that reached beyond it is undone
    RBT_SEEN_EVENT
} rbt_seen;

typedef struct rbt_observer {
    bool every;  // show all events, between which nodes move straight on, instead of one per attempt
    void (*see)(void *context, rbt_seen what, double t, const double *x);  // x (node_count x 3) [m]
    void *context;
} rbt_observer;

// What a method makes of the nodes, for who looks at a run; their names are those of fields in frames.
typedef enum rbt_label_kind {
    RBT_LABEL_SUBDOMAIN,     // of dot: the subdomain; of nodes that several have, the first
    RBT_LABEL_RATE_PART,     // of multirate methods: the part
    RBT_LABEL_IMPLICIT_SET,  // of imex: 1 where a node is implicit
    RBT_LABEL_KINDS
} rbt_label_kind;
const char *rbt_label_name(int kind);  // NULL past the end

// A thousand pieces are worth a step that things pass by a thousand times their size in; one that needs all 16384 was
// meant to be another.
enum { RBT_MOST_ATTEMPTS = 1000 };

struct rbt_contact_handover;

typedef struct rbt_method {
    const char *name;
    const char *doc;   // what it does, one sentence
    const char *when;  // when to use it, one sentence
    int order;         // of its error in x and v on smooth motion: 1 or 2
    int damped_order;  // the same with stiffness damping, whose matrix changes with x; 0: as order
    // Stiffness damping is beta D(x) v of energy/group.h instead of beta K(x) v: the same at rest.
    bool damps_strain_rates;
    bool keeps_angular_momentum;  // of a free body, to rounding or the solver's tolerance; all keep the linear one
    bool undamped;                // it takes no energy from vibrations by itself
    bool needs_lumped_mass;       // refuses bodies with consistent mass
    rbt_name_of solvers;          // names of its step solvers, the first is the default; NULL: it needs none
    const rbt_record *options;    // its own options; NULL: it has none
    // It keeps bodies apart itself, and knows hinges that yield, limits of springs and obstacles that move.
    bool own_contact;
    bool contact;             // it knows the contact of a scene (model->contact)
    bool cheap_steps;         // a step costs little more than its forces
    const char *gain_remedy;  // what to try if energy grows from nothing; NULL: "backward-euler"
    bool last_resort;         // pieces of a step that others do not find are its (step/core/fall_back.h)
    const char *helped;       // what makes pieces of its steps backward Euler's; NULL: nothing does
    bool own_steps;           // it chooses its steps itself: halving one that failed is no use

    // Bytes of state->memory that the method needs; NULL: none. They are zero at the start, part of every checkpoint,
    // and restored with x and v when a step fails. `options` as in create.
    size_t (*memory_size)(const rbt_model *model, const void *options);
    // Of these the first ones, which are the same on all ranks (model/ranks.h); the others are (node_count x 3) arrays.
    size_t memory_head;
    // It can be taken by ranks together, with the solvers for which this is true; NULL: it cannot.
    bool (*on_ranks)(int solver, const void *options);
    // How many subdomains it divides this model into with that solver; 0: into none, or it does not matter. NULL: none.
    size_t (*subdomains)(const rbt_model *model, int solver, const void *options);
    // A failed attempt leaves the memory as it was, or one to try again with: it is not copied before every step.
    bool failure_spares_memory;
    // Attempts at a step and its pieces, in all, after which it is given up as RBT_STALLED; 0: any number
    int most_attempts;  // RBT_MOST_ATTEMPTS

    // A workspace for this model; `options` points to the struct that the table describes (NULL: defaults).
    void *(*create)(const rbt_model *model, int solver, const void *options, rbt_error *error);
    void (*destroy)(void *self);

    // From now on each attempt shows its start and the places at its events, or at one of them that is chosen at
    // random, which changes no bit of the result; the observer must outlive the workspace. NULL: the method has no
    // events.
    void (*set_observer)(void *self, const rbt_observer *observer);

    // After a cut: a workspace for change->after, in place of one for change->before, which it may take from; both
    // are destroyed by the caller. NULL: create makes it. It must continue as one that create has made would, bit for
    // bit: that is what a resumed run has. The method's memory in the state is zero after a cut, as at the start, but
    // for what `spent` tells: forces jump, and what came before says little.
    void *(*follow)(void *before, const rbt_change *change, int solver, const void *options, rbt_error *error);

    // One attempt to bring the state from state->t to `until`. On failure it fills report->outcome, stage, value and
    // hint and may leave x and v half-made: the caller restores them. It never touches state->frame or state->step.
    rbt_outcome (*attempt)(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report);

    // ---- Bodies of several methods in one step (step/core/body_methods.h)

    // Why its bodies cannot be stepped together with those of another method: the end of a sentence. NULL: they can, as
    // those of the scene's method (`joins`) or beside it (`free_step`).
    const char *alone;
    bool joins;  // bodies of methods with a free step can be part of its own
    // The step of some nodes without contact, and how they answer to contact; what `step` points to stays until the
    // next call. state->memory, which a later failure restores, is that of the end.
    rbt_outcome (*free_step)(void *self, rbt_state *state, double until, const rbt_free_part *part,
                             rbt_free_step *step, rbt_stages *stages, rbt_step_report *report);

    // The state is about to be another one than the last attempt has left: what the workspace knows of that one goes.
    // NULL: it knows nothing that it does not look up in the state.
    void (*reset)(void *self);

    // Somebody else has set x or v: the memory starts afresh. NULL: with zeros.
    void (*forget)(void *self, rbt_state *state);

    // Whether the method can continue from places that somebody else has set; false: `text` names what is in the way.
    // NULL: always.
    bool (*accepts)(void *self, const rbt_state *state, char *text, size_t size);

    // Where the state's memory has the work of prescribed motion through contact and what friction took, so far [J]:
    // two numbers that a cut leaves as they are. NULL: there are none.
    double *(*spent)(const void *self, const rbt_state *state);

    // The thickness of a scene's contact [m], 0: the scene has none; NULL: the method does not know it.
    double (*thickness)(const void *self);

    // Of a method whose steps can be chosen by their error: the order of the step that was attempted last, and the
    // constant C of its error (step/core/step_control.h), `ratio` times as long as the one before. NULL: they cannot.
    int (*error_law)(const void *self, double ratio, double *constant);
    // What the method knows better of e_x and e_v (node_count x 3) of the step that led to this state, state->t still
    // its start; `order` is theirs, which is less than the method's where a run begins. Returns the order that the
    // result has. NULL: nothing.
    int (*refine_error)(void *self, const rbt_state *state, double h, int order, double *ex, double *ev);
    // How fine solves must be from now on, as a share of the method's own tolerance; NULL: they are exact.
    void (*set_precision)(void *self, double share);

    // What a step costs with one of its solvers, roughly, for predictions; NULL: not known.
    rbt_step_work (*work)(int solver);

    // The step it would take for this model, for scenes with "step": "auto"; 0 with an error. NULL: it must be told.
    double (*choose_step)(const rbt_model *model, const void *options, rbt_error *error);

    // A sentence to say before the first step, if the method knows that it may not be right; NULL: it never does.
    bool (*warn)(void *self, char text[320]);

    // What the method has to say about itself in run.json: the members of an object, in JSON; NULL: nothing.
    void (*describe)(const void *self, rbt_text *json);

    // Of a method with contact of its own: pairs that push each other, as rbt_sim_contacts tells them; and f
    // (node_count x 3) += their forces on nodes. NULL: contact is that of obstacles (model/force.h).
    size_t (*contacts)(void *self, const rbt_state *state, rbt_contact_point *contacts, size_t capacity);
    void (*contact_forces)(void *self, const rbt_state *state, double *f);

    // Contact of the last step, out of the state's memory and into it, where it is work and dissipation that are added:
    // of methods that backward Euler makes pieces for (step/core/fall_back.h), and its own. NULL: nobody does.
    void (*give_contact)(void *self, const rbt_state *state, struct rbt_contact_handover *to);
    void (*take_contact)(void *self, rbt_state *state, const struct rbt_contact_handover *from);

    // Labels of the nodes as they were in the latest step (node_count), and the kind they are of; -1: there are none.
    int (*labels)(const void *self, int32_t *label);

    // Replaces or adds what only the method knows of; NULL: nothing.
    void (*energies)(void *self, const rbt_state *state, rbt_energies *energies);
} rbt_method;

const rbt_method *rbt_method_at(int i);  // NULL past the end

// Whether a method keeps bodies apart in a model, or would in a scene: it then knows obstacles that move and obstacles
// that are meshes, and obstacles are solid for it. These two are the only places that know when.
bool rbt_method_has_contact(const rbt_method *method, const rbt_model *model);
bool rbt_scene_has_contact(const rbt_scene *scene);

// Every method, in the order of the table; METHOD(NAME) is the rbt_method RBT_NAME of some file.
#define RBT_METHOD_LIST(METHOD)                                                                                      \
    METHOD(SEMI_IMPLICIT)                                                                                            \
    METHOD(SIERE)                                                                                                    \
    METHOD(BACKWARD_EULER)                                                                                           \
    METHOD(IMPLICIT_MIDPOINT)                                                                                        \
    METHOD(BDF2)                                                                                                     \
    METHOD(ENERGY_EULER)                                                                                             \
    METHOD(ERE)                                                                                                      \
    METHOD(IMEX)                                                                                                     \
    METHOD(MULTIRATE_EULER)                                                                                          \
    METHOD(SYMPLECTIC_EULER)                                                                                         \
    METHOD(SCHROEDER)                                                                                                \
    METHOD(ASYNC_CONTACT)

#define RBT_METHOD_EXTERN(NAME) extern const rbt_method RBT_##NAME;
RBT_METHOD_LIST(RBT_METHOD_EXTERN)

#endif
