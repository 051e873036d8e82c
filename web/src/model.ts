// What is known about a run beside its frames, from its run.json, and its frames as they come in.
import {Frame, SPEED, STRESS, CONTACT, LABEL} from './protocol';
import {Source} from './source';
import {Table, parseTable} from './tables';

export interface Colouring {
  name: string; // that it is chosen by
  title: string;
  unit: string;
  field: number; // asked of the server; 0: none
  share: number; // of the nodes whose values the colours cover; the rest may lie beyond the end
}

export const COLOURINGS: Colouring[] = [
  {name: 'plain', title: '', unit: '', field: 0, share: 1},
  {name: 'displacement', title: 'displacement', unit: 'm', field: 0, share: 1},
  {name: 'speed', title: 'speed', unit: 'm/s', field: SPEED, share: 1},
  {name: 'stress', title: 'von Mises stress', unit: 'Pa', field: STRESS, share: 0.995},
  {name: 'contact force', title: 'contact force', unit: 'N', field: CONTACT, share: 1},
  {name: 'region', title: 'region', unit: '', field: 0, share: 1},
  {name: 'body', title: 'body', unit: '', field: 0, share: 1},
  {name: 'label', title: '', unit: '', field: LABEL, share: 1}, // subdomain, multirate part or implicit set
  {name: 'difference', title: 'distance to the other run', unit: 'm', field: 0, share: 1},
];

export const LABELS: Record<string, string> = {
  subdomain: 'subdomain', rate_part: 'multirate part', implicit_set: 'implicit set'};

const ROOM = 384 << 20; // bytes of frames that are kept

export class Run {
  report: any = null; // run.json
  energy: Table = parseTable('');
  probes: Table = parseTable('');
  spent: Table = parseTable('');
  private kept = new Map<number, Frame>();
  private bytes = 0;
  private asked = new Map<number, Promise<Frame>>();

  constructor(readonly source: Source, readonly number: number) {}

  get times() { return this.source.times[this.number]; }
  get known() { return this.source.known[this.number]; }
  get name() { return this.source.runs[this.number].name; }

  async refresh() {
    const {source, number} = this;
    await source.refresh(number);
    const text = await source.file(number, 'run.json');
    try {
      this.report = JSON.parse(text);
    } catch { /* being written, or none */ }
    this.energy = parseTable(await source.file(number, 'energy.csv'));
    this.probes = parseTable(await source.file(number, 'probes.csv'));
    this.spent = parseTable(await source.file(number, 'times.csv'));
  }

  has(number: number, fields: number): Frame | undefined {
    const frame = this.kept.get(number);
    return frame && (frame.mask & fields) === (fields & this.known) ? frame : undefined;
  }

  get frames() { return this.kept; }

  keep(frame: Frame) {
    const old = this.kept.get(frame.number), size = (f: Frame) => f.x.byteLength * (1 + f.fields.size / 3);
    if (old) {
      this.bytes -= size(old);
      if (old.shape === frame.shape)
        for (const [field, values] of old.fields)
          if (!frame.fields.has(field)) {
            frame.fields.set(field, values);
            frame.mask |= field;
          }
      this.kept.delete(frame.number);
    }
    this.kept.set(frame.number, frame);
    this.bytes += size(frame);
    for (const [number, other] of this.kept) {
      if (this.bytes <= ROOM) break;
      if (number === frame.number) continue;
      this.kept.delete(number);
      this.bytes -= size(other);
    }
  }

  async frame(number: number, fields: number): Promise<Frame> {
    const wanted = fields & this.known, there = this.has(number, wanted);
    if (there) return there;
    const under = this.asked.get(number);
    if (under) {
      await under.catch(() => {});
      return this.frame(number, fields);
    }
    const asked = this.source.frame(this.number, number, wanted);
    this.asked.set(number, asked);
    try {
      const frame = await asked;
      frame.mask |= wanted; // what it has not got it will not get
      this.keep(frame);
      return frame;
    } finally {
      this.asked.delete(number);
    }
  }

  get waiting() { return this.asked.size; }

  /** The frame whose time is nearest */
  nearest(time: number): number {
    const {times} = this;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
  }

  get bodies(): {name: string; kind: string; radius: number}[] {
    const scene = this.report?.scene?.bodies ?? [];
    return (this.report?.bodies ?? []).map((body: any, i: number) => {
      const kind = scene[i]?.particles ? 'particles' : scene[i]?.springs ? 'springs' : scene[i]?.shell ? 'shell' : 'solid';
      return {name: body.name, kind, radius: scene[i]?.particles?.radius ?? 0.01};
    });
  }

  /** Names of regions, counted through all bodies: of each its own material and then its regions */
  get regions(): string[] {
    const scene = this.report?.scene?.bodies ?? [];
    return (this.report?.bodies ?? []).flatMap((body: any, i: number) =>
      [body.name, ...(scene[i]?.regions ?? []).map((r: any, k: number) => `${body.name}: ${r.name ?? `region ${k}`}`)]);
  }
}
