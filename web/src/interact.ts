// Acting on a run: pause, step, drag, push, cut, other materials. Every act is an event of the scene, made here.
import * as THREE from 'three';
import {el, get, row, section} from './dom';
import {Picked} from './pick';
import {ServerSource} from './source';
import {Viewer} from './viewer';

type Tool = 'look' | 'drag' | 'push' | 'cut';

export class Hand {
  readonly box = section('Act');
  tool: Tool = 'look';
  private held: (Picked & {view: number}) | null = null;
  private where: object = {};
  private plane = new THREE.Plane();
  private start = new THREE.Vector3();
  private line: [number, number][] = [];
  private busy = false;
  private waiting: object | null = null;

  constructor(private viewer: Viewer, private source: ServerSource, private say: (text: string, bad?: boolean) => void) {
    const tool = (name: Tool, title: string) => el('button', {id: `tool-${name}`, title,
      'aria-pressed': String(name === this.tool), onclick: () => this.take(name)}, name);
    this.box.append(
      row(el('button', {id: 'pause', onclick: () => this.pause()}, 'pause'),
        el('button', {id: 'single', title: 'one step', onclick: () => source.pause(true, 1)}, 'one step')),
      row(tool('look', 'turn, move and zoom the camera'), tool('drag', 'pull nodes with a spring'),
        tool('push', 'a force in the direction you draw'), tool('cut', 'draw a line across a body')),
      row('strength', el('input', {id: 'strength', type: 'range', min: '-3', max: '0', step: '0.05', value: '-1.3'})),
      row('nodes', el('input', {id: 'grip', type: 'number', min: '1', max: '500', value: '12'})),
      el('div', {id: 'materials'}));
    const {canvas} = viewer.stage;
    canvas.addEventListener('pointerdown', e => this.down(e), true);
    canvas.addEventListener('pointermove', e => this.move(e), true);
    canvas.addEventListener('pointerup', e => this.up(e), true);
  }

  take(tool: Tool) {
    this.tool = tool;
    this.viewer.stage.controls.enabled = tool === 'look';
    for (const name of ['look', 'drag', 'push', 'cut'])
      get(`tool-${name}`).setAttribute('aria-pressed', String(name === tool));
  }

  pause(on = !this.viewer.status?.paused) { this.source.pause(on); }

  report() {
    get('pause').textContent = this.viewer.status?.paused ? 'continue' : 'pause';
    const bodies = this.viewer.runs[0].bodies, box = get('materials');
    if (box.childElementCount || !bodies.length) return;
    const scene = this.viewer.runs[0].report.scene.bodies;
    box.append(...bodies.filter(b => b.kind === 'solid' || b.kind === 'shell').map((body, i) => {
      const field = (name: string, title: string, value: unknown) =>
        el('input', {type: 'text', title, id: `${name}-${i}`, placeholder: name, value: value ?? ''});
      const material = scene[i]?.material ?? {}, young = field('young', "Young's modulus [Pa]", material.young);
      const poisson = field('poisson', "Poisson's ratio", material.poisson);
      return row(el('b', {}, body.name), 'E', young, 'ν', poisson, el('button', {id: `apply-${i}`, onclick: () => {
        const change: Record<string, unknown> = {body: body.name};
        if (young.value.trim()) change.young = Number(young.value);
        if (poisson.value.trim()) change.poisson = Number(poisson.value);
        this.act({material: change});
      }}, 'set'));
    }));
  }

  /** One act at a time; of those that come meanwhile the last one counts. */
  async act(event: object): Promise<void> {
    if (this.busy) {
      this.waiting = event;
      return;
    }
    this.busy = true;
    try {
      await this.source.act(event);
      this.say('');
    } catch (why) {
      this.say((why as Error).message, true);
    }
    this.busy = false;
    const next = this.waiting;
    this.waiting = null;
    if (next) await this.act(next);
  }

  private get body() { return this.viewer.runs[0].bodies[this.held!.body].name; }

  // The stiffest spring that a step bears is mass / step^2, of nodes as heavy as the mean; surface nodes are lighter.
  private get strength() {
    const {report} = this.viewer.runs[0], body = report.bodies[this.held!.body];
    const mass = (body.mass / body.nodes) * Math.min(Number(get<HTMLInputElement>('grip').value), body.nodes);
    return {most: (0.3 * mass) / report.step ** 2, mass, share: 10 ** Number(get<HTMLInputElement>('strength').value)};
  }

  private place(e: PointerEvent): [number, number] {
    const box = this.viewer.stage.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  private at(e: PointerEvent): THREE.Vector3 | null {
    const {ray} = this.viewer.stage.ray(...this.place(e));
    return ray.intersectPlane(this.plane, new THREE.Vector3());
  }

  private down(e: PointerEvent) {
    if (this.tool === 'look' || e.button !== 0 || !this.viewer.live) return;
    e.stopPropagation();
    this.viewer.stage.canvas.setPointerCapture(e.pointerId);
    if (this.tool === 'cut') {
      this.line = [this.place(e)];
      return;
    }
    this.held = this.viewer.pickAt(...this.place(e));
    if (!this.held) return;
    const {shape} = this.viewer.stage.views[this.held.view].bodies!, p = 3 * this.held.place;
    const count = Math.max(1, Math.round(Number(get<HTMLInputElement>('grip').value)));
    const rest = [0, 1, 2].map(k => shape.rest[p + k]);
    this.where = {body: this.body, where: {nearest: {point: rest, count}}};
    this.start.copy(this.held.point);
    this.plane.setFromNormalAndCoplanarPoint(this.viewer.stage.camera.getWorldDirection(new THREE.Vector3()), this.start);
    if (this.tool === 'drag') this.drag(this.start);
  }

  private drag(to: THREE.Vector3) {
    const {most, share} = this.strength;
    return this.act({drag: {...this.where, point: to.toArray(), stiffness: most * share}});
  }

  private push(to: THREE.Vector3) {
    const {mass, share} = this.strength, force = to.clone().sub(this.start).multiplyScalar(2e4 * mass * share);
    return this.act({force: {...this.where, force: force.toArray()}});
  }

  private move(e: PointerEvent) {
    if (this.line.length) {
      this.line[1] = this.place(e);
      this.drawLine();
      e.stopPropagation();
    }
    const to = this.held && this.at(e);
    if (!to) return;
    e.stopPropagation();
    if (this.tool === 'drag') this.drag(to);
    else this.push(to);
  }

  private up(e: PointerEvent) {
    if (this.line.length) {
      if (this.line.length > 1) this.cut(this.line[0], this.line[1]);
      this.line = [];
      this.drawLine();
    }
    if (!this.held) return;
    e.stopPropagation();
    if (this.tool === 'drag') this.act({drag: {...this.where, point: [0, 0, 0], stiffness: 0}});
    else this.act({force: {...this.where, force: [0, 0, 0]}});
    this.held = null;
  }

  /** What a blade along the line of sight passes between two places of the canvas */
  cut(a: [number, number], b: [number, number]) {
    const {stage} = this.viewer, box = new THREE.Box3(), point = new THREE.Vector3(), frame = this.viewer.now[0]!;
    for (let i = 0; i < frame.x.length; i += 3) box.expandByPoint(point.fromArray(frame.x, i));
    const ball = box.getBoundingSphere(new THREE.Sphere()), sight = stage.camera.getWorldDirection(new THREE.Vector3());
    this.plane.setFromNormalAndCoplanarPoint(sight, ball.center);
    const [from, to] = [a, b].map(p => stage.ray(...p).ray.intersectPlane(this.plane, new THREE.Vector3()));
    if (!from || !to || from.distanceTo(to) < 1e-3 * ball.radius) return Promise.resolve();
    const depth = 1.5 * ball.radius, corner = from.clone().addScaledVector(sight, -depth);
    return this.act({cut: {deformed: true, surface: {rectangle: {corner: corner.toArray(),
      along: to.clone().sub(from).toArray(), across: sight.clone().multiplyScalar(2 * depth).toArray()}}}});
  }

  private drawLine() {
    const canvas = get<HTMLCanvasElement>('drawn'), context = canvas.getContext('2d')!;
    canvas.width = canvas.clientWidth;
    canvas.height = canvas.clientHeight;
    if (this.line.length < 2) return;
    context.strokeStyle = '#e5484d';
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(...this.line[0]);
    context.lineTo(...this.line[1]);
    context.stroke();
  }
}
