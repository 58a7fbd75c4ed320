/**
 * Colours, numbers and labels of statuses, and thresholds. The colours are those of Okabe and Ito, which can be
 * distinguished with every kind of colour vision.
 */
import {
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { SERVICE_STATUSES, type ServiceStatus } from '../src/domain/status.ts';

/** Colours by name. */
export const COLOURS = {
  blue: '#0072B2',
  sky: '#56B4E9',
  green: '#009E73',
  yellow: '#F0E442',
  orange: '#E69F00',
  vermillion: '#D55E00',
  purple: '#CC79A7',
  grey: '#C0C0C0',
} as const;

/** Colour of each status. */
export const STATUS_COLOURS: Readonly<Record<ServiceStatus, string>> = {
  up: COLOURS.green,
  slow: COLOURS.yellow,
  down: COLOURS.vermillion,
  unknown: COLOURS.grey,
};

/** Number of each status in InfluxDB (docs/influxdb.md). */
export const STATUS_NUMBERS: Readonly<Record<ServiceStatus, number>> = {
  up: 0,
  slow: 1,
  down: 2,
  unknown: 3,
};

const WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'Operational',
  slow: 'Slow',
  down: 'Down',
  unknown: 'Unknown',
};

/** Maps the number or the word of a status to its label and colour. */
export function statusMappings(): ValueMapping[] {
  const byNumber = SERVICE_STATUSES.map((status) => [String(STATUS_NUMBERS[status]), status] as const);
  const byWord = SERVICE_STATUSES.map((status) => [status, status] as const);
  return [
    {
      type: MappingType.ValueToText,
      options: Object.fromEntries(
        [...byNumber, ...byWord].map(([value, status], index) => [
          value,
          { text: WORDS[status], color: STATUS_COLOURS[status], index },
        ]),
      ),
    },
  ];
}

/** Thresholds; each colour applies from its value on, null: from the lowest. */
export function steps(
  ...list: readonly (readonly [from: number | null, color: string])[]
): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(list.map(([value, color]): Threshold => ({ value, color })));
}

/** Thresholds of latency in milliseconds; slow is over three seconds (contract 3). */
export const latencySteps = () =>
  steps([null, COLOURS.green], [1_000, COLOURS.yellow], [3_000, COLOURS.vermillion]);

/** {@link latencySteps} in seconds. */
export const responseSteps = () => steps([null, COLOURS.green], [1, COLOURS.yellow], [3, COLOURS.vermillion]);

/** Thresholds of the uptime ratio. */
export const uptimeSteps = () =>
  steps([null, COLOURS.vermillion], [0.99, COLOURS.yellow], [0.999, COLOURS.green]);

/** Thresholds: zero is green, more has the other colour. */
export const noneSteps = (otherwise: string = COLOURS.vermillion) =>
  steps([null, COLOURS.green], [1, otherwise]);

/** Thresholds: yellow from `some`, red from `many`. */
export const countSteps = (some: number, many: number) =>
  steps([null, COLOURS.green], [some, COLOURS.yellow], [many, COLOURS.vermillion]);

/** One colour for all values. */
export const plainSteps = (colour: string) => steps([null, colour]);

/** Thresholds of the days until a certificate expires. */
export const certificateSteps = () =>
  steps([null, COLOURS.vermillion], [7, COLOURS.yellow], [14, COLOURS.green]);
