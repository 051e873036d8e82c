// A run that lies in the page itself, as `rubato export` writes it (src/serve/export.h).
import {FIELDS, Frame, LABEL, Shape, read} from './protocol';
import {RunInfo, Source} from './source';

interface Piece {
  at: number;
  size: number;
}

interface Head {
  name: string;
  label: string | null;
  known: number;
  low: number[];
  high: number[];
  most: number[];
  shapes: (Piece & {id: string})[];
  frames: (Piece & {time: number; shape: string; nodes: number; around: number})[];
  files: Record<string, string>;
}

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text: string): Uint8Array {
  const trimmed = text.trim(), step = 1 << 20; // a multiple of 4 letters
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < trimmed.length; at += step) {
    const letters = atob(trimmed.slice(at, at + step)), part = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) part[i] = letters.charCodeAt(i);
    parts.push(part);
    size += part.length;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}

interface Coded {
  q: Uint16Array; // (3 x nodes), axis by axis
  fields: Map<number, Uint8Array>;
  obstacle: Float32Array | null;
}

export class EmbeddedSource implements Source {
  runs: RunInfo[];
  times: number[][];
  known: number[];
  labels: (string | null)[];
  private shapes = new Map<string, Shape>();
  private coded: Coded[] = [];

  static find(): EmbeddedSource | null {
    const head = document.getElementById('rubato-head');
    return head ? new EmbeddedSource(JSON.parse(head.textContent!)) : null;
  }

  private constructor(private head: Head) {
    this.runs = [{name: head.name, live: false, interact: false}];
    this.times = [head.frames.map(f => f.time)];
    this.known = [head.known];
    this.labels = [head.label];
  }

  async load(progress: (share: number) => void) {
    const bytes = fromBase64(document.getElementById('rubato-data')!.textContent!);
    const piece = (p: Piece) => inflate(bytes.subarray(p.at, p.at + p.size));
    for (const entry of this.head.shapes) {
      const message = read((await piece(entry)).buffer as ArrayBuffer);
      if ('shape' in message) this.shapes.set(entry.id, message.shape);
    }
    for (const [i, entry] of this.head.frames.entries()) {
      this.coded.push(this.decode(await piece(entry), i));
      if (i % 8 === 0) progress(i / this.head.frames.length);
    }
    document.getElementById('rubato-data')!.remove(); // its letters are not needed any more
  }

  private decode(bytes: Uint8Array, i: number): Coded {
    const {nodes: n, shape, around} = this.head.frames[i];
    const same = (k: number) => k >= 0 && this.head.frames[k].shape === shape;
    const one = same(i - 1) ? this.coded[i - 1] : null, two = one && same(i - 2) ? this.coded[i - 2] : null;
    const q = new Uint16Array(3 * n), fields = new Map<number, Uint8Array>();
    let at = 0;
    for (let k = 0; k < 3; k++, at += 2 * n)
      for (let j = 0; j < n; j++) {
        const expected = two ? 2 * one!.q[k * n + j] - two.q[k * n + j] : one ? one.q[k * n + j] : 0;
        q[k * n + j] = expected + bytes[at + j] + 256 * bytes[at + n + j];
      }
    for (const field of FIELDS) {
      if (!(this.head.known & field)) continue;
      const values = new Uint8Array(n), before = one?.fields.get(field);
      for (let j = 0; j < n; j++) values[j] = bytes[at + j] + (before ? before[j] : 0);
      fields.set(field, values);
      at += n;
    }
    const obstacle = around ? new Float32Array(bytes.slice(at, at + 12 * around).buffer) : null;
    return {q, fields, obstacle};
  }

  async refresh() {}

  async frame(run: number, number: number, fields: number): Promise<Frame> {
    const {low, high, most, frames} = this.head, entry = frames[number], coded = this.coded[number], n = entry.nodes;
    const x = new Float32Array(3 * n), values = new Map<number, Float32Array>();
    for (let k = 0; k < 3; k++) {
      const step = (high[k] - low[k]) / 65535;
      for (let j = 0; j < n; j++) x[3 * j + k] = low[k] + step * coded.q[k * n + j];
    }
    let mask = 0;
    FIELDS.forEach((field, i) => {
      const bytes = fields & field ? coded.fields.get(field) : undefined;
      if (!bytes) return;
      mask |= field;
      values.set(field, Float32Array.from(bytes, b => (field === LABEL ? b - 1 : (b / 255) ** 2 * most[i])));
    });
    return {run, number, time: entry.time, shape: entry.shape, x, mask, fields: values, obstacle: coded.obstacle,
      live: 0, sequence: 0};
  }

  shape(id: string) { return this.shapes.get(id); }
  async file(_run: number, name: string) { return this.head.files[name] ?? ''; }
}
