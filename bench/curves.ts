/** The curves of `docs/performance.md` as SVG, drawn from the rows of a run. What was not measured is left out. */
import type { BenchRow } from './row.ts';
import { FIGURES, nameOf, SIZES } from './sizes.ts';

const WIDTH = 760;
const HEIGHT = 360;
/** The area of the figures within the picture, pixels. */
const AREA = { left: 70, top: 56, right: 740, bottom: 300 };
const INK = '#1f2937';
const PALE = '#d1d5db';

/** Who was measured, by the end of the name of its rows. */
const SUBJECTS = [
  { label: 'Upbeat', ending: 'beside node:net', colour: '#2563eb' },
  { label: 'node:net by hand', ending: 'node:net by hand (floor)', colour: '#6b7280' },
  { label: 'blackbox_exporter', ending: 'blackbox_exporter (peer)', colour: '#c2410c' },
] as const;

/** Errors in milliseconds at which the axis has a line. */
const ERROR_TICKS = [0.1, 1, 10, 100, 1_000];

/** The error of the reported latency by the rate of checks; both axes are logarithmic. */
export function drawErrors(rows: readonly BenchRow[]): string {
  const rates = [...new Set(rows.flatMap(({ name }) => readRate(name) ?? []))].toSorted((a, b) => a - b);
  const [slowest = 1, fastest = 10] = [rates[0], rates.at(-1)];
  const x = (rate: number) => place(Math.log(rate / slowest) / Math.log(fastest / slowest), 'across');
  const y = (ms: number) => place((Math.log10(Math.min(1_000, Math.max(0.1, ms))) + 1) / 4, 'up');
  const lines = SUBJECTS.flatMap(({ ending, colour }) =>
    (['mean', 'p99'] as const).map((figure) => {
      const points = rates.flatMap((rate) => {
        const name = `truth: ${figure} error at ${rate.toLocaleString('en')}/s, ${ending}`;
        const value = rows.find((row) => row.name === name)?.value ?? null;
        return value === null ? [] : [[x(rate), y(value)] as const];
      });
      const dash = figure === 'mean' ? ' stroke-dasharray="5 4"' : '';
      const path = points.map((point) => point.join(',')).join(' ');
      const dots = points
        .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`)
        .join('');
      return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>${dots}`;
    }),
  );
  return picture('Error of the reported latency: p99 (solid) and mean (dashed)', [
    ...ERROR_TICKS.map((ms) => grid(y(ms), `${ms.toLocaleString('en')} ms`)),
    ...rates.map((rate) => text(x(rate), AREA.bottom + 20, `${rate.toLocaleString('en')}/s`, 'middle')),
    text((AREA.left + AREA.right) / 2, AREA.bottom + 44, 'checks a second', 'middle'),
    legend(SUBJECTS),
    ...lines,
  ]);
}

function readRate(name: string): number | null {
  const rate = /^truth: p99 error at ([\d,]+)\/s, /.exec(name)?.[1];
  return rate === undefined ? null : Number(rate.replaceAll(',', ''));
}

/** The bars of a protocol, by the start of their rows' names. */
function costsOf(protocol: 'HTTP' | 'HTTPS'): readonly (readonly [label: string, start: string])[] {
  return [
    ['wrk', 'wrk, Connection: close (floor in C)'],
    [protocol === 'HTTP' ? 'node:net' : 'node:tls', 'node:'],
    ['undici', 'undici, one Agent'],
    ['Upbeat, whole engine', 'whole engine, beside'],
    ['blackbox_exporter', 'blackbox_exporter'],
  ];
}

/** CPU time of a check by HTTP and HTTPS, as bars. */
export function drawCosts(rows: readonly BenchRow[]): string {
  const bars = (['HTTP', 'HTTPS'] as const).flatMap((protocol) =>
    costsOf(protocol).flatMap(([label, start]) => {
      const row = rows.find(
        ({ name, unit }) => name.startsWith(`${protocol}: ${start}`) && unit.includes('CPU'),
      );
      return row === undefined || row.value === null ? [] : [{ protocol, label, us: row.value }];
    }),
  );
  const most = Math.max(1, ...bars.map(({ us }) => us));
  const step = (AREA.bottom - AREA.top) / Math.max(1, bars.length);
  const left = 200;
  return picture(
    'CPU time of a check on a new connection, µs',
    bars.flatMap(({ protocol, label, us }, index) => {
      const top = AREA.top + index * step;
      const width = ((AREA.right - 60 - left) * us) / most;
      const colour = label.startsWith('Upbeat') ? SUBJECTS[0].colour : '#9ca3af';
      const middle = top + step / 2 + 3;
      return [
        text(left - 8, middle, `${protocol}: ${label}`, 'end'),
        `<rect x="${left}" y="${round(top + 2)}" width="${round(width)}" height="${round(step - 6)}" fill="${colour}"/>`,
        text(left + width + 6, middle, us.toFixed(0), 'start'),
      ];
    }),
  );
}

/** Times of {@link drawSizes} at which the axis has a line, milliseconds. */
const SIZE_TICKS = [1, 10, 100, 1_000, 10_000, 100_000];

/** The curves of {@link drawSizes}, by the name of the figure. */
const SIZE_CURVES = [
  { label: 'ready', name: 'ready', colour: '#2563eb' },
  { label: 'change of 1,000', name: 'a change of 1,000 entries of the catalogue', colour: '#c2410c' },
  { label: 'first search', name: 'search', colour: '#7c3aed' },
  { label: 'home page', name: 'home page', colour: '#059669' },
  { label: 'page of the list', name: 'page of the list', colour: '#db2777' },
  { label: 'a status', name: 'a status', colour: '#6b7280' },
] as const;

/** What grows with the fleet: times by the number of services; both axes are logarithmic. */
export function drawSizes(rows: readonly BenchRow[]): string {
  const x = (services: number) => place(Math.log10(services / SIZES[0]) / 3, 'across');
  const y = (ms: number) => place(Math.log10(Math.max(1, ms)) / 5, 'up');
  const lines = SIZE_CURVES.map(({ name, colour }) => {
    const perUnit = FIGURES.find((figure) => figure.name === name)?.unit === 's' ? 1_000 : 1;
    const points = SIZES.flatMap((services) => {
      const value = rows.find((row) => row.name === nameOf(services, name))?.value ?? null;
      return value === null ? [] : [[x(services), y(value * perUnit)] as const];
    });
    const dots = points
      .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`)
      .join('');
    const path = points.map((point) => point.join(',')).join(' ');
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}`;
  });
  return picture('What grows with the fleet', [
    ...SIZE_TICKS.map((ms) => grid(y(ms), ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`)),
    ...SIZES.map((services) => text(x(services), AREA.bottom + 20, services.toLocaleString('en'), 'middle')),
    text((AREA.left + AREA.right) / 2, AREA.bottom + 44, 'services', 'middle'),
    legend(SIZE_CURVES, 112),
    ...lines,
  ]);
}

function picture(title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="${INK}">
<title>${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="20" y="26" font-size="15" font-weight="bold">${title}</text>
${parts.join('\n')}
</svg>
`;
}

function legend(
  subjects: readonly { readonly label: string; readonly colour: string }[],
  widthOfOne = 170,
): string {
  return subjects
    .map(
      ({ label, colour }, index) =>
        `<rect x="${AREA.left + index * widthOfOne}" y="37" width="10" height="10" fill="${colour}"/>${text(AREA.left + 16 + index * widthOfOne, 46, label, 'start')}`,
    )
    .join('');
}

function grid(y: number, label: string): string {
  const line = `<line x1="${AREA.left}" x2="${AREA.right}" y1="${y}" y2="${y}" stroke="${PALE}"/>`;
  return line + text(AREA.left - 8, y + 4, label, 'end');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${content}</text>`;
}

/** A part of the way along an axis as pixels. */
function place(part: number, axis: 'across' | 'up'): number {
  return axis === 'across'
    ? round(AREA.left + 30 + part * (AREA.right - AREA.left - 60))
    : round(AREA.bottom - part * (AREA.bottom - AREA.top));
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
