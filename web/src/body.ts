// One run in space: the meshes of its shape, which follow its frames.
import * as THREE from 'three';
import {MAP, kindColour, linear, mapPlace} from './colours';
import {Frame, Shape} from './protocol';

export type Paint =
  | {kind: 'plain' | 'body' | 'region'}
  | {kind: 'value'; values: Float32Array; low: number; high: number}
  | {kind: 'label'; values: Float32Array};

export interface Look {
  wireframe: boolean;
  obstacles: boolean;
  hidden: Set<number>; // bodies
  slice: THREE.Plane | null;
  radii: number[]; // of particles, by body
}

const CREASE = Math.cos((58 * Math.PI) / 180); // sharper edges stay edges
const PLAIN_LIGHT = [122, 158, 196].map(linear);
const LIGHTS = new Map<number, number[]>(); // of kinds
function kindLight(kind: number): number[] {
  let light = LIGHTS.get(kind);
  if (!light) LIGHTS.set(kind, (light = kindColour(kind).map(linear)));
  return light;
}

/** Corners of triangles with a common place, surface direction, body and region share a vertex. */
function split(shape: Shape) {
  const count = shape.triangles.length / 3, nodes = shape.node.length;
  const index = new Uint32Array(3 * count), first = new Int32Array(nodes).fill(-1);
  const node: number[] = [], next: number[] = [], triangle: number[] = [], normals = new Float32Array(3 * count);
  const p = shape.rest, q = shape.triangles;
  for (let t = 0; t < count; t++) {
    const a = 3 * q[3 * t], b = 3 * q[3 * t + 1], c = 3 * q[3 * t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    const length = Math.sqrt(nx * nx + ny * ny + nz * nz) || 1;
    normals[3 * t] = nx / length; normals[3 * t + 1] = ny / length; normals[3 * t + 2] = nz / length;
  }
  for (let t = 0; t < count; t++)
    for (let k = 0; k < 3; k++) {
      const n = q[3 * t + k];
      let v = first[n];
      for (; v >= 0; v = next[v]) {
        const o = triangle[v];
        if (shape.body[o] !== shape.body[t] || shape.region[o] !== shape.region[t]) continue;
        const dot = normals[3 * o] * normals[3 * t] + normals[3 * o + 1] * normals[3 * t + 1] +
          normals[3 * o + 2] * normals[3 * t + 2];
        if (dot > CREASE) break;
      }
      if (v < 0) {
        v = node.length;
        node.push(n);
        triangle.push(t);
        next.push(first[n]);
        first[n] = v;
      }
      index[3 * t + k] = v;
    }
  return {index, node: Uint32Array.from(node), triangle: Uint32Array.from(triangle)};
}

const dynamic = (count: number) =>
  new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage);

export class Bodies {
  readonly group = new THREE.Group();
  readonly surface: THREE.Mesh;
  private inside: THREE.Mesh;
  private wires: THREE.Mesh;
  private strings: THREE.LineSegments;
  private grains: THREE.InstancedMesh;
  private obstacle: THREE.Mesh; // the side that bodies touch
  private behind: THREE.Mesh;
  readonly vertexNode: Uint32Array;
  private vertexTriangle: Uint32Array;
  private index: Uint32Array;
  private grainNode: Int32Array;
  private shown = '';
  frame: Frame | null = null;

  constructor(readonly shape: Shape) {
    const {index, node, triangle} = split(shape);
    this.index = index;
    this.vertexNode = node;
    this.vertexTriangle = triangle;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', dynamic(node.length));
    geometry.setAttribute('normal', dynamic(node.length));
    geometry.setAttribute('color', dynamic(node.length));
    geometry.setIndex(new THREE.BufferAttribute(index.slice(), 1));
    this.surface = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({
      vertexColors: true, roughness: 0.62, metalness: 0.02, side: THREE.DoubleSide,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1}));
    this.surface.castShadow = this.surface.receiveShadow = true;
    this.inside = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({side: THREE.BackSide, color: 0xc9a48c}));
    this.wires = new THREE.Mesh(geometry,
      new THREE.MeshBasicMaterial({wireframe: true, color: 0x16202c, transparent: true, opacity: 0.35}));
    const strings = new THREE.BufferGeometry();
    strings.setAttribute('position', dynamic(shape.edges.length));
    strings.setAttribute('color', dynamic(shape.edges.length));
    this.strings = new THREE.LineSegments(strings, new THREE.LineBasicMaterial({vertexColors: true}));
    this.grainNode = shape.points;
    this.grains = new THREE.InstancedMesh(new THREE.IcosahedronGeometry(1, 2),
      new THREE.MeshStandardMaterial({roughness: 0.6}), Math.max(1, shape.points.length));
    this.grains.count = shape.points.length;
    this.grains.castShadow = this.grains.receiveShadow = true;
    this.grains.frustumCulled = false;
    const around = new THREE.BufferGeometry();
    around.setAttribute('position', new THREE.BufferAttribute(shape.obstacle.slice(), 3));
    around.setIndex(new THREE.BufferAttribute(shape.obstacleTriangles.slice(), 1));
    // A little further away than it is: bodies that lie on it are made of straight pieces, and may sink in a little.
    const offset = {polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 80};
    this.obstacle = new THREE.Mesh(around, new THREE.MeshStandardMaterial({color: 0x9aa3ad, roughness: 0.9, ...offset,
      side: THREE.FrontSide, shadowSide: THREE.FrontSide}));
    this.obstacle.receiveShadow = this.obstacle.castShadow = true;
    around.computeVertexNormals();
    // A wall that is looked at from behind must not hide what it holds.
    this.behind = new THREE.Mesh(around, new THREE.MeshBasicMaterial({color: 0x9aa3ad, transparent: true, opacity: 0.16,
      side: THREE.BackSide, depthWrite: false}));
    const parts = [this.surface, this.inside, this.wires, this.strings, this.obstacle, this.behind];
    for (const part of parts) part.frustumCulled = false;
    this.group.add(...parts, this.grains);
  }

  dispose() {
    for (const part of [this.surface, this.strings, this.grains, this.obstacle]) part.geometry.dispose();
  }

  show(frame: Frame, look: Look) {
    this.frame = frame;
    const {geometry} = this.surface, position = geometry.getAttribute('position') as THREE.BufferAttribute;
    const p = position.array as Float32Array, {x} = frame;
    for (let v = 0; v < this.vertexNode.length; v++) {
      const n = 3 * this.vertexNode[v];
      p[3 * v] = x[n]; p[3 * v + 1] = x[n + 1]; p[3 * v + 2] = x[n + 2];
    }
    position.needsUpdate = true;
    this.findNormals(p);
    const {edges} = this.shape, string = this.strings.geometry.getAttribute('position') as THREE.BufferAttribute;
    for (let i = 0; i < edges.length; i++)
      for (let k = 0; k < 3; k++) (string.array as Float32Array)[3 * i + k] = x[3 * edges[i] + k];
    string.needsUpdate = true;
    this.placeGrains(look);
    if (frame.obstacle && frame.obstacle.length === this.shape.obstacle.length) {
      const around = this.obstacle.geometry.getAttribute('position') as THREE.BufferAttribute;
      (around.array as Float32Array).set(frame.obstacle);
      around.needsUpdate = true;
      this.obstacle.geometry.computeVertexNormals();
    }
    this.dress(look);
  }

  private findNormals(p: Float32Array) {
    const normal = this.surface.geometry.getAttribute('normal') as THREE.BufferAttribute;
    const n = normal.array as Float32Array, {index} = this;
    n.fill(0);
    for (let i = 0; i < index.length; i += 3) {
      const a = 3 * index[i], b = 3 * index[i + 1], c = 3 * index[i + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      n[a] += nx; n[a + 1] += ny; n[a + 2] += nz;
      n[b] += nx; n[b + 1] += ny; n[b + 2] += nz;
      n[c] += nx; n[c + 1] += ny; n[c + 2] += nz;
    }
    for (let v = 0; v < n.length; v += 3) {
      const length = Math.sqrt(n[v] * n[v] + n[v + 1] * n[v + 1] + n[v + 2] * n[v + 2]) || 1;
      n[v] /= length; n[v + 1] /= length; n[v + 2] /= length;
    }
    normal.needsUpdate = true;
  }

  private placeGrains(look: Look) {
    const matrix = new THREE.Matrix4(), x = this.frame!.x;
    for (let i = 0; i < this.grainNode.length; i++) {
      const n = 3 * this.grainNode[i], body = this.shape.pointBody[i];
      const r = look.hidden.has(body) ? 0 : look.radii[body] || 0.01;
      matrix.makeScale(r, r, r).setPosition(x[n], x[n + 1], x[n + 2]);
      this.grains.setMatrixAt(i, matrix);
    }
    this.grains.instanceMatrix.needsUpdate = true;
  }

  /** What is hidden, sliced, drawn as lines */
  dress(look: Look) {
    const key = [...look.hidden].sort().join();
    if (key !== this.shown) {
      this.shown = key;
      const {body} = this.shape, kept: number[] = [];
      for (let t = 0; t < body.length; t++)
        if (!look.hidden.has(body[t])) kept.push(this.index[3 * t], this.index[3 * t + 1], this.index[3 * t + 2]);
      this.surface.geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(kept), 1));
      this.placeGrains(look);
    }
    const planes = look.slice ? [look.slice] : [];
    for (const part of [this.surface, this.inside, this.wires]) {
      const material = part.material as THREE.Material;
      material.clippingPlanes = planes;
      material.clipShadows = true;
    }
    (this.surface.material as THREE.Material).side = look.slice ? THREE.FrontSide : THREE.DoubleSide;
    this.inside.visible = look.slice !== null;
    this.wires.visible = look.wireframe;
    this.obstacle.visible = this.behind.visible = look.obstacles;
  }

  /** Linear light of vertex v, or of a node by its body */
  private light(paint: Paint, node: number, triangle: number, body: number): ArrayLike<number> {
    if (paint.kind === 'value') {
      const t = (paint.values[node] - paint.low) / (paint.high - paint.low || 1), at = mapPlace(t);
      return MAP.subarray(at, at + 3);
    }
    if (paint.kind === 'plain' && body === 0) return PLAIN_LIGHT;
    return kindLight(paint.kind === 'label' ? paint.values[node]
      : paint.kind === 'region' && triangle >= 0 ? this.shape.region[triangle] : body);
  }

  paint(paint: Paint) {
    const set = (attribute: THREE.BufferAttribute, place: number, light: ArrayLike<number>) =>
      (attribute.array as Float32Array).set(light, 3 * place);
    const colour = this.surface.geometry.getAttribute('color') as THREE.BufferAttribute;
    for (let v = 0; v < this.vertexNode.length; v++) {
      const t = this.vertexTriangle[v];
      set(colour, v, this.light(paint, this.vertexNode[v], t, this.shape.body[t]));
    }
    colour.needsUpdate = true;
    const string = this.strings.geometry.getAttribute('color') as THREE.BufferAttribute;
    this.shape.edges.forEach((n, i) => set(string, i, this.light(paint, n, -1, this.shape.edgeBody[i >> 1])));
    string.needsUpdate = true;
    const light = new THREE.Color();
    this.grainNode.forEach((n, i) => {
      const [r, g, b] = Array.from(this.light(paint, n, -1, this.shape.pointBody[i]));
      this.grains.setColorAt(i, light.setRGB(r, g, b));
    });
    if (this.grains.instanceColor) this.grains.instanceColor.needsUpdate = true;
  }

  /** The linear light that a node of the mesh has on the surface */
  colourOf(meshNode: number): number[] {
    const colour = this.surface.geometry.getAttribute('color');
    for (let v = 0; v < this.vertexNode.length; v++)
      if (this.shape.node[this.vertexNode[v]] === meshNode) return [colour.getX(v), colour.getY(v), colour.getZ(v)];
    return [];
  }
}
