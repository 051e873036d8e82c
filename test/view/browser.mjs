// The viewer in a real browser: node browser.mjs RUBATO SOURCE WEB PICTURES. WEB holds node_modules, PICTURES is where
// screenshots go. Chromium draws in software. Ends with 1 and a sentence if something is wrong.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [rubato, source, web, pictures] = process.argv.slice(2);
const {chromium} = createRequire(join(web, 'package.json'))('playwright-core');
const work = mkdtempSync(join(tmpdir(), 'rubato-view-'));
mkdirSync(pictures, {recursive: true});

const JELLY = {
  rubato: 1, about: 'a block of jelly, held at one side, bends under its weight',
  bodies: [{name: 'jelly', mesh: {shape: {cuboid: {size: [0.2, 0.1, 0.1], cells: [8, 4, 4]}}},
    material: {young: 2e4, poisson: 0.45, density: 1000},
    fixed: [{box: {min: [0, 0, 0], max: [0.01, 1, 1], relative: true}}]}],
  forces: [{gravity: {}}],
  probes: [{name: 'tip', where: {nearest: {point: [0.2, 0.05, 0.05], count: 1}}}],
  time: {step: 0.01, frame: 0.04, end: 0.8},
};

// With fewer elements, for runs that are waited for
const SMALL = [{...JELLY.bodies[0], mesh: {shape: {cuboid: {size: [0.2, 0.1, 0.1], cells: [5, 3, 3]}}}}];

const scene = (name, changes = {}) => {
  const path = join(work, `${name}.json`);
  writeFileSync(path, JSON.stringify({...JELLY, ...changes}));
  return path;
};
const run = (...words) => execFileSync(rubato, words, {cwd: work, stdio: ['ignore', 'pipe', 'pipe']});
const folder = name => join(work, name);

/** A rubato that serves: its address, and how to end it */
function serve(...words) {
  const child = spawn(rubato, words, {cwd: work, stdio: ['ignore', 'pipe', 'pipe']});
  let said = '', complained = '';
  child.stderr.on('data', text => (complained += text));
  const over = new Promise(resolve => child.on('exit', resolve));
  const address = new Promise((resolve, reject) => {
    child.stdout.on('data', text => {
      const match = (said += text).match(/^view: (\S+)$/m);
      if (match) resolve(match[1]);
    });
    over.then(code => reject(new Error(`rubato ended with ${code}: ${complained}`)));
  });
  const end = async () => {
    child.kill('SIGINT');
    return {code: await over, complained};
  };
  return {address, end, over, said: () => said, complained: () => complained};
}

// Positions of the frames on disk as 32-bit numbers: raw VTU, whose points are the first array (compress is off)
function points(dir, number) {
  const bytes = readFileSync(join(dir, 'frames', `frame_${String(number).padStart(6, '0')}.vtu`));
  const head = bytes.subarray(0, bytes.indexOf('<AppendedData')).toString('latin1');
  const tag = head.slice(head.indexOf('<Points>')).match(/<DataArray[^>]*>/)[0];
  const offset = Number(tag.match(/offset="(\d+)"/)[1]), type = tag.match(/type="(\w+)"/)[1];
  const start = bytes.indexOf('_', bytes.indexOf('<AppendedData')) + 1 + offset;
  const size = Number(bytes.readBigUInt64LE(start)), data = bytes.subarray(start + 8, start + 8 + size);
  assert.equal(type, 'Float64');
  return Float32Array.from({length: size / 8}, (_, i) => data.readDoubleLE(8 * i));
}

const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist', '--disable-dev-shm-usage']});

async function open(address, theme = 'light', options = {}) {
  const context = await browser.newContext({viewport: {width: 900, height: 600}, colorScheme: theme, ...options});
  const page = await context.newPage(), trouble = [], requests = [];
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') trouble.push(m.text()); });
  page.on('pageerror', e => trouble.push(e.message));
  page.on('request', r => requests.push(r.url()));
  await page.goto(address);
  await until(page, () => window.rubato?.ready);
  return {page, trouble, requests, close: () => context.close()};
}

/** Waits until a function in the page gives something; its conditions, not a clock, decide how long a test takes. */
async function until(page, condition, argument) {
  for (let i = 0; i < 1200; i++) {
    const value = await page.evaluate(condition, argument);
    if (value) return value;
    await page.waitForTimeout(50);
  }
  throw new Error(`in vain: ${condition}`);
}

// three warns about software rendering in some versions; nothing else may be said.
const quiet = trouble => assert.deepEqual(trouble.filter(t => !/GPU stall|swiftshader|software/i.test(t)), []);
const shot = (page, name) => page.screenshot({path: join(pictures, `${name}.png`)});
const pixels = page => page.evaluate(() => {
  const {stage} = rubato.viewer, small = document.createElement('canvas');
  stage.draw();
  small.width = 90;
  small.height = 60;
  small.getContext('2d').drawImage(stage.canvas, 0, 0, 90, 60);
  return Array.from(small.getContext('2d').getImageData(0, 0, 90, 60).data);
});
const differing = (a, b) => a.filter((v, i) => Math.abs(v - b[i]) > 8).length;
const shown = (page, view = 0) => page.evaluate(v => {
  const frame = rubato.viewer.now[v], shape = rubato.viewer.stage.views[v].bodies.shape;
  return {number: frame.number, time: frame.time, x: Array.from(frame.x), node: Array.from(shape.node)};
}, view);
function assertExact(seen, all, dir) {
  const file = points(dir, seen.number);
  seen.node.forEach((n, i) => {
    for (let k = 0; k < 3; k++) assert.equal(seen.x[3 * i + k], file[3 * n + k], `frame ${seen.number}, node ${n}`);
  });
  if (all) assert.equal(seen.number, all);
}

const tests = {
  async 'a finished run: frames, colours, picks, curves'() {
    run('run', scene('jelly'), '-o', 'jelly', '-q', '--set', 'output.compress=false');
    const server = serve('view', 'jelly'), {page, trouble, requests, close} = await open(await server.address);
    assert.equal(await page.textContent('#status'), 'finished');
    const before = await pixels(page);
    // scrubbing shows the exact frame
    for (const number of [13, 4, 20]) {
      await page.fill('#scrub', String(number));
      await until(page, n => rubato.viewer.now[0].number === n, number);
      assertExact(await shown(page), number, folder('jelly'));
    }
    assert.ok(differing(before, await pixels(page)) > 100, 'another frame looks the same');
    // it plays: frames go by, and they look different, as above
    const played = await page.evaluate(() => new Promise(done => { // on a busy machine it may be over before one asks
      const seen = new Set();
      const watch = () => {
        seen.add(rubato.viewer.frame);
        if (rubato.viewer.playing) requestAnimationFrame(watch); else done([...seen]);
      };
      document.querySelector('#play').click();
      requestAnimationFrame(watch);
    }));
    assert.ok(played.length > 2 && played.at(-1) === 20, `nothing moves while it plays: frames ${played}`);
    // colours are those of the legend's numbers
    for (const name of ['displacement', 'speed', 'stress']) {
      await page.selectOption('#colour', name);
      await until(page, n => rubato.viewer.colouring.name === n && rubato.viewer.values(0), name);
      const bad = await page.evaluate(() => {
        const v = rubato.viewer, values = v.values(0), {low, high} = v.legend, {bodies} = v.stage.views[0];
        const stops = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129],
          [92, 200, 99], [170, 220, 50], [253, 231, 37]];
        const linear = c => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
        let worst = 0;
        bodies.shape.node.forEach((node, i) => {
          const t = Math.min(Math.max((values[i] - low) / (high - low), 0), 1), at = (0.12 + 0.88 * t) * 8;
          const k = Math.min(Math.floor(at), 7), seen = bodies.colourOf(node);
          stops[k].forEach((c, j) => {
            const wanted = linear(c + (at - k) * (stops[k + 1][j] - c));
            worst = Math.max(worst, Math.abs(wanted - seen[j]));
          });
        });
        return {worst, low, high, text: document.querySelector('#legend').textContent};
      });
      assert.ok(bad.worst < 0.01, `${name}: colours are ${bad.worst} off`);
      assert.ok(bad.high > bad.low && bad.text.includes(String(Number(bad.high.toPrecision(4)))), `${name}: ${bad.text}`);
    }
    // the displacement's legend reaches what the file has
    await page.selectOption('#colour', 'displacement');
    const wide = await until(page, () => rubato.viewer.colouring.name === 'displacement' && rubato.viewer.legend.high);
    const rest = points(folder('jelly'), 0), last = points(folder('jelly'), 20);
    let most = 0;
    for (let i = 0; i < last.length; i += 3)
      most = Math.max(most, Math.hypot(last[i] - rest[i], last[i + 1] - rest[i + 1], last[i + 2] - rest[i + 2]));
    assert.ok(wide >= most * (1 - 1e-5), `the legend ends at ${wide}, but a node has moved by ${most}`);
    // a pick where a node is drawn gives that node
    const [node, place] = await page.evaluate(() => {
      const v = rubato.viewer, {shape} = v.stage.views[0].bodies, {x} = v.now[0];
      let best = 0;
      const depth = i => v.stage.camera.position.distanceToSquared({x: x[3 * i], y: x[3 * i + 1], z: x[3 * i + 2]});
      for (let i = 0; i < shape.node.length; i++) if (depth(i) < depth(best)) best = i; // the nearest one is seen
      const p = v.stage.camera.position.clone().fromArray(x, 3 * best);
      return [shape.node[best], v.stage.place(p)];
    });
    const box = await page.locator('#canvas').boundingBox();
    await page.mouse.click(box.x + place[0], box.y + place[1] + 1.5);
    await until(page, () => rubato.viewer.picked);
    const picked = await page.evaluate(() => rubato.viewer.picked);
    assert.equal(picked.node, node);
    assert.ok(picked.element >= 0 && picked.element < 8 * 4 * 4 * 6);
    assert.match(await page.textContent('#picked'), new RegExp(`node${node}`));
    // curves have the numbers of energy.csv
    const rows = readFileSync(join(folder('jelly'), 'energy.csv'), 'utf8').trim().split('\n').map(l => l.split(','));
    const at = rows[0].indexOf('elastic');
    const drawn = await page.evaluate(() => rubato.panel.plots.energy.values('elastic'));
    assert.deepEqual(Array.from(drawn), rows.slice(1).map(r => Number(r[at])));
    assert.equal((await page.evaluate(() => rubato.panel.plots.probes.values('tip.y [m]'))).length, rows.length - 1);
    // bodies are hidden, slices cut, edges are drawn: each looks different
    for (const change of ['#body-0', '#wireframe', '#ground']) {
      const one = await pixels(page);
      await page.evaluate(id => document.querySelector(id).click(), change);
      assert.ok(differing(one, await pixels(page)) > 30, change);
      await page.evaluate(id => document.querySelector(id).click(), change);
    }
    const whole = await pixels(page);
    await page.selectOption('#slice-axis', '0');
    assert.ok(differing(whole, await pixels(page)) > 30, 'a slice');
    await page.selectOption('#slice-axis', '-1');
    await page.selectOption('#colour', 'stress');
    await shot(page, 'replay');
    // nothing came from anywhere else, and nobody complained
    const {host} = new URL(await server.address);
    assert.deepEqual(requests.filter(url => !url.startsWith('data:') && !url.startsWith('blob:') && new URL(url).host !== host), []);
    quiet(trouble);
    await close();
    assert.equal((await server.end()).code, 0);
  },

  async 'a picture and a video'() {
    const server = serve('view', 'jelly'), {page, trouble, close} = await open(await server.address);
    const [picture] = await Promise.all([page.waitForEvent('download'), page.click('#shot')]);
    assert.equal(readFileSync(await picture.path()).subarray(1, 4).toString(), 'PNG');
    await page.click('#film');
    await page.click('#play');
    await until(page, () => rubato.viewer.frame > 5);
    const [film] = await Promise.all([page.waitForEvent('download'), page.click('#film')]);
    assert.equal(readFileSync(await film.path()).readUInt32BE(0), 0x1a45dfa3); // EBML, which WebM is
    quiet(trouble);
    await close();
    await server.end();
  },

  async 'two runs stay in step'() {
    run('run', scene('finer', {time: {step: 0.005, frame: 0.02, end: 0.8}}), '-o', 'finer', '-q');
    const server = serve('view', 'jelly', 'finer'), {page, trouble, close} = await open(await server.address, 'dark');
    for (const number of [5, 17, 9]) {
      await page.fill('#scrub', String(number));
      await until(page, n => rubato.viewer.now[0].number === n && rubato.viewer.now[1].number === 2 * n, number);
    }
    await page.selectOption('#colour', 'difference');
    const [a, b] = [await shown(page, 0), await shown(page, 1)];
    const difference = await until(page, () => rubato.viewer.values(0) && Array.from(rubato.viewer.values(0)));
    difference.forEach((d, i) => {
      const far = Math.hypot(a.x[3 * i] - b.x[3 * i], a.x[3 * i + 1] - b.x[3 * i + 1], a.x[3 * i + 2] - b.x[3 * i + 2]);
      assert.ok(Math.abs(far - d) <= 1e-6 * Math.max(1e-3, far));
    });
    assert.ok(Math.max(...difference) > 0);
    await page.click('#play');
    await until(page, () => rubato.viewer.frame >= 14);
    await page.click('#play');
    const apart = await page.evaluate(() => Math.abs(rubato.viewer.now[0].time - rubato.viewer.now[1].time));
    assert.ok(apart < 1e-9, `the two are ${apart} s apart`);
    await shot(page, 'two-runs');
    quiet(trouble);
    await close();
    await server.end();
  },

  async 'a run that goes on'() {
    const server = serve('view', scene('live', {bodies: SMALL, time: {step: 0.002, frame: 0.02, end: 1000}}), '-o', 'live');
    const {page, trouble, close} = await open(await server.address);
    const first = await pixels(page);
    await until(page, () => rubato.viewer.now[0]?.live && rubato.viewer.now[0].number > 1);
    const live = await shown(page);
    await until(page, () => rubato.viewer.first.times.length > 5);
    assert.ok(differing(first, await pixels(page)) > 50, 'a run goes on, but the picture stays');
    await page.selectOption('#colour', 'speed');
    await until(page, () => rubato.viewer.now[0].live && rubato.viewer.now[0].fields.has(1));
    // back to a frame on disk while the run goes on
    await page.fill('#scrub', '2');
    await until(page, () => rubato.viewer.now[0].number === 2 && !rubato.viewer.now[0].live);
    await page.check('#follow');
    await until(page, () => rubato.viewer.now[0].live);
    await shot(page, 'live');
    quiet(trouble);
    await close();
    const {code} = await server.end();
    assert.equal(code, 130); // it was stopped
    assert.ok(live.x.length > 0);
  },

  async 'dragging by hand, and once more from the file'() {
    const server = serve('view', scene('hand', {bodies: SMALL, time: {step: 0.004, frame: 0.02, end: 1000}}), '-o', 'hand', '--interact');
    const {page, trouble, close} = await open(await server.address);
    await until(page, () => rubato.viewer.now[0]?.live && rubato.viewer.first.report);
    await page.click('#pause');
    await until(page, () => rubato.viewer.status?.paused);
    const box = await page.locator('#canvas').boundingBox();
    await page.click('#tool-drag');
    const find = () => page.evaluate(() => {
      const v = rubato.viewer, {shape} = v.stage.views[0].bodies, {x} = v.now[0];
      const middles = Array.from(shape.body, (_, t) => { // of the triangles that are seen, the one nearest to the free end
        const corners = [0, 1, 2].map(k => 3 * shape.triangles[3 * t + k]);
        const p = [0, 1, 2].map(k => corners.reduce((sum, c) => sum + x[c + k], 0) / 3);
        return {t, x: p[0], at: v.stage.place(v.stage.camera.position.clone().fromArray(p))};
      }).sort((a, b) => b.x - a.x);
      const {clientWidth: wide, clientHeight: tall} = v.stage.canvas;
      const inside = ([a, b]) => a > 5 && b > 5 && a < wide - 5 && b < tall - 5;
      return middles.find(m => inside(m.at) && v.pickAt(...m.at)?.element === shape.element[m.t])?.at;
    });
    // the state at which the run waits may still be on its way to the page: where it was taken hold of, it may be no more
    let at = null;
    for (let tries = 0; tries < 60; tries++) {
      const place = await find();
      if (place) {
        at = [box.x + place[0], box.y + place[1]];
        await page.mouse.move(...at);
        await page.mouse.down();
        if (await page.evaluate(() => Boolean(rubato.hand.held))) break;
        await page.mouse.up();
      }
      await page.waitForTimeout(500);
    }
    await page.mouse.move(at[0] + 40, at[1] - 60, {steps: 3});
    await until(page, () => rubato.viewer.first.report.scene && document.querySelector('#note').textContent === '');
    await page.click('#single').catch(() => {});
    // a few steps at a time: how long they are is the chosen method's affair
    const time = await page.evaluate(() => rubato.viewer.status.time);
    await until(page, t => rubato.viewer.status.time > t + 0.015 || void rubato.viewer.source.pause(true, 5), time);
    await page.mouse.move(at[0] + 60, at[1] + 30, {steps: 2});
    await page.mouse.up();
    await page.evaluate(() => rubato.hand.act({material: {body: 'jelly', young: 3e4}}));
    // a cut along a line that is drawn across the body
    await page.click('#tool-cut');
    const line = await page.evaluate(() => {
      const v = rubato.viewer, {x} = v.now[0], {rest} = v.stage.views[0].bodies.shape, places = [];
      for (let i = 0; i < x.length; i += 3)
        if (Math.abs(rest[i] - 0.1) < 0.02) places.push(v.stage.place(v.stage.camera.position.clone().fromArray(x, i)));
      const [across, down] = [0, 1].map(k => places.map(p => p[k])), {clientHeight: tall} = v.stage.canvas;
      const middle = across.reduce((a, b) => a + b) / across.length;
      return [[middle, Math.max(4, Math.min(...down) - 30)], [middle, Math.min(tall - 4, Math.max(...down) + 30)]];
    });
    await page.mouse.move(box.x + line[0][0], box.y + line[0][1]);
    await page.mouse.down();
    await page.mouse.move(box.x + line[1][0], box.y + line[1][1], {steps: 3});
    await shot(page, 'interact');
    await page.mouse.up();
    await page.click('#tool-look');
    await page.click('#pause');
    assert.equal(await page.textContent('#note'), '');
    const cutAt = await until(page, () => rubato.viewer.status.frame > 0 && rubato.viewer.status.frame);
    await until(page, n => rubato.viewer.status.frame > n + 10, cutAt);
    quiet(trouble);
    await close();
    assert.equal((await server.end()).code, 130);
    const acted = JSON.parse(readFileSync(join(folder('hand'), 'scene.json')));
    const kinds = acted.events.map(e => Object.keys(e).find(k => k !== 'time'));
    for (const kind of ['drag', 'material', 'cut']) assert.ok(kinds.includes(kind), `no ${kind} among ${kinds}`);
    const files = readdirSync(join(folder('hand'), 'frames')).sort(), count = String(files.length - 1);
    run('run', join(folder('hand'), 'scene.json'), '-o', 'again', '-q', '--frames', count);
    assert.deepEqual(readdirSync(join(folder('again'), 'frames')).sort(), files);
    for (const file of [...files.map(f => join('frames', f)), 'energy.csv'])
      assert.ok(readFileSync(join(folder('hand'), file)).equals(readFileSync(join(folder('again'), file))),
        `${file} differs when the acts are run from the file`);
    run('run', scene('alone', {bodies: SMALL, time: {step: 0.004, frame: 0.02, end: 1000}}), '-o', 'alone', '-q', '--frames', count);
    const lastOne = join('frames', files.at(-1));
    assert.ok(!readFileSync(join(folder('hand'), lastOne)).equals(readFileSync(join(folder('alone'), lastOne))));
  },

  async 'one file that plays without a network'() {
    run('export', 'jelly', '-o', 'jelly.html', '-q');
    const {page, trouble, requests, close} = await open(`file://${folder('jelly.html')}`, 'light', {offline: true});
    const box = [[Infinity, -Infinity], [Infinity, -Infinity], [Infinity, -Infinity]];
    for (let n = 0; n <= 20; n++)
      points(folder('jelly'), n).forEach((x, i) => (box[i % 3] = [Math.min(box[i % 3][0], x), Math.max(box[i % 3][1], x)]));
    for (const number of [0, 1, 2, 11, 20]) {
      await page.fill('#scrub', String(number));
      await until(page, n => rubato.viewer.now[0].number === n, number);
      const seen = await shown(page), file = points(folder('jelly'), number);
      seen.node.forEach((n, i) => {
        for (let k = 0; k < 3; k++) {
          const bound = (0.51 * (box[k][1] - box[k][0])) / 65535 + 1e-7;
          assert.ok(Math.abs(seen.x[3 * i + k] - file[3 * n + k]) <= bound, `frame ${number}, node ${n}`);
        }
      });
    }
    const start = await pixels(page);
    await page.click('#play');
    await until(page, () => rubato.viewer.frame > 4);
    assert.ok(differing(start, await pixels(page)) > 100, 'nothing moves');
    await page.selectOption('#colour', 'stress');
    await shot(page, 'export');
    assert.deepEqual(requests.filter(url => !/^(file|data|blob):/.test(url)), []);
    quiet(trouble);
    await close();
    // on a phone
    const phone = await open(`file://${folder('jelly.html')}`, 'dark',
      {offline: true, viewport: {width: 390, height: 780}, hasTouch: true, isMobile: true});
    await shot(phone.page, 'phone');
    const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `the page is ${wide} pixels wide on a phone of 390`);
    quiet(phone.trouble);
    await phone.close();
  },
};

let failed = 0;
const wanted = process.env.ONLY;
for (const [name, test] of Object.entries(tests)) {
  if (wanted && !name.includes(wanted) && !name.startsWith('a finished')) continue;
  const start = Date.now();
  try {
    await test();
    console.log(`ok      ${((Date.now() - start) / 1000).toFixed(1)} s  ${name}`);
  } catch (why) {
    failed++;
    console.log(`FAILED  ${name}\n${why.stack.slice(0, 800)}`);
  }
}
await browser.close();
rmSync(work, {recursive: true, force: true});
void source;
process.exit(failed ? 1 : 0);
