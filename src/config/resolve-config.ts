/** The configuration as the program uses it: durations in milliseconds under names that say so, blocks canonical. */
import type { TSchema } from '@sinclair/typebox';
import { SETTINGS, type Setting } from './environment.ts';
import { FORMATS } from './formats.ts';
import { CONFIG_SCHEMA, type ConfigText, type DurationText } from './schema.ts';

/** A part of the configuration resolved: `interval: '5m'` is `intervalMs: 300000`; everything is readonly. */
type Resolved<T> = T extends DurationText
  ? number
  : T extends readonly (infer Item)[]
    ? readonly Resolved<Item>[]
    : T extends object
      ? {
          readonly [Name in keyof T as T[Name] extends DurationText | DurationText[]
            ? `${Name & string}Ms`
            : Name]: Resolved<T[Name]>;
        }
      : T;

/**
 * All settings, resolved. Durations are whole milliseconds, `http.siteUrl` has no slash at its end, and blocks
 * (`http.trustedProxies`, `checks.allowPrivate`) are canonical text with a prefix length, so that they cross to threads.
 */
export type Config = Resolved<ConfigText>;

/** Turns a checked configuration into the form that the program uses. */
export function resolveConfig(text: ConfigText): Config {
  return resolve(text, CONFIG_SCHEMA) as Config;
}

function resolve(value: unknown, schema: TSchema): unknown {
  if (value === null) return null;
  if (schema.format !== undefined) return FORMATS[schema.format]?.read(value as string);
  if (schema.type === 'array')
    return (value as unknown[]).map((item) => resolve(item, schema.items as TSchema));
  if (schema.type !== 'object') return value;
  const members = schema.properties as Record<string, TSchema>;
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => name in (value as object))
      .map(([name, member]) => [
        resolvedName(name, member),
        resolve((value as Record<string, unknown>)[name], member),
      ]),
  );
}

function resolvedName(name: string, schema: TSchema): string {
  return schema.format === 'duration' || schema.items?.format === 'duration' ? `${name}Ms` : name;
}

/** A setting whose value differs, by path, and whether a running program takes the new one. */
export interface ConfigChange {
  readonly path: string;
  /** False: it waits for a restart. */
  readonly reloadable: boolean;
}

/** Compares two configurations, setting by setting, in the order of the schema. */
export function changedSettings(before: Config, after: Config): ConfigChange[] {
  return SETTINGS.filter(
    (setting) =>
      JSON.stringify(settingValue(before, setting)) !== JSON.stringify(settingValue(after, setting)),
  ).map(({ path, schema }) => ({ path: path.join('.'), reloadable: schema.reloadable === true }));
}

function settingValue(config: Config, { path, schema }: Setting): unknown {
  const names = [...path.slice(0, -1), resolvedName(path.at(-1) ?? '', schema)];
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], config);
}
