// Colours of values and of kinds: those of `rubato render` (src/view/color.c).

const STOPS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129],
  [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const KINDS = [[78, 143, 199], [240, 160, 75], [107, 179, 107], [217, 96, 95], [154, 127, 196], [91, 181, 181],
  [229, 143, 177], [180, 176, 74], [150, 112, 91], [141, 154, 168]];
const DARKEST = 0.12;

export type Colour = [number, number, number]; // sRGB, 0 to 255

/** viridis without its darkest part, in which shading would drown */
export function valueColour(t: number): Colour {
  if (Number.isNaN(t)) return [128, 128, 128];
  const at = (DARKEST + (1 - DARKEST) * Math.min(Math.max(t, 0), 1)) * (STOPS.length - 1);
  const i = Math.min(Math.floor(at), STOPS.length - 2), f = at - i;
  return [0, 1, 2].map(k => Math.round(STOPS[i][k] + f * (STOPS[i + 1][k] - STOPS[i][k]))) as Colour;
}

export const kindColour = (i: number): Colour =>
  KINDS[((i % KINDS.length) + KINDS.length) % KINDS.length] as Colour;

export const css = (c: Colour) => `rgb(${c[0]}, ${c[1]}, ${c[2]})`;

/** To the linear light that shading computes with, 0 to 1 */
export const linear = (c: number) => {
  const s = c / 255;
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
};

const SIZE = 1024;
/** (SIZE + 1) x 3: linear light of valueColour */
export const MAP = new Float32Array(3 * (SIZE + 1));
for (let i = 0; i <= SIZE; i++) valueColour(i / SIZE).forEach((c, k) => (MAP[3 * i + k] = linear(c)));
export const mapPlace = (t: number) => 3 * Math.round(Math.min(Math.max(t, 0), 1) * SIZE);
