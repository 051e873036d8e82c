// The panel beside the picture: colours, what is shown, bodies, what was picked, curves, what the run says.
import {css, kindColour, valueColour} from './colours';
import {check, el, get, row, section, short, table} from './dom';
import {Plot} from './plots';
import {column, norm} from './tables';
import {Viewer} from './viewer';

const ENERGIES = ['kinetic', 'elastic', 'gravity', 'contact', 'total', 'work', 'friction'];
const READINGS: Record<string, [string[], string]> = {
  position: [['x', 'y', 'z'], 'm'], velocity: [['vx', 'vy', 'vz'], 'm/s'],
  reaction: [['reaction_x', 'reaction_y', 'reaction_z'], 'N'],
  contact: [['contact_x', 'contact_y', 'contact_z'], 'N'],
};

export class Panel {
  readonly plots: Record<string, Plot>;
  private colours = section('Colour');
  private shown = section('Show');
  private bodies = section('Bodies');
  private picked = section('Picked');
  private curves = section('Curves');
  private run = section('Run');
  private reading = 'position';
  private pickedKey = '';
  private bodyKey = '';

  constructor(private viewer: Viewer, extra: HTMLElement[]) {
    const seek = (time: number) => { viewer.following = false; viewer.seek(viewer.first.nearest(time)); };
    this.plots = {
      energy: new Plot('energy', 'J', seek), momentum: new Plot('momentum', 'kg m/s', seek),
      angular: new Plot('angular momentum', 'kg m²/s', seek), solver: new Plot('iterations of a frame', '', seek),
      seconds: new Plot('seconds per step', 's', seek), probes: new Plot('probes', '', seek),
      node: new Plot('picked node', 'm, m/s', seek),
    };
    get('side').append(this.colours, this.shown, ...extra, this.bodies, this.picked, this.curves, this.run);
    this.buildColours();
    this.buildShown();
    const choose = el('select', {id: 'reading', onchange: (e: Event) => {
      this.reading = (e.target as HTMLSelectElement).value;
      this.draw();
    }}, ...Object.keys(READINGS).map(name => el('option', {value: name}, name)));
    this.curves.append(...['energy', 'momentum', 'angular', 'solver', 'seconds'].map(name => this.plots[name].box),
      el('div', {id: 'probe-choice', className: 'row', hidden: true}, 'probes show', choose), this.plots.probes.box);
    this.picked.append(el('div', {id: 'picked', className: 'soft'}, 'Click a body to pick a node.'),
      this.plots.node.box);
    this.plots.node.box.hidden = true;
    this.bodies.append(el('div', {id: 'body-list'}));
    this.run.append(el('div', {id: 'report'}));
  }

  private buildColours() {
    const {viewer} = this, set = (e: Event) => viewer.colour((e.target as HTMLSelectElement).value);
    const number = (id: string) => el('input', {id, type: 'text', inputMode: 'decimal', onchange: () => {
      const low = Number(get<HTMLInputElement>('low').value), high = Number(get<HTMLInputElement>('high').value);
      viewer.range = Number.isFinite(low) && Number.isFinite(high) && high > low ? [low, high] : null;
      viewer.paint();
      viewer.onChange();
    }});
    this.colours.append(row(el('select', {id: 'colour', onchange: set})),
      el('div', {id: 'range', className: 'row'}, 'from', number('low'), 'to', number('high'),
        el('button', {id: 'auto', onclick: () => {
          viewer.range = null;
          viewer.paint();
          viewer.onChange();
        }}, 'auto')));
  }

  private buildShown() {
    const {viewer} = this, {look} = viewer;
    const axis = el('select', {id: 'slice-axis'}, ...['no slice', 'x', 'y', 'z'].map((name, i) =>
      el('option', {value: String(i - 1)}, name)));
    const share = el('input', {id: 'slice', type: 'range', min: '0', max: '1', step: '0.005', value: '0.5'});
    const slice = () => viewer.slice(Number(axis.value), Number(share.value));
    axis.onchange = share.oninput = slice;
    const choose = (place: number) => el('select', {id: `run-${place}`, onchange: (e: Event) => {
      const value = Number((e.target as HTMLSelectElement).value), shown = viewer.shown.slice();
      if (value < 0) shown.length = 1;
      else shown[place] = value;
      viewer.show(shown);
    }}, ...(place ? [el('option', {value: '-1'}, 'none')] : []),
      ...viewer.runs.map((run, i) => el('option', {value: String(i), selected: viewer.shown[place] === i}, run.name)));
    if (viewer.runs.length > 1)
      this.shown.append(row('left', choose(0)), row('right', choose(1)));
    this.shown.append(
      row(check('edges', look.wireframe, on => { look.wireframe = on; viewer.dress(); }, 'wireframe'),
        check('ground', true, on => { viewer.groundOn = on; viewer.dress(); }, 'ground'),
        check('obstacles', look.obstacles, on => { look.obstacles = on; viewer.dress(); }, 'obstacles'),
        check('shadows', true, on => {
          for (const view of viewer.stage.views) view.sun.castShadow = on;
          viewer.stage.redraw();
        }, 'shadows')),
      row(axis, share));
  }

  // ---- What changes

  /** A frame, a colour or a pick */
  change() {
    const {viewer} = this, select = get<HTMLSelectElement>('colour'), all = viewer.colourings;
    const key = all.map(c => c.title || c.name).join();
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      select.replaceChildren(...all.map(c => el('option', {value: c.name}, c.name === 'label' ? c.title : c.name)));
    }
    select.value = viewer.colouring.name;
    this.legend();
    this.showPicked();
    const now = viewer.time;
    for (const plot of Object.values(this.plots)) plot.mark(now);
  }

  private legend() {
    const {viewer} = this, legend = viewer.legend, box = get('legend');
    box.hidden = !legend;
    get('range').hidden = !legend || legend.kinds !== null;
    if (!legend) return;
    const low = get<HTMLInputElement>('low'), high = get<HTMLInputElement>('high');
    if (document.activeElement !== low) low.value = short(legend.low);
    if (document.activeElement !== high) high.value = short(legend.high);
    const title = `${legend.title}${legend.unit ? ` [${legend.unit}]` : ''}`;
    if (legend.kinds) {
      const kinds = legend.kinds.slice(0, 16).map(kind => {
        const swatch = el('i');
        swatch.style.background = css(kindColour(kind.number));
        return el('div', {className: 'kind'}, swatch, kind.name);
      });
      box.replaceChildren(el('div', {}, title), ...kinds);
      return;
    }
    const bar = el('i'), steps = [1, 0.75, 0.5, 0.25, 0];
    bar.style.background = `linear-gradient(${[...Array(17).keys()].map(i => css(valueColour(1 - i / 16))).join()})`;
    box.replaceChildren(el('div', {}, title), el('div', {className: 'bar'}, bar, el('div', {className: 'ticks'},
      ...steps.map(s => el('span', {}, short(legend.low + s * (legend.high - legend.low)))))));
  }

  private showPicked() {
    const {viewer} = this, {picked} = viewer, box = get('picked');
    const key = picked ? `${picked.view} ${picked.node} ${viewer.time} ${viewer.colouring.name}` : '';
    if (key === this.pickedKey) return;
    this.pickedKey = key;
    if (!picked) {
      box.replaceChildren('Click a body to pick a node.');
      this.plots.node.box.hidden = true;
      return;
    }
    const frame = viewer.now[picked.view]!, shape = viewer.stage.views[picked.view].bodies!.shape;
    const run = viewer.runs[viewer.shown[picked.view]], p = 3 * picked.place;
    const at = [0, 1, 2].map(k => frame.x[p + k]), away = at.map((x, k) => x - shape.rest[p + k]);
    const three = (v: number[]) => v.map(short).join(', ');
    const rows: [string, string][] = [['node', String(picked.node)],
      ['body', run.bodies[picked.body]?.name ?? String(picked.body)]];
    if (picked.element >= 0) rows.push([picked.kind === 'triangle' ? 'element' : picked.kind, String(picked.element)]);
    if (picked.region >= 0 && run.regions[picked.region]) rows.push(['region', run.regions[picked.region]]);
    rows.push(['position [m]', three(at)], ['displacement [m]', `${three(away)} (${short(Math.hypot(...away))})`]);
    const names: [number, string][] = [[1, 'speed [m/s]'], [2, 'stress [Pa]'], [4, 'contact force [N]'], [8, 'label']];
    for (const [field, name] of names) {
      const values = frame.fields.get(field);
      if (values) rows.push([name, short(values[picked.place])]);
    }
    box.replaceChildren(table(rows));
    const history = viewer.history();
    this.plots.node.box.hidden = !history || history.times.length < 2;
    if (history && history.times.length > 1) {
      const curves = [{name: 'displacement', values: history.distance as (number | null)[]}];
      if (history.speed.some(v => v !== null)) curves.push({name: 'speed', values: history.speed});
      this.plots.node.set(history.times, curves, viewer.dark);
      this.plots.node.mark(viewer.time);
    }
  }

  /** Tables and the run's report */
  draw() {
    const {viewer} = this, run = viewer.first, {energy, spent} = run, {dark} = viewer;
    const times = column(energy, 'time') as number[];
    const curves = ENERGIES.map(name => ({name, values: column(energy, name)}))
      .filter(c => ['kinetic', 'elastic', 'total'].includes(c.name) || c.values.some(v => v));
    this.plots.energy.set(times, curves, dark);
    this.plots.momentum.set(times, ['px', 'py', 'pz'].map(name => ({name, values: column(energy, name)})), dark);
    this.plots.angular.set(times, ['lx', 'ly', 'lz'].map(name => ({name, values: column(energy, name)})), dark);
    const iterations = column(energy, 'iterations');
    this.plots.solver.box.hidden = !iterations.some(v => v);
    if (!this.plots.solver.box.hidden) this.plots.solver.set(times, [{name: 'iterations', values: iterations}], dark);
    this.plots.seconds.box.hidden = spent.rows < 2;
    if (spent.rows > 1)
      this.plots.seconds.set(column(spent, 'time') as number[],
        [{name: 'seconds', values: column(spent, 'seconds_per_step')}], dark);
    this.drawProbes();
    for (const plot of Object.values(this.plots)) plot.mark(viewer.time);
    this.listBodies();
    this.report();
  }

  private drawProbes() {
    const {probes} = this.viewer.first, names = [...new Set(probes.names.slice(2).map(n => n.split('.')[0]))];
    const any = probes.rows > 0 && names.length > 0;
    get('probe-choice').hidden = this.plots.probes.box.hidden = !any;
    if (!any) return;
    const [parts, unit] = READINGS[this.reading];
    const curves = names.flatMap(name => this.reading === 'position'
      ? parts.map(part => ({name: `${name}.${part} [${unit}]`, values: column(probes, `${name}.${part}`)}))
      : [{name: `|${name} ${this.reading}| [${unit}]`, values: norm(probes, parts.map(part => `${name}.${part}`))}]);
    this.plots.probes.set(column(probes, 'time') as number[], curves.slice(0, 12), this.viewer.dark);
  }

  private listBodies() {
    const {viewer} = this, all = viewer.first.bodies, key = all.map(b => b.name).join();
    if (key === this.bodyKey) return;
    this.bodyKey = key;
    const counts = viewer.first.report.bodies;
    get('body-list').replaceChildren(...all.map((body, i) => {
      const swatch = el('i', {className: 'swatch'}), c = counts[i];
      swatch.style.background = css(kindColour(i));
      const line = check(body.name, true, on => {
        if (on) viewer.look.hidden.delete(i);
        else viewer.look.hidden.add(i);
        viewer.dress();
      }, `body-${i}`);
      return row(swatch, line, el('span', {className: 'soft'}, `${body.kind}, ${c.nodes} nodes, ${short(c.mass)} kg`));
    }));
  }

  private report() {
    const {viewer} = this, {report} = viewer.first, status = get('status');
    const live = viewer.live && viewer.shown[0] === 0;
    const words = live && viewer.status?.paused ? 'paused' : report?.status ?? (live ? 'running' : 'no run.json');
    status.textContent = words;
    status.className = `badge ${words === 'finished' ? 'good' : words === 'running' || words === 'paused' ? 'busy' : 'bad'}`;
    if (!report) return;
    const rows: [string, string][] = [
      ['method', report.solver ? `${report.method}, ${report.solver}` : report.method],
      ['step', `${short(report.step)} s`], ['frame', `${report.frame} of ${report.last_frame}`],
      ['steps', `${report.steps}${report.halved_steps ? `, ${report.halved_steps} halved` : ''}`],
      ['time taken', `${short(report.seconds?.total)} s`]];
    const box = get('report'), children: HTMLElement[] = [table(rows)];
    children.unshift(el('div', {className: words === 'finished' || words === 'running' ? '' : 'bad'}, this.outcome(report)));
    for (const warning of report.warnings ?? []) children.push(el('div', {className: 'warn'}, warning));
    const stages = Object.entries((report.seconds?.stages ?? {}) as Record<string, number>), sum =
      stages.reduce((s, [, v]) => s + v, 0);
    if (stages.length)
      children.push(el('div', {className: 'bars', id: 'stages'}, el('b', {}, 'What a step does'),
        ...stages.map(([name, seconds]) => {
          const bar = el('i');
          bar.style.width = `${(100 * seconds) / (sum || 1)}%`;
          return el('div', {}, name, bar, el('span', {}, `${((100 * seconds) / (sum || 1)).toFixed(1)} %`));
        })));
    box.replaceChildren(...children);
  }

  private outcome(report: any): string {
    const {failure, problem, unconverged} = report;
    if (report.status === 'finished') return 'The run has finished.';
    if (report.status === 'running') return 'The run is in progress.';
    if (failure)
      return `A step failed at ${short(failure.time)} s: ${failure.outcome} in stage "${failure.stage}"` +
        `${failure.body ? `, body "${failure.body}"` : ''}. ${failure.hint ?? ''}`;
    if (problem) return problem;
    if (unconverged) return unconverged.outcome;
    return `The run was ${report.status}.`;
  }
}
