// Where runs come from: the server, by a WebSocket (embedded.ts: the page itself).
import {Chunk, FILES, Frame, Shape, read} from './protocol';

export interface RunInfo {
  name: string;
  live: boolean;
  interact: boolean;
}

export interface LiveStatus {
  paused: boolean;
  over: boolean;
  frame: number;
  step: number;
  time: number;
}

export interface Source {
  runs: RunInfo[];
  times: number[][]; // of the frames of each run [s]
  known: number[]; // fields that each run has, as bits
  labels: (string | null)[]; // what labels are called in each run
  refresh(run: number): Promise<void>;
  frame(run: number, number: number, fields: number): Promise<Frame>;
  shape(id: string): Shape | undefined;
  file(run: number, name: string): Promise<string>; // the whole text, as far as it is there
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(why: Error): void;
}

export class ServerSource implements Source {
  runs: RunInfo[] = [];
  times: number[][] = [];
  known: number[] = [];
  labels: (string | null)[] = [];
  onLive: (frame: Frame) => void = () => {};
  onStatus: (status: LiveStatus) => void = () => {};
  onLost: (why: string) => void = () => {};
  private socket!: WebSocket;
  private shapes = new Map<string, Shape>();
  private waiting = new Map<string, Waiting<unknown>[]>();
  private texts = new Map<string, Uint8Array[]>();
  private actions = 0;

  static connect(address: string): Promise<ServerSource> {
    const source = new ServerSource();
    source.socket = new WebSocket(address);
    source.socket.binaryType = 'arraybuffer';
    source.socket.onclose = () => source.onLost('the connection to rubato is lost: it has ended, or dropped this page');
    return new Promise((resolve, reject) => {
      source.socket.onerror = () => reject(new Error('rubato does not answer; is it still running?'));
      source.socket.onmessage = event => {
        if (typeof event.data !== 'string') return source.hear(event.data);
        const text = JSON.parse(event.data);
        if (text.type !== 'hello') return source.hearText(text);
        source.runs = text.runs;
        source.times = source.runs.map(() => []);
        source.known = source.runs.map(() => 0);
        source.labels = source.runs.map(() => null);
        resolve(source);
      };
    });
  }

  private ask<T>(key: string, request: object): Promise<T> {
    return new Promise((resolve, reject) => {
      const list = this.waiting.get(key) ?? [];
      list.push({resolve, reject} as Waiting<unknown>);
      this.waiting.set(key, list);
      if (list.length === 1) this.socket.send(JSON.stringify(request));
    });
  }

  private settle(key: string, act: (w: Waiting<unknown>) => void) {
    const list = this.waiting.get(key) ?? [];
    this.waiting.delete(key);
    list.forEach(act);
  }

  private async hear(buffer: ArrayBuffer) {
    const message = read(buffer);
    if ('shape' in message) {
      this.shapes.set(message.shape.id, message.shape);
      this.settle(`shape ${message.run} ${message.number}`, w => w.resolve(message.shape));
    } else if ('chunk' in message) this.hearChunk(message.chunk);
    else if (message.frame.live) this.onLive(message.frame);
    else {
      const {frame} = message;
      if (!this.shapes.has(frame.shape))
        await this.ask(`shape ${frame.run} ${frame.number}`, {shape: {run: frame.run, number: frame.number, fields: frame.mask}});
      this.settle(`frame ${frame.run} ${frame.number}`, w => w.resolve(frame));
    }
  }

  private hearChunk(chunk: Chunk) {
    const key = `file ${chunk.run} ${FILES[chunk.file]}`;
    this.settle(key, w => w.resolve(chunk));
  }

  private hearText(text: any) {
    if (text.type === 'frames') {
      this.times[text.run] = text.times;
      this.known[text.run] |= text.fields;
      if (text.label) this.labels[text.run] = text.label;
      this.settle(`frames ${text.run}`, w => w.resolve(undefined));
    } else if (text.type === 'live') this.onStatus(text);
    else if (text.type === 'act')
      this.settle(`act ${text.id}`, w => (text.error ? w.reject(new Error(text.error)) : w.resolve(text.time)));
    else if (text.type === 'error') this.hearError(text);
  }

  private hearError(text: {message: string; request: string}) {
    const why = new Error(text.message);
    let key = '';
    try {
      const request = JSON.parse(text.request), [kind] = Object.keys(request), about = request[kind];
      key = kind === 'act' ? `act ${about.id}`
        : kind === 'file' ? `file ${about.run} ${about.name}`
        : kind === 'frame' || kind === 'shape' ? `${kind} ${about.run} ${about.number}` : `${kind} ${about.run}`;
    } catch { /* not ours */ }
    this.settle(key, w => w.reject(why));
  }

  refresh(run: number): Promise<void> { return this.ask(`frames ${run}`, {frames: {run}}); }

  frame(run: number, number: number, fields: number): Promise<Frame> {
    return this.ask(`frame ${run} ${number}`, {frame: {run, number, fields}});
  }

  shape(id: string) { return this.shapes.get(id); }

  // Tables grow at their end: only what is new is asked for. run.json is written anew.
  async file(run: number, name: string): Promise<string> {
    const key = `file ${run} ${name}`, grows = name !== 'run.json';
    const parts = grows ? this.texts.get(key) ?? [] : [];
    this.texts.set(key, parts);
    for (;;) {
      const from = parts.reduce((sum, part) => sum + part.length, 0);
      const chunk = await this.ask<Chunk>(key, {file: {run, name, from}});
      if (chunk.from !== from) parts.length = 0; // it has become shorter: a new run
      else if (chunk.bytes.length) parts.push(chunk.bytes);
      if (chunk.from === from && from + chunk.bytes.length >= chunk.size) break;
    }
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { all.set(part, at); at += part.length; }
    return new TextDecoder().decode(all);
  }

  /** The newest state after this one; the answer goes to onLive. */
  askLive(after: number, fields: number) { this.socket.send(JSON.stringify({live: {after, fields}})); }

  pause(on: boolean, steps = 0) { this.socket.send(JSON.stringify({pause: {on, steps}})); }

  /** An event of a scene, without its time; resolves with the time it got. */
  act(event: object): Promise<number> {
    const id = ++this.actions;
    return this.ask(`act ${id}`, {act: {id, event: JSON.stringify(event)}});
  }
}
