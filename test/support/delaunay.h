// Random bodies: the Delaunay tets of random points (Bowyer 1981, Watson 1981), slivers and all. For tests, so slow
// and short: every point looks at every tet.
#ifndef TEST_SUPPORT_DELAUNAY_H
#define TEST_SUPPORT_DELAUNAY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DELAUNAY_POINTS = 64, DELAUNAY_TETS = 4096 };

typedef struct delaunay {
    size_t point_count, tet_count;
    double points[DELAUNAY_POINTS + 4][3];  // the last four are a tet around all others
    int tets[DELAUNAY_TETS][4];
} delaunay;

static inline double delaunay_random(uint64_t *seed) {  // between 0 and 1
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = *seed ^ *seed >> 33;
    z *= 0xff51afd7ed558ccdu;
    return (double)((z ^ z >> 33) >> 11) * 0x1p-53;
}

// Six times the volume
static inline double delaunay_volume(const delaunay *d, const int *t) {
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) e[a][i] = d->points[t[a + 1]][i] - d->points[t[0]][i];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

// Whether p lies in the ball around the positively oriented tet t
static inline bool delaunay_inside(const delaunay *d, const int *t, const double *p) {
    double m[4][4];
    for (int a = 0; a < 4; a++) {
        m[a][3] = 0;
        for (int i = 0; i < 3; i++) {
            m[a][i] = d->points[t[a]][i] - p[i];
            m[a][3] += m[a][i] * m[a][i];
        }
    }
    double sum = 0;
    for (int a = 0; a < 4; a++) {  // expanded along the last column
        const double *r[3];
        for (int b = 0, k = 0; b < 4; b++)
            if (b != a) r[k++] = m[b];
        double minor = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                       r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                       r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
        sum += (a % 2 ? 1 : -1) * minor * m[a][3];
    }
    return sum < 0;
}

static inline void delaunay_insert(delaunay *d, int point) {
    static const int FACE[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};  // seen from outside
    static int faces[DELAUNAY_TETS][3];
    size_t face_count = 0, kept = 0;
    for (size_t t = 0; t < d->tet_count; t++) {
        if (!delaunay_inside(d, d->tets[t], d->points[point])) {
            memmove(d->tets[kept++], d->tets[t], sizeof d->tets[t]);
            continue;
        }
        for (int f = 0; f < 4; f++) {
            int own[3], found = -1;
            for (int k = 0; k < 3; k++) own[k] = d->tets[t][FACE[f][k]];
            for (size_t g = 0; g < face_count && found < 0; g++) {
                int same = 0;
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) same += faces[g][a] == own[b];
                if (same == 3) found = (int)g;
            }
            if (found < 0) memcpy(faces[face_count++], own, sizeof own);
            else memmove(faces[found], faces[--face_count], sizeof own);  // a face of two such tets lies inside
        }
    }
    d->tet_count = kept;
    for (size_t f = 0; f < face_count; f++) {
        int *t = d->tets[d->tet_count++];
        t[0] = point;
        memcpy(t + 1, faces[f], sizeof faces[f]);
        if (delaunay_volume(d, t) < 0) {
            int swap = t[2];
            t[2] = t[3];
            t[3] = swap;
        }
    }
}

// Tets of `count` random points in a cube of side 1; those flatter than `least` (six times their volume) are left out.
static inline void delaunay_random_body(delaunay *d, size_t count, uint64_t seed, double least) {
    static const double AROUND[4][3] = {{-20, -20, -20}, {60, -20, -20}, {-20, 60, -20}, {-20, -20, 60}};
    *d = (delaunay){.point_count = count, .tet_count = 1};
    for (size_t n = 0; n < count; n++)
        for (int i = 0; i < 3; i++) d->points[n][i] = delaunay_random(&seed);
    for (int a = 0; a < 4; a++) {
        memcpy(d->points[count + (size_t)a], AROUND[a], sizeof AROUND[a]);
        d->tets[0][a] = (int)count + a;
    }
    for (size_t n = 0; n < count; n++) delaunay_insert(d, (int)n);
    size_t kept = 0;
    for (size_t t = 0; t < d->tet_count; t++) {
        bool own = delaunay_volume(d, d->tets[t]) > least;
        for (int a = 0; a < 4; a++) own &= d->tets[t][a] < (int)count;
        if (own) memmove(d->tets[kept++], d->tets[t], sizeof d->tets[t]);
    }
    d->tet_count = kept;
    // Points that no tet is left for are dropped.
    int number[DELAUNAY_POINTS], used = 0;
    for (size_t n = 0; n < count; n++) {
        number[n] = -1;
        for (size_t t = 0; t < kept && number[n] < 0; t++)
            for (int a = 0; a < 4; a++)
                if (d->tets[t][a] == (int)n) number[n] = used;
        if (number[n] >= 0) memmove(d->points[used++], d->points[n], sizeof d->points[n]);
    }
    d->point_count = (size_t)used;
    for (size_t t = 0; t < kept; t++)
        for (int a = 0; a < 4; a++) d->tets[t][a] = number[d->tets[t][a]];
}

// As a MEDIT file
static inline void delaunay_write(const delaunay *d, const char *path) {
    FILE *file = fopen(path, "w");
    fprintf(file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%zu\n", d->point_count);
    for (size_t n = 0; n < d->point_count; n++)
        fprintf(file, "%.17g %.17g %.17g 0\n", d->points[n][0], d->points[n][1], d->points[n][2]);
    fprintf(file, "Tetrahedra\n%zu\n", d->tet_count);
    for (size_t t = 0; t < d->tet_count; t++)
        fprintf(file, "%d %d %d %d 0\n", d->tets[t][0] + 1, d->tets[t][1] + 1, d->tets[t][2] + 1, d->tets[t][3] + 1);
    fprintf(file, "End\n");
    fclose(file);
}

#endif
