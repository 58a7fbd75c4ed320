/** Puts values for Grafana's variables and macros into a query, as Grafana does before it asks. */

/** What is chosen for a variable: one value, any number of them, or all by the expression for all of them. */
export type Choice = string | readonly string[] | { readonly all: string };

/** What a viewer looks at. Times are epoch milliseconds. */
export interface View {
  readonly from: number;
  readonly to: number;
  /** Width of a point, as a panel's `interval` has it: `1m`. */
  readonly interval: string;
  readonly variables: Readonly<Record<string, Choice>>;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Variables in their short form, and with braces. */
const VARIABLE = /\$(\w+)|\$\{(\w+)\}/g;

/**
 * A query in InfluxQL. Variables come first: in a regular expression their values are escaped, several are
 * alternatives; the expression for all is put in as it is. Then the data source's own words.
 * Throws for a variable that has no value.
 */
export function influxQuery(query: string, view: View): string {
  const own: Readonly<Record<string, string>> = {
    timeFilter: `time >= ${view.from}ms and time <= ${view.to}ms`,
    __interval_ms: String(milliseconds(view.interval)),
    __interval: view.interval,
  };
  return query.replaceAll(VARIABLE, (found, short, braced, at) => {
    const name = String(short ?? braced);
    const word = own[name];
    if (word !== undefined) return word;
    return written(choiceOf(name, view), isInRegex(query, at), found);
  });
}

/** A query to Prometheus. `scrapeInterval` is that of the data source; a rate is taken over four of them at least. */
export function prometheusQuery(expr: string, view: View, scrapeInterval: string): string {
  const [step, scrape] = [milliseconds(view.interval), milliseconds(scrapeInterval)];
  const own: Readonly<Record<string, string>> = {
    __rate_interval: `${Math.max(step + scrape, 4 * scrape)}ms`,
    __interval: view.interval,
    __range: `${Math.round((view.to - view.from) / 1_000)}s`,
  };
  return expr.replaceAll(VARIABLE, (found, short, braced) => {
    const name = String(short ?? braced);
    return own[name] ?? written(choiceOf(name, view), true, found);
  });
}

/** What a variable offers: shown as `text`, put into queries as `value`. */
export interface Option {
  readonly text: string;
  readonly value: string;
}

/**
 * The options that a variable makes of the values of its query. An expression between slashes leaves out what does
 * not match; its groups `text` and `value`, in any order, are the two parts. Of options with one value the first stays.
 */
export function variableOptions(values: readonly string[], regex = ''): Option[] {
  const expression = new RegExp(/^\/(.*)\/$/.exec(regex)?.[1] ?? '');
  const options = new Map<string, Option>();
  for (const found of values) {
    const match = expression.exec(found);
    if (match === null) continue;
    const { value = found, text = value } = match.groups ?? {};
    if (!options.has(value)) options.set(value, { text, value });
  }
  return [...options.values()];
}

/** A width of Grafana's in milliseconds; throws for what is none. */
export function milliseconds(interval: string): number {
  const [, amount, unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(interval) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined) throw new Error(`${interval} is no width`);
  return Number(amount) * unitMs;
}

function choiceOf(name: string, { variables }: View): Choice {
  const value = variables[name];
  if (value === undefined) throw new Error(`the variable ${name} has no value`);
  return value;
}

function written(choice: Choice, inRegex: boolean, found: string): string {
  if (typeof choice === 'string') return inRegex ? escaped(choice) : choice;
  if ('all' in choice) return choice.all;
  if (!inRegex)
    throw new Error(`${found} may hold several values, and stands outside of a regular expression`);
  return `(${choice.map(escaped).join('|')})`;
}

/** Whether a place lies between the slashes of a regular expression. */
function isInRegex(query: string, at: number): boolean {
  return /[=!]~ *\/[^/]*$/.test(query.slice(0, at));
}

function escaped(value: string): string {
  return value.replaceAll(/[\\^$*+?.()|[\]{}/]/g, '\\$&');
}
