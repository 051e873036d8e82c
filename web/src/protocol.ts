// Binary messages of the server (src/serve/message.h), and what they become here.

export const SPEED = 1, STRESS = 2, CONTACT = 4, LABEL = 8;
export const FIELDS = [SPEED, STRESS, CONTACT, LABEL];
export const FILES = ['run.json', 'energy.csv', 'probes.csv', 'times.csv'];

/** What is drawn of a mesh. Numbers of nodes are places in `node`, unless it says otherwise. */
export interface Shape {
  id: string;
  node: Int32Array; // numbers in the mesh
  rest: Float32Array;
  triangles: Uint32Array;
  element: Int32Array; // the cell behind each triangle
  body: Int32Array;
  region: Int32Array;
  edges: Uint32Array;
  edgeBody: Int32Array;
  points: Int32Array;
  pointBody: Int32Array;
  obstacle: Float32Array;
  obstacleTriangles: Uint32Array;
  floor: number | null;
}

export interface Frame {
  run: number;
  number: number;
  time: number;
  shape: string;
  x: Float32Array;
  mask: number;
  fields: Map<number, Float32Array>;
  obstacle: Float32Array | null; // where obstacles move
  live: number; // 0: from disk, 1: of a run in progress, 2: between two of its frames
  sequence: number;
}

export interface Chunk {
  run: number;
  file: number;
  from: number;
  size: number;
  bytes: Uint8Array;
}

export type Message = {shape: Shape; run: number; number: number} | {frame: Frame} | {chunk: Chunk};

class Reader {
  at = 0;
  view: DataView;
  constructor(readonly buffer: ArrayBuffer) { this.view = new DataView(buffer); }
  u32() { return this.view.getUint32((this.at += 4) - 4, true); }
  u64() { return Number(this.view.getBigUint64((this.at += 8) - 8, true)); }
  f64() { return this.view.getFloat64((this.at += 8) - 8, true); }
  id() { return this.view.getBigUint64((this.at += 8) - 8, true).toString(16); }
  ints(count: number) { return new Int32Array(this.buffer, (this.at += 4 * count) - 4 * count, count); }
  numbers(count: number) { return new Uint32Array(this.buffer, (this.at += 4 * count) - 4 * count, count); }
  floats(count: number) { return new Float32Array(this.buffer, (this.at += 4 * count) - 4 * count, count); }
}

function readShape(r: Reader, id: string): Shape {
  const nodes = r.u32(), triangles = r.u32(), edges = r.u32(), points = r.u32();
  const around = r.u32(), aroundTriangles = r.u32(), hasFloor = r.u32();
  r.u32();
  const floor = r.f64();
  return {
    id, node: r.ints(nodes), rest: r.floats(3 * nodes), triangles: r.numbers(3 * triangles),
    element: r.ints(triangles), body: r.ints(triangles), region: r.ints(triangles), edges: r.numbers(2 * edges),
    edgeBody: r.ints(edges), points: r.ints(points), pointBody: r.ints(points), obstacle: r.floats(3 * around),
    obstacleTriangles: r.numbers(3 * aroundTriangles), floor: hasFloor ? floor : null,
  };
}

function readFrame(r: Reader, run: number, number: number, time: number, shape: string): Frame {
  const nodes = r.u32(), mask = r.u32(), around = r.u32(), live = r.u32(), sequence = r.u64();
  const x = r.floats(3 * nodes), fields = new Map<number, Float32Array>();
  for (const field of FIELDS) if (mask & field) fields.set(field, r.floats(nodes));
  return {run, number, time, shape, x, mask, fields, obstacle: around ? r.floats(3 * around) : null, live, sequence};
}

export function read(buffer: ArrayBuffer): Message {
  const r = new Reader(buffer);
  if (r.u32() !== 0x31564252) throw new Error('a message of another protocol');
  const kind = r.u32(), run = r.u32(), number = r.u32(), time = r.f64(), shape = r.id();
  if (kind === 1) return {shape: readShape(r, shape), run, number};
  if (kind === 2) return {frame: readFrame(r, run, number, time, shape)};
  const from = r.u64(), size = r.u64();
  return {chunk: {run, file: number, from, size, bytes: new Uint8Array(buffer, r.at)}};
}
