/**
 * Colours and words of statuses. The colours are Okabe and Ito's, which people of every colour vision tell apart; each
 * goes with its word, so that nobody needs them.
 */
import {
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { SERVICE_STATUSES, type ServiceStatus } from '../src/domain/status.ts';

/** Okabe and Ito's colours by name. */
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

/** Shows the number of a status, and the words of events, as a word with its colour. */
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

/** Steps of good, worse and bad; each begins at its value. `null`: from the lowest on. */
export function steps(
  ...list: readonly (readonly [from: number | null, color: string])[]
): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(list.map(([value, color]): Threshold => ({ value, color })));
}

/** Latency in milliseconds: slow is over three seconds (contract 3). */
export const latencySteps = () =>
  steps([null, COLOURS.green], [1_000, COLOURS.yellow], [3_000, COLOURS.vermillion]);

/** Uptime as a ratio. */
export const uptimeSteps = () =>
  steps([null, COLOURS.vermillion], [0.99, COLOURS.yellow], [0.999, COLOURS.green]);

/** Zero is good; one or more has the other colour. */
export const noneSteps = (otherwise: string = COLOURS.vermillion) =>
  steps([null, COLOURS.green], [1, otherwise]);

/** Few are good, `some` are worse, `many` are bad. */
export const countSteps = (some: number, many: number) =>
  steps([null, COLOURS.green], [some, COLOURS.yellow], [many, COLOURS.vermillion]);

/** One colour, whatever the value. */
export const plainSteps = (colour: string) => steps([null, colour]);

/** Days until a certificate runs out: two weeks are few. */
export const certificateSteps = () =>
  steps([null, COLOURS.vermillion], [7, COLOURS.yellow], [14, COLOURS.green]);
