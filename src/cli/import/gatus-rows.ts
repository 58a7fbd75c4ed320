/** Prepares the configuration as Gatus does before it reads endpoints: files of a folder, variables, placeholders of bodies, and texts. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { conditionsOf, parseCondition } from './gatus-expectations.ts';
import { ImportError } from './kuma-database.ts';
import { asRow, asText, isEmpty, type LostField, namesIn, type Row } from './listed-service.ts';

/** Stands in front of a variable that is not set; no text of a configuration has it. */
const UNSET = '\uE000';

/** The text with the values of its variables; `$$` is a dollar sign. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(
    /\$(?:(\$)|\{([^{}\n]*)\}|(\w+))/g,
    (_, dollar?: string, inBraces?: string, name?: string) => {
      if (dollar !== undefined) return '$';
      const variable = inBraces ?? name ?? '';
      return variable === '' ? '' : (env[variable] ?? `${UNSET}{${variable}}`);
    },
  );
}

/** The variables of an entry that are not set. */
export function unsetIn(value: unknown): string[] {
  const found = JSON.stringify(value ?? null).matchAll(new RegExp(`${UNSET}\\{([^{}]*)\\}`, 'g'));
  return [...new Set([...found].map(([, name = '']) => name))];
}

/** Fields that Gatus decodes as texts, whatever they look like: `X-Mode: 0644`, `X-Version: 1.10`. */
const TEXTS = ['name', 'group', 'url', 'method', 'headers', 'body'];

/** An entry whose texts are as they stand in the file. `texts`: the entry with all of its values as texts. */
export function withTexts(row: Row, texts: Row): Row {
  const known = TEXTS.filter((field) => !isEmpty(row[field]));
  return { ...row, ...Object.fromEntries(known.map((field) => [field, textOf(row[field], texts[field])])) };
}

/** A value, or its members, as texts; null stays null. */
function textOf(value: unknown, text: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : text;
  const texts = asRow(text);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, textOf(one, texts[name])]));
}

/** Fields that Gatus decodes as booleans, as which it takes the words of YAML 1.1 too. */
const BOOLEANS = namesIn('enabled graphql insecure ignore-redirect send-on-resolved always-run');

/** The members of a row with such words as booleans. */
export function readBooleans(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      const word = BOOLEANS.has(field) && typeof value === 'string' ? value.toLowerCase() : '';
      if (['n', 'no', 'off', 'false'].includes(word)) return [field, false];
      return [field, ['y', 'yes', 'on', 'true'].includes(word) ? true : value];
    }),
  );
}

/** The body of an endpoint with what its placeholders stand for; those of each request stay. */
export function fillBody(row: Row): Row {
  if (typeof row.body !== 'string') return row;
  const values: Readonly<Record<string, unknown>> = { NAME: row.name, GROUP: row.group, URL: row.url };
  const body = row.body.replaceAll(
    /\[ENDPOINT_(NAME|GROUP|URL)\]/g,
    (_, name: string) => asText(values[name]) ?? '',
  );
  return { ...row, body };
}

/**
 * An endpoint as several: conditions on the certificate of a web page, the registration of the domain and the address are those of checks
 * of other kinds.
 */
export function splitEndpoint(row: Row): readonly Row[] {
  const address = URL.parse(asText(row.url) ?? '');
  const conditions = conditionsOf(row.conditions);
  if (address === null || address.hostname === '' || !isEmpty(row.dns)) return [row];
  const { insecure } = readBooleans(asRow(row.client));
  const { hostname, port } = address;
  const { name, group, enabled, interval, alerts, 'maintenance-windows': windows } = row;
  const common = Object.fromEntries(
    Object.entries({ group, enabled, interval, alerts, 'maintenance-windows': windows }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const others: Row[] = [];
  const take = (kind: string, more: Row, belongs: (text: string) => boolean) => {
    const taken = conditions.filter(belongs);
    // One that expects nothing else is read as what it is.
    if (taken.length === 0 || taken.length === conditions.length) return;
    others.push({ name: `${asText(name) ?? hostname} (${kind})`, ...common, ...more, conditions: taken });
  };
  const isAbout = (placeholder: string, text: string) => {
    const condition = parseCondition(text);
    return condition?.placeholder === placeholder && /^>=?$/.test(condition.operator) ? condition : null;
  };
  const isCertificate = (text: string) =>
    address.protocol === 'https:' && insecure !== true && isAbout('CERTIFICATE_EXPIRATION', text) !== null;
  const isRegistration = (text: string) => isAbout('DOMAIN_EXPIRATION', text) !== null;
  const family = (text: string) => {
    const condition = parseCondition(text);
    const isAddress = condition?.placeholder === 'IP' && condition.operator === '==' && condition.path === '';
    return isAddress ? isIP(condition.value) : 0;
  };
  take('certificate', { url: `tls://${hostname}:${port || 443}` }, isCertificate);
  take('domain', { url: `https://${hostname}/` }, isRegistration);
  for (const [version, record] of [
    [4, 'A'],
    [6, 'AAAA'],
  ] as const)
    take(
      'address',
      { dns: { 'query-name': hostname, 'query-type': record } },
      (text) => family(text) === version,
    );
  if (others.length === 0) return [row];
  const taken = new Set(others.flatMap((other) => conditionsOf(other.conditions)));
  return [
    { ...row, conditions: conditions.filter((text) => !taken.has(text)) },
    ...others.map((other) => ({
      ...other,
      conditions: conditionsOf(other.conditions).map((text) => text.replace('[IP]', '[BODY]')),
    })),
  ];
}

/** Maximum number of files of a folder, and of folders in each other. */
const MAX_FILES = 1_000;
const MAX_DEPTH = 20;

/** Returns true if a path is that of a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The texts of the YAML files of a folder and those in it, in the order in which Gatus reads them. Throws {@link ImportError}. */
export function readYamlFiles(folder: string): readonly { readonly file: string; readonly text: string }[] {
  const files = filesIn(folder, MAX_DEPTH).filter((file) => /\.ya?ml$/.test(file));
  if (files.length > MAX_FILES) throw new ImportError(`${folder} has more than ${MAX_FILES} YAML files`);
  return files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

/** The files of a folder, without those that Kubernetes keeps beside the files of a volume: they begin with two dots. */
function filesIn(folder: string, depth: number): string[] {
  if (depth === 0) throw new ImportError(`${folder} is too deep a folder`);
  return readdirSync(folder)
    .filter((name) => !name.startsWith('..'))
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return isFolder(path) ? filesIn(path, depth - 1) : [path];
    });
}

/** Joins the contents of the files: lists one after the other, other members once. `lost`: those of which the first one counts. */
export function joinContents(contents: readonly unknown[]): {
  readonly root: Row;
  readonly lost: readonly LostField[];
} {
  const lost: LostField[] = [];
  const join = (first: unknown, second: unknown, field: string): unknown => {
    if (first === undefined || first === null) return second;
    if (second === undefined || second === null) return first;
    if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
    if (isMap(first) && isMap(second)) {
      const names = new Set([...Object.keys(first), ...Object.keys(second)]);
      return Object.fromEntries(
        [...names].map((name) => [
          name,
          join(first[name], second[name], field === '' ? name : `${field}.${name}`),
        ]),
      );
    }
    lost.push({ field, reason: 'several files have it, and the first one counts' });
    return first;
  };
  const root = contents.reduce((all, one) => join(all, one, ''), {});
  return { root: isMap(root) ? root : {}, lost };
}

function isMap(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
