#include "view/camera.h"

#include "base/text.h"
#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double HALF_ANGLE = 0.235;  // [rad] of the picture's shorter side: a mild perspective
static const double FILL = 0.80;         // share of the picture that the subject may take

static const struct {
    const char *name;
    rbt_direction view;
} VIEWS[] = {{"hero", {32, 16}}, {"front", {0, 4}}, {"back", {180, 4}}, {"side", {90, 4}},   {"left", {-90, 4}},
             {"top", {0, 90}},   {"iso", {45, 30}}, {"low", {35, 3}},   {"bottom", {0, -90}}};
enum { VIEW_COUNT = sizeof VIEWS / sizeof VIEWS[0] };

const char *rbt_view_name(int i) { return i >= 0 && i < VIEW_COUNT ? VIEWS[i].name : NULL; }

bool rbt_view_parse(const char *text, rbt_direction *view, rbt_error *error) {
    for (int i = 0; i < VIEW_COUNT; i++)
        if (strcmp(VIEWS[i].name, text) == 0) {
            *view = VIEWS[i].view;
            return true;
        }
    int end = 0;
    double yaw, pitch;
    if (sscanf(text, "%lf,%lf%n", &yaw, &pitch, &end) == 2 && !text[end] && isfinite(yaw) && fabs(pitch) <= 90) {
        *view = (rbt_direction){yaw, pitch};
        return true;
    }
    const char *near = rbt_text_nearest(text, rbt_view_name);
    return rbt_fail(error,
                    "no view \"%s\"%s%s%s; give a name (hero, front, back, side, left, top, bottom, iso, low) or "
                    "yaw,pitch in degrees with a pitch of -90 to 90",
                    text, near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
}

rbt_camera rbt_camera_new(rbt_direction view, int width, int height) {
    double yaw = view.yaw * M_PI / 180, pitch = view.pitch * M_PI / 180;
    rbt_camera camera = {.width = width, .height = height};
    // From the subject to the eye; up is its derivative by pitch, which also serves straight above.
    const double out[3] = {sin(yaw) * cos(pitch), sin(pitch), cos(yaw) * cos(pitch)};
    const double up[3] = {-sin(yaw) * sin(pitch), cos(pitch), -cos(yaw) * sin(pitch)};
    for (int i = 0; i < 3; i++) {
        camera.eye[i] = out[i];
        camera.forward[i] = -out[i];
        camera.up[i] = up[i];
    }
    rbt_cross(camera.forward, camera.up, camera.right);
    int shorter = width < height ? width : height;
    camera.focal = 0.5 * shorter / tan(HALF_ANGLE);
    return camera;
}

rbt_camera_fit rbt_camera_fit_begin(void) {
    rbt_camera_fit fit = {.count = 0};
    for (int i = 0; i < 4; i++) fit.most[i] = -INFINITY;
    for (int i = 0; i < 3; i++) {
        fit.low[i] = INFINITY;
        fit.high[i] = -INFINITY;
    }
    return fit;
}

// In the camera's axes (x, y, z forward) a camera at c sees p if |x - c_x| <= t_x (z - c_z), likewise for y. Each of
// the four inequalities is tightest for one point: most[0] = max(x - t_x z), most[1] = max(-x - t_x z), …
void rbt_camera_fit_add(rbt_camera_fit *fit, const rbt_camera *camera, const double *points, size_t count) {
    double tx = FILL * 0.5 * camera->width / camera->focal, ty = FILL * 0.5 * camera->height / camera->focal;
    for (size_t i = 0; i < count; i++) {
        const double *p = points + 3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        double x = rbt_dot(p, camera->right), y = rbt_dot(p, camera->up), z = rbt_dot(p, camera->forward);
        const double side[4] = {x - tx * z, -x - tx * z, y - ty * z, -y - ty * z};
        for (int k = 0; k < 4; k++) fit->most[k] = fmax(fit->most[k], side[k]);
        for (int k = 0; k < 3; k++) {
            fit->low[k] = fmin(fit->low[k], p[k]);
            fit->high[k] = fmax(fit->high[k], p[k]);
        }
        fit->count++;
    }
}

void rbt_camera_fit_finish(const rbt_camera_fit *fit, double zoom, rbt_camera *camera) {
    double c[3] = {0, 0, -4};
    if (fit->count) {
        double tx = FILL * 0.5 * camera->width / camera->focal, ty = FILL * 0.5 * camera->height / camera->focal;
        double size[3], middle[3];
        rbt_subtract(fit->high, fit->low, size);
        for (int k = 0; k < 3; k++) middle[k] = 0.5 * (fit->high[k] + fit->low[k]);
        double radius = 0.5 * rbt_length(size), depth = rbt_dot(middle, camera->forward);
        if (!(radius > 0)) radius = 0.5 * fmax(1e-3, 1e-3 * rbt_length(middle));
        c[0] = 0.5 * (fit->most[0] - fit->most[1]);
        c[1] = 0.5 * (fit->most[2] - fit->most[3]);
        c[2] = fmin(-0.5 * (fit->most[0] + fit->most[1]) / tx, -0.5 * (fit->most[2] + fit->most[3]) / ty);
        // Flat or tiny subjects would be seen from too near: keep the whole bounding sphere well in front.
        c[2] = fmin(c[2], depth - 1.2 * radius);
    }
    for (int i = 0; i < 3; i++)
        camera->eye[i] = c[0] * camera->right[i] + c[1] * camera->up[i] + c[2] * camera->forward[i];
    camera->focal *= zoom;
}

void rbt_camera_project(const rbt_camera *camera, const double point[3], double image[3]) {
    double d[3];
    rbt_subtract(point, camera->eye, d);
    double w = 1 / rbt_dot(d, camera->forward);
    image[0] = 0.5 * camera->width + camera->focal * rbt_dot(d, camera->right) * w;
    image[1] = 0.5 * camera->height - camera->focal * rbt_dot(d, camera->up) * w;
    image[2] = w;
}

void rbt_camera_ray(const rbt_camera *camera, double x, double y, double ray[3]) {
    double a = (x - 0.5 * camera->width) / camera->focal, b = (0.5 * camera->height - y) / camera->focal;
    for (int i = 0; i < 3; i++) ray[i] = camera->forward[i] + a * camera->right[i] + b * camera->up[i];
}
