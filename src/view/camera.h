// A perspective camera. The y axis of the world is up; pixels count from the top left, x to the right, y down.
#ifndef RBT_VIEW_CAMERA_H
#define RBT_VIEW_CAMERA_H

#include "base/error.h"

#include <stddef.h>

typedef struct rbt_camera {
    double eye[3];
    double right[3], up[3], forward[3];  // orthonormal
    double focal;                        // [pixels]: an offset of 1 at distance 1 is this long in the picture
    int width, height;                   // [pixels]
} rbt_camera;

// Where the camera stands, seen from the subject: yaw 0 is +z, 90 is +x; pitch 90 is above. Degrees.
typedef struct rbt_direction {
    double yaw, pitch;
} rbt_direction;

// "front", "iso", …, or "yaw,pitch". rbt_view_name lists the names, NULL past the end.
bool rbt_view_parse(const char *text, rbt_direction *view, rbt_error *error);
const char *rbt_view_name(int i);

rbt_camera rbt_camera_new(rbt_direction view, int width, int height);

// Moving the camera back until every point is in the picture: add all points, then finish. Points that are not
// finite are left out.
typedef struct rbt_camera_fit {
    double most[4];  // the farthest points towards the four sides of the view pyramid
    double low[3], high[3];
    size_t count;
} rbt_camera_fit;

rbt_camera_fit rbt_camera_fit_begin(void);
void rbt_camera_fit_add(rbt_camera_fit *fit, const rbt_camera *camera, const double *points, size_t count);
void rbt_camera_fit_finish(const rbt_camera_fit *fit, double zoom, rbt_camera *camera);

// image = (x, y, 1/distance along the view); 1/distance <= 0 behind the camera.
void rbt_camera_project(const rbt_camera *camera, const double point[3], double image[3]);

// Direction (not normalised) from the eye through a place in the picture.
void rbt_camera_ray(const rbt_camera *camera, double x, double y, double ray[3]);

#endif
