// One HTML file with everything in it: node build.mjs OUTPUT.html
import {build} from 'esbuild';
import {readFile, writeFile} from 'node:fs/promises';

const output = process.argv[2] ?? 'page.html';
const bundle = await build({
  entryPoints: ['src/main.ts'],
  bundle: true,
  minify: !process.env.RUBATO_PLAIN_PAGE,
  write: false,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  outdir: 'out',
  loader: {'.css': 'css'},
});
const part = ending => bundle.outputFiles.find(file => file.path.endsWith(ending)).text;
const script = part('.js').replaceAll('</script', '<\\/script');
// The licences of what the page contains, as they ask for
const licences = [];
for (const name of ['three', 'uplot'])
  licences.push(`${name}\n${await readFile(`node_modules/${name}/LICENSE`, 'utf8')}`);
const html = (await readFile('src/index.html', 'utf8'))
  .replace('/* style */', () => part('.css'))
  .replace('/* script */', () => script)
  .replace('<!-- licences -->', () => `<!--\n${licences.join('\n').replaceAll('--', '- -')}-->`);
await writeFile(output, html);
