// Curves over time, linked to the frame that is shown: a line stands at its time, and a click goes to a time.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {css, kindColour} from './colours';

/** Four digits, and powers of ten where zeros would take more room than digits */
function numeral(v: number): string {
  const plain = String(Number(v.toPrecision(4)));
  return plain.length > 6 || plain.includes('e') ? v.toExponential(3).replace(/\.?0*e\+?/, 'e') : plain;
}

export interface Curve {
  name: string;
  values: (number | null)[];
}

export class Plot {
  readonly box = document.createElement('div');
  private plot: uPlot | null = null;
  private key = '';
  private data: (number | null)[][] = [[]];
  private now = 0;

  constructor(private title: string, private unit: string, private seek: (time: number) => void) {
    this.box.className = 'plot';
  }

  /** What is drawn, for tests */
  values(name: string): (number | null)[] {
    const i = this.plot?.series.findIndex(s => s.label === name) ?? -1;
    return i < 0 ? [] : (this.plot!.data[i] as (number | null)[]);
  }

  set(times: number[], curves: Curve[], dark: boolean) {
    if (times.length < 2) return; // no curve yet
    const ink = dark ? '#9aa5b3' : '#5b6675', line = dark ? '#333b46' : '#e3e7ec';
    const key = curves.map(c => c.name).join() + dark + this.box.clientWidth;
    this.data = [times, ...curves.map(c => c.values)];
    if (this.plot && key === this.key) {
      this.plot.setData(this.data as uPlot.AlignedData);
      return;
    }
    this.plot?.destroy();
    this.key = key;
    const short = (v: number | null) => (v === null || v === undefined ? '–' : numeral(v));
    const axis = {stroke: ink, grid: {stroke: line, width: 1}, ticks: {stroke: line}, font: '11px system-ui'};
    this.plot = new uPlot({
      title: `${this.title}${this.unit ? ` [${this.unit}]` : ''}`,
      width: Math.max(200, this.box.clientWidth || 320),
      height: 150,
      scales: {x: {time: false}},
      cursor: {drag: {x: false, y: false}},
      legend: {live: true},
      axes: [{...axis, size: 26}, {...axis, size: 52, values: (_, ticks) => ticks.map(short)}],
      series: [{label: 't [s]', value: (_, v) => short(v)},
        ...curves.map((c, i) => ({label: c.name, stroke: css(kindColour(i)), width: 1.5, points: {show: false},
          value: (_: uPlot, v: number | null) => short(v)}))],
      hooks: {draw: [plot => this.drawNow(plot, dark)]},
    }, this.data as uPlot.AlignedData, this.box);
    this.plot.over.addEventListener('click', event => this.seek(this.plot!.posToVal(event.offsetX, 'x')));
  }

  private drawNow(plot: uPlot, dark: boolean) {
    const x = Math.round(plot.valToPos(this.now, 'x', true)), {ctx, bbox} = plot;
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.fillStyle = dark ? '#e8ebf0' : '#1d2430';
    ctx.fillRect(x, bbox.top, devicePixelRatio, bbox.height);
    ctx.restore();
  }

  mark(time: number) {
    this.now = time;
    this.plot?.redraw(false, true);
  }
}
