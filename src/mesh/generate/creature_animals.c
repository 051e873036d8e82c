// Dinosaur, armadillo, human body and liver.
#include "mesh/generate/creature.h"

// clang-format off
static const rbt_primitive DINOSAUR[] = {
    EGG("body", POINT(0, 3.2, 0), POINT(2.1, 1.25, 1.1), STRAIGHT),
    EGG("body", POINT(1.1, 3.35, 0), POINT(1.1, 1.1, 0.95), STRAIGHT),
    ROD("head-neck", POINT(1.9, 3.8, 0), POINT(2.9, 4.8, 0), 0.70, 0.50),
    ROD("head-neck", POINT(2.9, 4.8, 0), POINT(3.5, 6.0, 0), 0.50, 0.40),
    ROD("head-neck", POINT(3.5, 6.0, 0), POINT(4.0, 7.1, 0), 0.40, 0.34),
    EGG("head-neck", POINT(4.35, 7.35, 0), POINT(0.60, 0.40, 0.38), TURN(0, 0, 1, -15)),
    ROD("head-neck", POINT(4.6, 7.25, 0), POINT(5.05, 7.1, 0), 0.30, 0.24),
    ROD("tail", POINT(-1.7, 3.1, 0), POINT(-3.2, 2.6, 0), 0.80, 0.55),
    ROD("tail", POINT(-3.2, 2.6, 0), POINT(-4.7, 2.15, 0), 0.55, 0.38),
    ROD("tail", POINT(-4.7, 2.15, 0), POINT(-6.2, 2.05, 0), 0.38, 0.25),
    ROD("tail", POINT(-6.2, 2.05, 0), POINT(-7.6, 2.5, 0), 0.25, 0.15),
    PAIR("legs", POINT(1.25, 2.8, 0.70), POINT(1.45, 1.4, 0.85), 0.50, 0.38),
    PAIR("legs", POINT(1.45, 1.4, 0.85), POINT(1.40, 0.35, 0.85), 0.38, 0.34),
    PAIR("legs", POINT(1.40, 0.33, 0.85), POINT(1.65, 0.30, 0.85), 0.33, 0.30),
    PAIR("legs", POINT(-1.15, 2.9, 0.70), POINT(-0.95, 1.5, 0.90), 0.62, 0.44),
    PAIR("legs", POINT(-0.95, 1.5, 0.90), POINT(-1.20, 0.35, 0.90), 0.44, 0.36),
    PAIR("legs", POINT(-1.20, 0.35, 0.90), POINT(-0.90, 0.30, 0.90), 0.35, 0.30),
};

static const rbt_primitive ARMADILLO[] = {
    EGG("body", POINT(0.05, 3.2, 0), POINT(0.85, 1.25, 0.95), TURN(0, 0, 1, -8)),
    EGG("shell", POINT(-0.35, 3.4, 0), POINT(0.80, 1.35, 1.05), TURN(0, 0, 1, -8)),
    ROD("head", POINT(0.30, 4.4, 0), POINT(0.50, 4.9, 0), 0.50, 0.50),
    EGG("head", POINT(0.62, 5.05, 0), POINT(0.62, 0.52, 0.52), TURN(0, 0, 1, -15)),
    ROD("head", POINT(0.95, 4.95, 0), POINT(1.60, 4.65, 0), 0.40, 0.28),
    PAIR("ears", POINT(0.35, 5.35, 0.35), POINT(0.10, 6.0, 0.75), 0.30, 0.26),
    PAIR("arms", POINT(0.10, 4.0, 0.85), POINT(0.15, 3.55, 1.75), 0.44, 0.40),
    PAIR("arms", POINT(0.15, 3.55, 1.75), POINT(0.75, 4.2, 2.15), 0.40, 0.34),
    PAIR("arms", POINT(0.75, 4.2, 2.15), POINT(0.95, 4.6, 2.20), 0.34, 0.30),
    PAIR("legs", POINT(0.05, 2.3, 0.60), POINT(0.45, 1.30, 0.90), 0.58, 0.42),
    PAIR("legs", POINT(0.45, 1.30, 0.90), POINT(0.05, 0.35, 0.95), 0.40, 0.30),
    PAIR("legs", POINT(0.05, 0.30, 0.95), POINT(0.80, 0.26, 1.05), 0.30, 0.24),
    ROD("tail", POINT(-0.60, 2.2, 0), POINT(-1.35, 1.2, 0), 0.50, 0.38),
    ROD("tail", POINT(-1.35, 1.2, 0), POINT(-2.00, 0.75, 0.1), 0.38, 0.28),
};

static const rbt_primitive BODY[] = {
    EGG("torso", POINT(0.00, 12.6, 0), POINT(1.05, 1.9, 1.55), STRAIGHT),
    EGG("torso", POINT(0.00, 11.2, 0), POINT(0.92, 1.6, 1.30), STRAIGHT),
    EGG("torso", POINT(-0.05, 9.7, 0), POINT(1.05, 1.2, 1.50), STRAIGHT),
    PAIR("torso", POINT(0.05, 13.7, 0.5), POINT(-0.05, 13.6, 1.75), 0.60, 0.52),
    EGG_PAIR("torso", POINT(0.55, 13.05, 0.72), POINT(0.45, 0.60, 0.72), STRAIGHT),
    EGG_PAIR("torso", POINT(-0.65, 9.3, 0.70), POINT(0.75, 0.80, 0.72), STRAIGHT),
    ROD("head", POINT(-0.05, 14.2, 0), POINT(0.05, 15.2, 0), 0.55, 0.50),
    EGG("head", POINT(0.10, 16.3, 0), POINT(0.98, 1.15, 0.80), STRAIGHT),
    EGG("head", POINT(0.40, 15.75, 0), POINT(0.62, 0.62, 0.52), STRAIGHT),
    ROD("head", POINT(1.00, 16.25, 0), POINT(1.18, 15.95, 0), 0.10, 0.15),
    EGG_PAIR("head", POINT(0.05, 16.2, 0.82), POINT(0.22, 0.32, 0.10), STRAIGHT),
    PAIR("arms", POINT(-0.05, 13.6, 1.85), POINT(-0.20, 11.1, 2.65), 0.56, 0.40),
    PAIR("arms", POINT(-0.20, 11.1, 2.65), POINT(0.25, 8.9, 3.20), 0.42, 0.26),
    EGG_PAIR("hands", POINT(0.35, 8.35, 3.35), POINT(0.36, 0.55, 0.20), TURN(1, 0, 0, -12)),
    PAIR("hands", POINT(0.60, 7.95, 3.42), POINT(0.72, 7.35, 3.52), 0.13, 0.11),
    PAIR("hands", POINT(0.42, 7.90, 3.44), POINT(0.46, 7.20, 3.58), 0.13, 0.11),
    PAIR("hands", POINT(0.24, 7.90, 3.46), POINT(0.22, 7.25, 3.60), 0.13, 0.11),
    PAIR("hands", POINT(0.08, 7.98, 3.46), POINT(-0.02, 7.45, 3.58), 0.12, 0.10),
    PAIR("hands", POINT(0.60, 8.45, 3.30), POINT(0.92, 7.95, 3.22), 0.15, 0.12),
    PAIR("legs", POINT(0.00, 9.0, 0.80), POINT(0.08, 5.2, 0.98), 0.86, 0.54),
    PAIR("legs", POINT(0.08, 5.2, 0.98), POINT(-0.10, 0.95, 1.05), 0.52, 0.34),
    EGG_PAIR("legs", POINT(-0.25, 3.9, 1.0), POINT(0.48, 1.15, 0.48), STRAIGHT),
    PAIR("feet", POINT(-0.30, 0.42, 1.05), POINT(0.55, 0.40, 1.12), 0.40, 0.36),
    PAIR("feet", POINT(0.55, 0.34, 1.12), POINT(1.45, 0.22, 1.22), 0.34, 0.22),
};

static const rbt_primitive LIVER[] = {
    EGG("right-lobe", POINT(-3.4, 0.4, 0), POINT(3.7, 2.9, 3.0), TURN(0, 0, 1, -14)),
    EGG("right-lobe", POINT(-5.0, -2.0, 0.2), POINT(1.9, 3.0, 2.3), TURN(0, 0, 1, 8)),
    EGG("left-lobe", POINT(2.2, 1.5, 0.3), POINT(4.2, 1.5, 2.3), TURN(0, 0, 1, 8)),
    EGG("left-lobe", POINT(6.0, 2.2, 0.5), POINT(2.8, 0.9, 1.6), TURN(0, 0, 1, 14)),
    EGG("caudate", POINT(-0.3, -0.3, -1.7), POINT(1.4, 1.3, 1.2), STRAIGHT),
    {NULL, RBT_ELLIPSOID, {0.4, -3.4, 0.8}, {3.6, 2.9, 5.0}, .turn = {0, 0, 1, 20}, .combine = RBT_SUBTRACT,
     .blend = 0.5},
};
// clang-format on

RBT_TABLE_CREATURE(dinosaur, DINOSAUR, 0.2)
RBT_TABLE_CREATURE(armadillo, ARMADILLO, 0.15)
RBT_TABLE_CREATURE_WITH_INNER(body, BODY, 0.14, 0.4)
RBT_TABLE_CREATURE(liver, LIVER, 1.2)

RBT_CREATURE_PARAMETERS(DINOSAUR, "dinosaur shape",
                        "A long-necked dinosaur: the tet sets head-neck, tail, legs and body.", 1, 51.25)
RBT_CREATURE_PARAMETERS(ARMADILLO, "armadillo shape",
                        "An animal upright on two legs: the tet sets body, shell, head, ears, arms, legs and tail.",
                        0.031, 15.5)
RBT_CREATURE_PARAMETERS(
    BODY, "body shape",
    "A standing human body: the tet sets torso, head, arms, hands, legs and feet, and the node set inner "
    "along their middle.",
    1.75, 113.75)
RBT_CREATURE_PARAMETERS(LIVER, "liver shape", "A liver: the tet sets right-lobe, left-lobe and caudate.", 0.19, 18)
