// open.mjs WEB ADDRESS: seconds from asking for the page to its first picture of a frame, in headless Chromium.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [web, address] = process.argv.slice(2);
const {chromium} = createRequire(join(web, 'package.json'))('playwright-core');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox',
  '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
  '--disable-dev-shm-usage']});
const page = await browser.newPage({viewport: {width: 1000, height: 700}}), start = Date.now();
await page.goto(address);
let seen = null;
while (!seen && Date.now() - start < 120000) {
  seen = await page.evaluate(() => {
    const v = window.rubato?.viewer;
    return v?.now[0] && v.stage.drawn ? {triangles: v.stage.views[0].bodies.shape.body.length} : null;
  });
  if (!seen) await page.waitForTimeout(20);
}
console.log(JSON.stringify({...seen, seconds: (Date.now() - start) / 1000}));
await browser.close();
