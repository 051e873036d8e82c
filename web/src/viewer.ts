// The viewer: which runs are shown, which frame, in which colours. Panels and controls call it.
import * as THREE from 'three';
import {Bodies, Look, Paint} from './body';
import {Colouring, COLOURINGS, LABELS, Run} from './model';
import {Frame, LABEL} from './protocol';
import {Picked, pick} from './pick';
import {LiveStatus, ServerSource, Source} from './source';
import {Stage} from './stage';

export interface Legend {
  title: string;
  unit: string;
  low: number;
  high: number;
  kinds: {name: string; number: number}[] | null;
}

const HERO = new THREE.Vector3(0.62, 0.42, 1).normalize();

export class Viewer {
  runs: Run[];
  shown: number[]; // runs that are seen, one or two
  frame = 0; // of the first of them
  time = 0;
  playing = false;
  speed = 1;
  following: boolean;
  status: LiveStatus | null = null;
  colouring: Colouring = COLOURINGS[0];
  range: [number, number] | null = null; // fixed by hand
  look: Look = {wireframe: false, obstacles: true, hidden: new Set(), slice: null, radii: []};
  groundOn = true;
  dark = false;
  picked: (Picked & {view: number}) | null = null;
  now: (Frame | null)[] = []; // seen in each view
  onChange: () => void = () => {}; // frame, colours, pick
  onReport: () => void = () => {}; // tables, frames, status
  onError: (why: string) => void = () => {};
  private found = new Map<string, [number, number]>(); // ranges of fields so far
  private box = new THREE.Box3();
  private floor: number | null = null;
  private wanted = -1;
  private clock = 0;
  private sequence = 0;
  private liveShape = '';
  private marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({color: 0xe5484d}));

  constructor(readonly source: Source, readonly stage: Stage) {
    this.runs = source.runs.map((_, i) => new Run(source, i));
    this.shown = this.runs.length > 1 ? [0, 1] : [0];
    this.following = source.runs[0].live;
    this.marker.renderOrder = 2;
    (this.marker.material as THREE.Material).depthTest = false;
    stage.split(this.shown.length);
    if (source instanceof ServerSource) {
      source.onLive = frame => this.hearLive(frame);
      source.onStatus = status => this.hearStatus(status);
      source.onLost = why => this.onError(why);
    }
    const tick = (t: number) => {
      requestAnimationFrame(tick);
      this.tick(t);
    };
    requestAnimationFrame(tick);
  }

  get first() { return this.runs[this.shown[0]]; }
  get live() { return this.source.runs[0].live && !this.status?.over; }

  async start() {
    for (const run of this.runs) await run.refresh();
    if (this.source instanceof ServerSource && this.source.runs[0].live) this.askLive();
    if (this.first.times.length) await this.seek(0, true);
    await this.survey();
    this.onReport();
    this.poll();
  }

  private async poll() {
    for (;;) {
      await new Promise(resolve => setTimeout(resolve, this.live ? 500 : 1500));
      const going = this.runs.some(run => run.report?.status === 'running') || this.live;
      if (!(this.source instanceof ServerSource) || (!going && this.runs.every(run => run.report))) continue;
      try {
        for (const run of this.runs) await run.refresh();
        this.onReport();
      } catch { return; }
    }
  }

  // ---- Live states

  private askLive() {
    (this.source as ServerSource).askLive(this.sequence, this.fields);
  }

  private hearLive(frame: Frame) {
    this.sequence = frame.sequence;
    this.runs[0].source.known[0] |= frame.mask;
    if (frame.shape !== this.liveShape) this.liveShape = frame.shape;
    if (frame.live === 1 && this.runs[0].times.length > frame.number) this.runs[0].keep({...frame, live: 0});
    if (this.following && this.shown[0] === 0 && this.shown.length === 1) {
      this.frame = frame.number;
      this.time = frame.time;
      this.finish(this.place(0, frame));
    }
    requestAnimationFrame(() => this.askLive()); // once it is drawn
  }

  private hearStatus(status: LiveStatus) {
    const over = status.over && !this.status?.over;
    this.status = status;
    if (over) Promise.all(this.runs.map(run => run.refresh())).then(() => this.onReport()).catch(() => {});
    this.onReport();
  }

  // ---- Frames

  get fields() { return this.colouring.field; }

  /** Shows a frame of the first run, and of the other the nearest in time; resolves when it is seen. */
  async seek(number: number, fit = false): Promise<void> {
    const last = this.first.times.length - 1;
    if (last < 0) return;
    number = Math.min(Math.max(0, Math.round(number)), last);
    this.wanted = number;
    const time = this.first.times[number];
    const numbers = this.shown.map((run, i) => (i ? this.runs[run].nearest(time) : number));
    try {
      const frames = await Promise.all(this.shown.map((run, i) => this.runs[run].frame(numbers[i], this.fields)));
      if (this.wanted !== number) return;
      this.frame = number;
      this.time = time;
      const fresh = frames.map((frame, i) => this.place(i, frame)).includes(true);
      this.finish(fresh || fit);
    } catch (why) {
      this.onError((why as Error).message);
    }
  }

  // Puts a frame into a view; whether it is the first one there
  private place(view: number, frame: Frame): boolean {
    const shape = this.source.shape(frame.shape), place = this.stage.views[view];
    if (!shape || !place) return false;
    const fresh = !place.bodies || place.bodies.shape !== shape, very = fresh && !this.now[view];
    if (fresh) place.set(new Bodies(shape));
    this.look.radii = this.runs[this.shown[view]].bodies.map(b => b.radius);
    this.now[view] = frame;
    place.bodies!.show(frame, this.look);
    if (shape.floor !== null) this.floor = Math.max(this.floor ?? -Infinity, shape.floor);
    const low = this.box.min.y;
    this.measure(frame);
    if (!very && this.floor === null && this.box.min.y < low) this.furnish(); // the ground lies below everything
    return very;
  }

  private finish(fit: boolean) {
    this.paint();
    if (fit) this.fit();
    this.mark();
    this.stage.redraw();
    this.onChange();
  }

  // Some frames of a run that is over tell how far its bodies go, if they are not large.
  private async survey() {
    const {first} = this, {times} = first;
    if (this.live || times.length < 3 || (this.now[0]?.x.length ?? 0) > 2e5) return;
    for (const share of [0.25, 0.5, 0.75, 1]) this.measure(await first.frame(Math.floor(share * (times.length - 1)), 0));
    this.fit();
  }

  // The bodies, and of obstacles what lies near them
  private measure(frame: Frame) {
    const point = new THREE.Vector3(), own = new THREE.Box3();
    for (let i = 0; i < frame.x.length; i += 3) own.expandByPoint(point.fromArray(frame.x, i));
    const near = own.clone().expandByScalar(0.6 * own.getSize(point.clone()).length());
    const around = frame.obstacle ?? this.source.shape(frame.shape)?.obstacle ?? [];
    this.box.union(own);
    for (let i = 0; i < around.length; i += 3)
      if (near.containsPoint(point.fromArray(around, i))) this.box.expandByPoint(point);
  }

  furnish() {
    const ball = this.box.getBoundingSphere(new THREE.Sphere());
    if (!(ball.radius > 0)) ball.radius = 1;
    const floor = this.floor !== null && this.floor <= this.box.max.y ? this.floor : this.box.min.y;
    for (const view of this.stage.views) {
      view.furnish(ball.center, ball.radius, floor, this.dark);
      view.ground.visible = this.groundOn;
    }
    return ball;
  }

  /** Everything that was seen so far within the view */
  fit() {
    for (const frame of this.now) if (frame) this.measure(frame);
    const ball = this.furnish();
    this.stage.fit(this.box, ball.radius, this.stage.camera.position.lengthSq() ? undefined : HERO);
  }

  show(runs: number[]) {
    this.shown = runs;
    this.now = [];
    this.picked = null;
    this.stage.split(runs.length);
    this.furnish();
    this.stage.controls.update();
    return this.seek(this.runs[runs[0]].nearest(this.time));
  }

  // ---- Playing

  play(on = !this.playing) {
    this.playing = on;
    if (on) {
      this.following = false;
      if (this.frame >= this.first.times.length - 1) this.seek(0);
    }
    this.onChange();
  }

  private tick(t: number) {
    const passed = Math.min(0.1, (t - this.clock) / 1000);
    this.clock = t;
    if (!this.playing || this.following) return;
    const {times} = this.first, next = this.frame + 1;
    if (next >= times.length) {
      if (!this.live) this.play(false);
      return;
    }
    // Times wait for frames that are on their way, so that none is left out that the speed has room for.
    const ready = this.shown.every((run, i) => {
      const r = this.runs[run], number = i ? r.nearest(times[next]) : next;
      return r.has(number, this.fields);
    });
    const goal = this.time + passed * this.speed;
    if (!ready) this.time = Math.min(goal, times[next]);
    else if (goal >= times[next]) {
      let number = next;
      while (number + 1 < times.length && times[number + 1] <= goal && this.first.has(number + 1, this.fields)) number++;
      const exact = goal - times[number] < 0.1 * this.speed ? goal : times[number];
      this.seek(number).then(() => { if (this.playing) this.time = Math.max(this.time, exact); });
    } else this.time = goal;
    this.prefetch(next);
  }

  private prefetch(from: number) {
    for (const [i, number] of this.shown.entries()) {
      const run = this.runs[number];
      for (let k = 0; k < 6 && run.waiting < 3; k++) {
        const at = from + k;
        if (at >= this.first.times.length) break;
        const wanted = i ? run.nearest(this.first.times[at]) : at;
        if (!run.has(wanted, this.fields)) run.frame(wanted, this.fields).catch(() => {});
      }
    }
  }

  // ---- Colours

  /** What can be chosen: what a run has */
  get colourings(): Colouring[] {
    const known = this.shown.reduce((all, run) => all | this.runs[run].known, 0);
    const label = this.source.labels[this.shown[0]];
    return COLOURINGS
      .filter(c => (!c.field || c.field & known) && (c.name !== 'difference' || this.shown.length === 2))
      .filter(c => c.name !== 'label' || label)
      .map(c => (c.name === 'label' ? {...c, title: LABELS[label!] ?? label!} : c));
  }

  async colour(name: string) {
    this.colouring = this.colourings.find(c => c.name === name) ?? COLOURINGS[0];
    this.range = null;
    const at = this.frame;
    if (this.following) this.paint();
    await this.seek(at);
    this.paint();
    this.onChange();
  }

  /** The values of a view's nodes by the present colouring; null: it colours by kinds */
  values(view: number): Float32Array | null {
    const frame = this.now[view], shape = this.stage.views[view]?.bodies?.shape, {name, field} = this.colouring;
    if (!frame || !shape) return null;
    if (field) return frame.fields.get(field) ?? null;
    const from = name === 'displacement' ? shape.rest : name === 'difference' ? this.other(view) : null;
    if (!from) return null;
    const {x} = frame, values = new Float32Array(shape.node.length);
    for (let n = 0; n < values.length; n++)
      values[n] = Math.sqrt((x[3 * n] - from[3 * n]) ** 2 + (x[3 * n + 1] - from[3 * n + 1]) ** 2 +
        (x[3 * n + 2] - from[3 * n + 2]) ** 2);
    return values;
  }

  // Positions in the other run, if it has the same nodes
  private other(view: number): Float32Array | null {
    const mine = this.stage.views[view]?.bodies?.shape, theirs = this.stage.views[1 - view]?.bodies?.shape;
    const frame = this.now[1 - view];
    const apart = frame && this.now[view] ? Math.abs(frame.time - this.now[view]!.time) : Infinity;
    if (!mine || !theirs || !frame || mine.node.length !== theirs.node.length || apart > 1e-6) return null;
    for (let n = 0; n < mine.node.length; n++) if (mine.node[n] !== theirs.node[n]) return null;
    return frame.x;
  }

  private extend(values: Float32Array) {
    const {name, share} = this.colouring, range = this.found.get(name) ?? [Infinity, -Infinity];
    let low = Infinity, high = -Infinity;
    for (const v of values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (share < 1 && values.length > 200) {
      const sorted = values.slice().sort();
      high = sorted[Math.floor(share * (sorted.length - 1))];
    }
    this.found.set(name, [Math.min(range[0], low), Math.max(range[1], high)]);
  }

  get legend(): Legend | null {
    const {title, unit, name, field} = this.colouring, run = this.first;
    if (name === 'plain') return null;
    const named = (names: string[]) => names.map((n, number) => ({name: n, number}));
    if (name === 'body') return {title, unit, low: 0, high: 0, kinds: named(run.bodies.map(b => b.name))};
    if (name === 'region') return {title, unit, low: 0, high: 0, kinds: named(run.regions)};
    if (field === LABEL) {
      const numbers = [...new Set(this.values(0) ?? [])].sort((a, b) => a - b).slice(0, 16);
      const implicit = this.source.labels[this.shown[0]] === 'implicit_set';
      const say = (n: number) => (implicit ? (n ? 'implicit' : 'explicit') : `${title} ${n}`);
      return {title, unit, low: 0, high: 0, kinds: numbers.map(number => ({name: say(number), number}))};
    }
    let [low, high] = this.range ?? this.found.get(name) ?? [0, 1];
    if (!this.range && Math.abs(low) < 1e-6 * Math.abs(high)) low = 0; // rounding
    return {title, unit, low: Number.isFinite(low) ? low : 0, high: Number.isFinite(high) ? high : 1, kinds: null};
  }

  paint() {
    const all = this.stage.views.map((_, i) => this.values(i)), {name, field} = this.colouring;
    if (field !== LABEL) for (const values of all) if (values) this.extend(values);
    const legend = this.legend;
    this.stage.views.forEach((view, i) => {
      const values = all[i];
      let paint: Paint = {kind: name === 'region' || name === 'body' ? name : 'plain'};
      if (values && field === LABEL) paint = {kind: 'label', values};
      else if (values && legend) paint = {kind: 'value', values, low: legend.low, high: legend.high};
      view.bodies?.paint(paint);
    });
    this.stage.redraw();
  }

  dress() {
    for (const view of this.stage.views) {
      view.bodies?.dress(this.look);
      view.ground.visible = this.groundOn;
    }
    this.stage.redraw();
  }

  // ---- Slice: a plane across one axis, at a share of the box

  slice(axis: number, share: number) {
    if (axis < 0) this.look.slice = null;
    else {
      const normal = new THREE.Vector3().setComponent(axis, -1);
      const at = this.box.min.getComponent(axis) +
        share * (this.box.max.getComponent(axis) - this.box.min.getComponent(axis));
      this.look.slice = new THREE.Plane(normal, at);
    }
    this.dress();
  }

  // ---- Picking

  pickAt(x: number, y: number): (Picked & {view: number}) | null {
    const {view, ray} = this.stage.ray(x, y), shape = this.stage.views[view].bodies?.shape, frame = this.now[view];
    const reach = (10 * 2 * Math.tan((this.stage.camera.fov * Math.PI) / 360)) / this.stage.canvas.clientHeight;
    const found = shape && frame ? pick(shape, frame, ray, this.look.hidden, this.look.slice, reach) : null;
    return found ? {...found, view} : null;
  }

  choose(picked: (Picked & {view: number}) | null) {
    this.picked = picked;
    this.mark();
    this.onChange();
  }

  private mark() {
    this.marker.removeFromParent();
    const {picked} = this, frame = picked && this.now[picked.view];
    if (picked && frame && picked.place * 3 + 2 < frame.x.length) {
      this.stage.views[picked.view].scene.add(this.marker);
      this.marker.position.fromArray(frame.x, 3 * picked.place);
      this.marker.scale.setScalar(0.006 * this.stage.camera.position.distanceTo(this.stage.controls.target));
    }
    this.stage.redraw();
  }

  /** What frames in memory tell about the picked node */
  history(): {times: number[]; distance: number[]; speed: (number | null)[]} | null {
    const {picked} = this, shape = picked && this.stage.views[picked.view].bodies?.shape;
    if (!picked || !shape) return null;
    const run = this.runs[this.shown[picked.view]], numbers = [...run.frames.keys()].sort((a, b) => a - b);
    const frames = numbers.map(n => run.frames.get(n)!).filter(f => f.shape === shape.id);
    const from = shape.rest, p = 3 * picked.place;
    return {
      times: frames.map(f => f.time),
      distance: frames.map(f => Math.hypot(f.x[p] - from[p], f.x[p + 1] - from[p + 1], f.x[p + 2] - from[p + 2])),
      speed: frames.map(f => f.fields.get(1)?.[picked.place] ?? null),
    };
  }
}
