// Short forms for making elements.

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, about: Record<string, unknown> = {},
  ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(about))
    if (key.startsWith('on') || key in element) (element as unknown as Record<string, unknown>)[key] = value;
    else element.setAttribute(key, String(value));
  element.append(...children.filter((c): c is Node | string => c !== null));
  return element;
}

export const get = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

export const row = (...children: Child[]) => el('div', {className: 'row'}, ...children);

export function section(title: string, open = true): HTMLElement {
  const head = el('h2', {}, title), box = el('section', {className: open ? '' : 'closed'}, head);
  head.onclick = () => box.classList.toggle('closed');
  return box;
}

export const check = (label: string, on: boolean, change: (on: boolean) => void, id = '') =>
  el('label', {}, el('input', {type: 'checkbox', id, checked: on,
    onchange: (e: Event) => change((e.target as HTMLInputElement).checked)}), ` ${label}`);

export const table = (rows: [string, string][]) =>
  el('table', {}, ...rows.map(([name, value]) => el('tr', {}, el('td', {}, name), el('td', {}, value))));

/** A number as people read it: four digits */
export const short = (v: number | null | undefined) =>
  v === null || v === undefined || Number.isNaN(v) ? '–' : String(Number(v.toPrecision(4)));
