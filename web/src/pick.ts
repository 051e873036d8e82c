// What lies under the pointer: the nearest triangle along a ray and its nearest node.
import * as THREE from 'three';
import {Frame, Shape} from './protocol';

export interface Picked {
  place: number; // of the node among those drawn
  node: number; // its number in the mesh
  element: number; // the cell that was met, -1: none
  kind: 'triangle' | 'edge' | 'particle';
  body: number;
  region: number;
  point: THREE.Vector3; // that was met
}

const EPSILON = 1e-12;

function meetTriangles(shape: Shape, x: Float32Array, ray: THREE.Ray, hidden: Set<number>, keep: (p: THREE.Vector3) => boolean) {
  const {origin: o, direction: d} = ray, q = shape.triangles, point = new THREE.Vector3();
  let best = Infinity, found = -1;
  for (let t = 0; t < shape.body.length; t++) {
    if (hidden.has(shape.body[t])) continue;
    const a = 3 * q[3 * t], b = 3 * q[3 * t + 1], c = 3 * q[3 * t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
    const det = ux * px + uy * py + uz * pz;
    if (Math.abs(det) < EPSILON * (Math.abs(ux) + Math.abs(uy) + Math.abs(uz)) * 1e-6) continue;
    const sx = o.x - x[a], sy = o.y - x[a + 1], sz = o.z - x[a + 2];
    const s = (sx * px + sy * py + sz * pz) / det;
    if (s < 0 || s > 1) continue;
    const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
    const r = (d.x * qx + d.y * qy + d.z * qz) / det;
    if (r < 0 || s + r > 1) continue;
    const distance = (vx * qx + vy * qy + vz * qz) / det;
    if (distance <= 0 || distance >= best || !keep(ray.at(distance, point))) continue;
    best = distance;
    found = t;
  }
  return {found, distance: best};
}

export function pick(shape: Shape, frame: Frame, ray: THREE.Ray, hidden: Set<number>, slice: THREE.Plane | null,
  reach: number): Picked | null {
  const keep = (p: THREE.Vector3) => !slice || slice.distanceToPoint(p) >= 0;
  const {x} = frame, {found, distance} = meetTriangles(shape, x, ray, hidden, keep);
  const point = new THREE.Vector3(), at = new THREE.Vector3();
  if (found >= 0) {
    ray.at(distance, point);
    const corners = [0, 1, 2].map(k => shape.triangles[3 * found + k]);
    const away = corners.map(n => at.fromArray(x, 3 * n).distanceTo(point));
    const place = corners[away.indexOf(Math.min(...away))];
    return {place, node: shape.node[place], element: shape.element[found], kind: 'triangle', body: shape.body[found],
      region: shape.region[found], point};
  }
  // Springs and particles: the nearest of their nodes, if it is within reach of the ray
  let best = Infinity, picked: Picked | null = null;
  const offer = (place: number, body: number, kind: 'edge' | 'particle', element: number) => {
    at.fromArray(x, 3 * place);
    const along = at.clone().sub(ray.origin).dot(ray.direction);
    if (hidden.has(body) || along <= 0 || ray.distanceToPoint(at) > reach * along || along >= best) return;
    best = along;
    picked = {place, node: shape.node[place], element, kind, body, region: -1, point: at.clone()};
  };
  shape.edges.forEach((n, i) => offer(n, shape.edgeBody[i >> 1], 'edge', i >> 1));
  shape.points.forEach((n, i) => offer(n, shape.pointBody[i], 'particle', i));
  return picked;
}
