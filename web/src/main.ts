// Starts the viewer: with the run that lies in the page, or with the server that the page came from.
import './style.css';
import {get} from './dom';
import {EmbeddedSource} from './embedded';
import {Hand} from './interact';
import {Panel} from './panel';
import {ServerSource, Source} from './source';
import {Stage} from './stage';
import {Viewer} from './viewer';

const note = (text: string, bad = false) => {
  get('note').textContent = text;
  get('note').className = bad ? 'bad' : '';
};

async function open(): Promise<Source> {
  const embedded = EmbeddedSource.find();
  if (!embedded) return ServerSource.connect(`${location.origin.replace(/^http/, 'ws')}${location.pathname}ws`);
  await embedded.load(share => note(`reading the run: ${Math.round(100 * share)} %`));
  return embedded;
}

function save(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The picture with its legend, as a file and a film show it */
function record(viewer: Viewer) {
  const {canvas} = viewer.stage, button = get<HTMLButtonElement>('film');
  const type = ['video/webm;codecs=vp9', 'video/webm'].find(t => MediaRecorder.isTypeSupported(t)) ?? '';
  const recorder = new MediaRecorder(canvas.captureStream(30), {mimeType: type, videoBitsPerSecond: 8e6});
  const parts: Blob[] = [];
  recorder.ondataavailable = e => { if (e.data.size) parts.push(e.data); };
  recorder.onstop = () => {
    button.textContent = '● video';
    save(new Blob(parts, {type: 'video/webm'}), 'rubato.webm');
  };
  recorder.start(250);
  button.textContent = '■ stop';
  button.onclick = () => {
    recorder.stop();
    button.onclick = () => record(viewer);
  };
}

function bindControls(viewer: Viewer, change: () => void) {
  const {stage} = viewer, scrub = get<HTMLInputElement>('scrub'), follow = get<HTMLInputElement>('follow');
  const go = (number: number) => { viewer.following = false; viewer.seek(number); };
  get('play').onclick = () => viewer.play();
  get('back').onclick = () => { viewer.play(false); go(viewer.frame - 1); };
  get('next').onclick = () => { viewer.play(false); go(viewer.frame + 1); };
  scrub.oninput = () => {
    const number = Number(scrub.value); // before pausing, which puts it to the frame that is shown
    viewer.play(false);
    go(number);
  };
  get<HTMLSelectElement>('speed').onchange = e => (viewer.speed = Number((e.target as HTMLSelectElement).value));
  follow.onchange = () => { viewer.following = follow.checked; change(); };
  get('fit').onclick = () => viewer.fit();
  get('shot').onclick = () => { stage.draw(); stage.canvas.toBlob(blob => blob && save(blob, 'rubato.png')); };
  get('film').onclick = () => record(viewer);
  get('panel').onclick = () => { get('side').hidden = !get('side').hidden; };
  document.addEventListener('keydown', e => {
    if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) return;
    if (e.key === ' ') { viewer.play(); e.preventDefault(); }
    if (e.key === 'ArrowRight') get('next').click();
    if (e.key === 'ArrowLeft') get('back').click();
    if (e.key === 'f') viewer.fit();
  });
  let down = [0, 0];
  stage.canvas.addEventListener('pointerdown', e => (down = [e.offsetX, e.offsetY]));
  stage.canvas.addEventListener('click', e => {
    if (Math.hypot(e.offsetX - down[0], e.offsetY - down[1]) < 4 && stage.controls.enabled)
      viewer.choose(viewer.pickAt(e.offsetX, e.offsetY));
  });
}

async function start() {
  const query = new URLSearchParams(location.search);
  let theme = query.get('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.documentElement.dataset.theme = theme;
  const source = await open(), viewer = new Viewer(source, new Stage(get<HTMLCanvasElement>('canvas')));
  viewer.dark = theme === 'dark';
  const acts = source.runs[0].interact && source instanceof ServerSource;
  const hand = acts ? new Hand(viewer, source as ServerSource, note) : null;
  const panel = new Panel(viewer, hand ? [hand.box] : []);
  const change = () => {
    const {times} = viewer.first, scrub = get<HTMLInputElement>('scrub');
    scrub.max = String(Math.max(0, times.length - 1));
    scrub.value = String(viewer.frame);
    get('time').textContent = `frame ${viewer.frame} of ${Math.max(0, times.length - 1)}, ${(viewer.now[0]?.time ?? 0).toFixed(3)} s`;
    get('play').textContent = viewer.playing ? '❚❚' : '▶';
    get('follow-label').hidden = !viewer.live;
    get<HTMLInputElement>('follow').checked = viewer.following;
    get('labels').replaceChildren(...(viewer.shown.length < 2 ? [] : viewer.shown.map((run, i) => {
      const label = document.createElement('span');
      label.textContent = viewer.runs[run].name;
      label.style.left = `${(100 * i) / viewer.shown.length + 1}%`;
      return label;
    })));
    panel.change();
  };
  viewer.onChange = change;
  viewer.onReport = () => {
    const {report} = viewer.first;
    get('title').textContent = viewer.first.name.replace(/\/+$/, '').split('/').pop() || 'rubato';
    document.title = `${get('title').textContent} – rubato`;
    get('subtitle').textContent = get('subtitle').title = report?.scene?.about ?? '';
    panel.draw();
    hand?.report();
    change();
  };
  viewer.onError = why => note(why, true);
  get('theme').onclick = () => {
    theme = theme === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    viewer.dark = theme === 'dark';
    viewer.furnish();
    viewer.stage.redraw();
    panel.draw();
  };
  bindControls(viewer, change);
  note('');
  await viewer.start();
  // For tests, and for whoever wants to look from the browser's console
  Object.assign(window, {rubato: {viewer, panel, hand, ready: true}});
}

document.addEventListener('DOMContentLoaded', () => start().catch(why => note(why.message, true)));
