// Tables of a run: comma-separated numbers with names in the first line. A last line without its end is being written.

export interface Table {
  names: string[];
  columns: Map<string, (number | null)[]>;
  rows: number;
}

export function parseTable(text: string): Table {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1), lines = whole.split('\n').filter(line => line);
  const names = (lines.shift() ?? '').split(','), columns = names.map(() => [] as (number | null)[]);
  let rows = 0;
  for (const line of lines) {
    const cells = line.split(',');
    if (cells.length !== names.length) continue;
    cells.forEach((cell, k) => {
      const value = cell === '' ? null : Number(cell);
      columns[k].push(value !== null && Number.isFinite(value) ? value : null);
    });
    rows++;
  }
  return {names, columns: new Map(names.map((name, k) => [name, columns[k]])), rows};
}

export const column = (table: Table, name: string) => table.columns.get(name) ?? [];

export function norm(table: Table, names: string[]): (number | null)[] {
  const parts = names.map(name => column(table, name));
  return (parts[0] ?? []).map((_, i) => {
    const values = parts.map(part => part[i]);
    return values.some(v => v === null || v === undefined) ? null : Math.hypot(...(values as number[]));
  });
}
