/** Colours of statuses, as people of every colour vision see them. */
import t from 'tap';
import { COLOURS, STATUS_COLOURS, STATUS_NUMBERS, statusMappings } from '../../grafana/status-colours.ts';
import { SERVICE_STATUSES } from '../../src/domain/status.ts';

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** What is left of linear red, green and blue without one kind of cones (Machado, Oliveira and Fernandes, 2009). */
const VISIONS: Readonly<Record<string, Matrix>> = {
  ordinary: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const TO_XYZ: Matrix = [
  [0.4124, 0.3576, 0.1805],
  [0.2126, 0.7152, 0.0722],
  [0.0193, 0.1192, 0.9505],
];
const WHITE: Triple = [0.9505, 1, 1.089];
/** Ten is seen at a glance; areas that lie beside each other want more. */
const MIN_DISTANCE = 20;

t.test('it shows statuses in colours that everybody tells apart', async (t) => {
  for (const [vision, matrix] of Object.entries(VISIONS))
    for (const [index, one] of SERVICE_STATUSES.entries())
      for (const other of SERVICE_STATUSES.slice(index + 1)) {
        const distance = distanceOf(seen(STATUS_COLOURS[one], matrix), seen(STATUS_COLOURS[other], matrix));
        t.ok(distance > MIN_DISTANCE, `${one} and ${other}, ${vision}: ${distance.toFixed(0)}`);
      }
  t.equal(new Set(Object.values(COLOURS)).size, Object.keys(COLOURS).length);
});

t.test('it shows each status by a word, as a number and as the word of an event', async (t) => {
  const [mapping] = statusMappings();
  const options = (mapping?.options ?? {}) as Readonly<Record<string, { text: string; color: string }>>;
  t.same(
    SERVICE_STATUSES.map((status) => [options[status]?.text, options[status]?.color]),
    [
      ['Operational', STATUS_COLOURS.up],
      ['Slow', STATUS_COLOURS.slow],
      ['Down', STATUS_COLOURS.down],
      ['Unknown', STATUS_COLOURS.unknown],
    ],
  );
  for (const status of SERVICE_STATUSES)
    t.equal(options[STATUS_NUMBERS[status]]?.text, options[status]?.text, status);
});

/** A colour as it is perceived, in CIE L*a*b*. */
function seen(hex: string, vision: Matrix): Triple {
  const linear = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const xyz = times(TO_XYZ, times(vision, linear as unknown as Triple));
  const [x, y, z] = xyz.map((value, at) => Math.cbrt(Math.max(0, value) / (WHITE[at] ?? 1)));
  return [116 * (y ?? 0) - 16, 500 * ((x ?? 0) - (y ?? 0)), 200 * ((y ?? 0) - (z ?? 0))];
}

function times(matrix: Matrix, [a, b, c]: Triple): Triple {
  const [first, second, third] = matrix.map(([x, y, z]) => x * a + y * b + z * c);
  return [first ?? 0, second ?? 0, third ?? 0];
}

function distanceOf(one: Triple, other: Triple): number {
  return Math.hypot(...one.map((value, at) => value - (other[at] ?? 0)));
}
