// The energy watch: no method may gain energy without end and call it a result.
//
// Energy E (kinetic, elastic, gravity, obstacles and contact) changes by the work W of outside forces and prescribed
// motion (step/core/outside_work.h) and falls by damping. So B = E - W may fall and may not rise, but for the
// method's own error, and the watch follows the rise of B above the least level that it stayed below for
// RBT_LEDGER_RECENT frames in a row: shorter dips are swings, as those of explicit steps in an impact. Contact is
// left out of the risen B: a node that meets a stiff obstacle within a step is inside it by v h, with (h omega)^2
// times its kinetic energy, before any force knows; what comes of it is seen when it leaves. The rise is constrained
// against the scale S of energies that are accounted for:
//   S = start without gravity + sum of |pieces of work| + what gravity has given + 1/2 h^2 |f_load|^2 / m
// The last term is one step of free flight under the loads: methods of first order see them a step too early or too
// late.
//
// - B rose by more than RBT_GAIN_LIMIT S: the step ends with RBT_UNSTABLE. No right run does this: a linear symplectic
//   Euler step keeps 1/2 |v|^2 + 1/2 omega^2 x^2 - h/2 omega^2 x v, so that E swings by up to (1 + a) / (1 - a) with
//   a = h omega / 2: 99 at a = 0.98, the longest step that step/explicit/stability.h certifies. Implicit methods
//   swing less.
// - By more than RBT_GAIN_NOTABLE S at the end: a warning with the figure.
//
// Energies are looked at where frames end, and between them where the kinetic energy, looked at every few steps, is
// more than what was accounted for at the last look. An evaluation of the energy is a good part of an explicit step, so
// where frames have few of these and nobody wants the energies (every_frame) most frames are passed over. What the
// watch remembers lies in the state's ledger and so in checkpoints.
#ifndef RBT_STEP_CORE_ENERGY_WATCH_H
#define RBT_STEP_CORE_ENERGY_WATCH_H

#include "step/core/outside_work.h"
#include "step/core/stepper.h"

#define RBT_GAIN_LIMIT   100
#define RBT_GAIN_NOTABLE 0.1

typedef struct rbt_energy_watch {
    const rbt_stepper *stepper;  // NULL: not made yet
    rbt_outside outside;
    double acceleration;    // sum of |f_load|^2 / 2 m of gravity and loads at full strength [J/s^2]
    double given;           // the same of a caller's forces
    double noise;           // energies that are nothing but rounding, or motion too small to be seen [J]
    bool every_frame;       // look at every frame, as runs do, which write the energies down
    bool cheap;             // steps cost little more than forces
    bool in_turn;           // the step that is taken now ends where energies are looked at in any case
    bool begun;             // `outside` has its first sample
    double t;               // of the latest look
    rbt_energies energies;  // then
} rbt_energy_watch;

bool rbt_energy_watch_init(rbt_energy_watch *w, const rbt_stepper *stepper, rbt_error *error);
void rbt_energy_watch_free(rbt_energy_watch *w);

// Where the watch is, as bytes that belong to the state it is at: with them a restored state continues as if nothing
// had been.
size_t rbt_energy_watch_packed_size(const rbt_energy_watch *w);
void rbt_energy_watch_pack(const rbt_energy_watch *w, void *bytes);
bool rbt_energy_watch_unpack(rbt_energy_watch *w, const void *bytes,
                             size_t size);  // false: of another model or method

// Around a change of what a caller prescribes (model/input.h): the work so far is entered into the state's ledger, and
// after the change counting starts from the same state.
void rbt_energy_watch_before_input(rbt_energy_watch *w, rbt_state *state);
void rbt_energy_watch_after_input(rbt_energy_watch *w, const rbt_state *state);

// At a state that the watch has not led to: the start, one of a checkpoint, or what a cut has left. A difference to the
// energy of the ledger, which a cut or a changed scene can make, becomes one of its jumps.
void rbt_energy_watch_begin(rbt_energy_watch *w, rbt_state *state);

// Whether this many steps from state->step on lead to a look at the energies, or may lead to one.
bool rbt_energy_watch_due(rbt_energy_watch *w, const rbt_state *state, int64_t count, bool last);

// After the steps; `due` is what was said before them. Fills the report unless RBT_DONE; the state, the ledger in it
// included, is then the caller's to restore.
rbt_outcome rbt_energy_watch_step(rbt_energy_watch *w, rbt_state *state, bool due, rbt_step_report *report);

// Looks now, whatever step it is.
rbt_outcome rbt_energy_watch_look(rbt_energy_watch *w, rbt_state *state, rbt_step_report *report);

// Work so far, known where frames end and where there is nothing to count; else NaN. `energies`: of this state, by the
// method.
double rbt_energy_watch_work(const rbt_energy_watch *w, const rbt_state *state, const rbt_energies *energies);

// Whether all its numbers are ones that a watch can have written.
bool rbt_ledger_is_sound(const rbt_ledger *ledger);

// Gain beside the scale, 0.1: a tenth; and whether there is a sentence to say about it.
double rbt_ledger_gain(const rbt_ledger *ledger);
bool rbt_ledger_text(const rbt_ledger *ledger, const rbt_method *method, char text[320]);

#endif
