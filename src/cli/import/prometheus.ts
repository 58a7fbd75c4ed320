/** Prometheus: jobs that probe targets by blackbox_exporter, and lists of targets. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseDuration } from '../../domain/durations.ts';
import { readYaml } from '../../yaml-file.ts';
import { findModule, readProbe } from './blackbox.ts';
import { Collection, type DocumentReader, type ImportReading, WHOLE_FILE } from './listed-content.ts';
import {
  asRow,
  asText,
  goDurationMs,
  isEmpty,
  listOf,
  quote,
  type Row,
  withNote,
  withTimes,
} from './listed-service.ts';

type Labels = Readonly<Record<string, string>>;

interface Target {
  /** The name of its job; null: it is of a list alone. */
  readonly job: string | null;
  readonly labels: Labels;
  readonly scrape: Row;
}

/** Reads `scrape_configs`, with the modules of `blackbox.yml` and the lists of targets that it names. */
export const prometheus: DocumentReader = {
  expected: '"scrape_configs" (Prometheus)',
  recognises: (root, document) => Array.isArray(root.scrape_configs) || isJobs(document),
  read: ({ root, document, fileName }) =>
    readJobs(isJobs(document) ? { scrape_configs: document } : root, dirname(resolve(fileName))),
};

/** Reads a list of targets, as `file_sd_configs` name it. */
export const prometheusTargets: DocumentReader = {
  expected: 'a list with "targets" (Prometheus)',
  recognises: (_root, document) => isTargets(document),
  read({ document }) {
    const collector = new Collection();
    for (const labels of targetsOf(document)) readTarget({ job: null, labels, scrape: {} }, {}, collector);
    return collector.reading('prometheus');
  },
};

/** The configuration in a folder; null: there is none. */
export function findPrometheus(folder: string): string | null {
  return globSync(join(folder, 'prometheus.{yml,yaml}'))[0] ?? null;
}

/** Returns true for jobs alone, as other configurations take them in. */
function isJobs(document: unknown): document is readonly unknown[] {
  return Array.isArray(document) && document.length > 0 && document.every((one) => 'job_name' in asRow(one));
}

function isTargets(document: unknown): document is readonly unknown[] {
  return (
    Array.isArray(document) &&
    document.length > 0 &&
    document.every((one) => Array.isArray(asRow(one).targets))
  );
}

function targetsOf(groups: unknown): Labels[] {
  return (Array.isArray(groups) ? groups : []).map(asRow).flatMap(({ targets, labels }) =>
    (listOf(targets) ?? []).flatMap((target) => {
      const address = asText(target);
      const own = Object.entries(asRow(labels)).map(([name, value]) => [name, String(value ?? '')] as const);
      return address === null ? [] : [{ ...Object.fromEntries(own), __address__: address }];
    }),
  );
}

function readJobs(root: Row, folder: string): ImportReading {
  const collector = new Collection();
  const modules = isEmpty(root.modules) ? modulesIn(folder) : asRow(root.modules);
  const global = asRow(root.global);
  for (const [index, given] of (listOf(root.scrape_configs) ?? []).entries()) {
    const job = asRow(given);
    const name = asText(job.job_name) ?? `job ${index + 1}`;
    if (asText(job.metrics_path) !== '/probe') {
      collector.lose(
        name,
        'scrape_configs',
        'it collects metrics, and probes nothing by /probe of blackbox_exporter',
      );
      continue;
    }
    readJob(name, { ...global, ...job }, { folder, modules, collector });
  }
  if (!isEmpty(root.rule_files) || !isEmpty(root.alerting))
    collector.lose(WHOLE_FILE, 'alerting', 'add channels and rules (docs/alerts.md)');
  return collector.reading('prometheus');
}

/** The modules of the file of blackbox_exporter in a folder; none if there is no such file. */
function modulesIn(folder: string): Row {
  const [file] = globSync(join(folder, '{blackbox,blackbox_exporter,blackbox-exporter}.{yml,yaml}'));
  return file === undefined ? {} : asRow(asRow(readDocument(file)).modules);
}

/** A document in YAML or JSON; null: it cannot be read. */
function readDocument(file: string): unknown {
  try {
    const { content, problems } = readYaml(readFileSync(file, 'utf8'), file);
    return problems.length === 0 ? content : null;
  } catch {
    return null;
  }
}

interface Place {
  readonly folder: string;
  readonly modules: Row;
  readonly collector: Collection;
}

function readJob(name: string, job: Row, { folder, modules, collector }: Place): void {
  const groups = (listOf(job.static_configs) ?? []).map(asRow);
  const files = (listOf(job.file_sd_configs) ?? []).map(asRow).flatMap((one) => listOf(one.files) ?? []);
  const found = files.flatMap((pattern) => {
    const matched = globSync(resolve(folder, String(pattern)));
    if (matched.length === 0)
      collector.lose(name, 'file_sd_configs', `there is no file ${quote(String(pattern))}`);
    return matched.flatMap((file) => {
      const content = readDocument(file);
      if (!Array.isArray(content)) collector.lose(name, 'file_sd_configs', `${quote(file)} holds no list`);
      return targetsOf(content);
    });
  });
  for (const field of Object.keys(job))
    if (field.endsWith('_sd_configs') && field !== 'file_sd_configs' && !isEmpty(job[field]))
      collector.lose(name, field, 'targets that are found while it runs are not in the file');
  const params = Object.entries(asRow(job.params)).flatMap(([param, values]) => {
    const value = asText((listOf(values) ?? [values])[0]);
    return value === null ? [] : [[`__param_${param}`, value] as const];
  });
  const rules = (listOf(job.relabel_configs) ?? []).map(asRow);
  for (const given of [...targetsOf(groups), ...found]) {
    const labels = relabel({ job: name, ...Object.fromEntries(params), ...given }, rules);
    if (labels === null) continue;
    if ('problem' in labels) collector.add(given.__address__ ?? name, {}, labels);
    else readTarget({ job: name, labels: labels.labels, scrape: job }, modules, collector);
  }
}

function readTarget({ job, labels, scrape }: Target, modules: Row, collector: Collection): void {
  const address = labels.__address__ ?? '';
  // Without a job, the address is what is probed.
  const target = labels.__param_target ?? (job === null ? address : '');
  const entry = labels.name || labels.instance || target || address;
  const given = labels.__param_module ?? (job === null ? labels.module : undefined);
  if (target === '') {
    collector.add(entry, {}, { problem: 'no rule of relabel_configs makes it the target of a probe' });
    return;
  }
  if (job === null && given === undefined && !/^https?:\/\/[^\s;,|]+$/.test(target)) {
    collector.add(
      entry,
      {},
      {
        problem: 'the list does not tell how it is checked: import the prometheus.yml that names it',
      },
    );
    return;
  }
  const moduleName = given ?? 'http_2xx';
  const module = findModule(moduleName, modules);
  if (module === null) {
    collector.add(
      entry,
      {},
      {
        problem: `module ${quote(moduleName)} is not in the file, and its name does not tell what it checks: put blackbox.yml beside it`,
      },
    );
    return;
  }
  if (job === null && given === undefined)
    collector.lose(entry, 'module', 'the list does not name one, so that of web pages counts, http_2xx');
  const tags = Object.entries(labels)
    .filter(([label]) => !label.startsWith('__') && !['job', 'instance', 'name', 'module'].includes(label))
    .map(([label, value]) => `${label}: ${value}`);
  collector.add(
    entry,
    {},
    withNote(withTimes(readProbe(target, module, { name: entry }), timesOf(scrape, module)), [
      job === null ? '' : `Job: ${job}`,
      tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`,
    ]),
  );
}

const USUAL_INTERVAL_MS = 60_000;
const USUAL_TIMEOUT_MS = 10_000;

/** The times of a job, whose timeout bounds that of the module. */
function timesOf(scrape: Row, module: Row) {
  const own = durationMs(module.timeout);
  if (isEmpty(scrape)) return own === null ? {} : { timeout: `${own}ms` };
  const intervalMs = durationMs(scrape.scrape_interval) ?? USUAL_INTERVAL_MS;
  const scrapeMs = durationMs(scrape.scrape_timeout) ?? USUAL_TIMEOUT_MS;
  return { interval: `${intervalMs}ms`, timeout: `${Math.min(own ?? scrapeMs, scrapeMs, intervalMs)}ms` };
}

function durationMs(value: unknown): number | null {
  const text = asText(value);
  return text === null ? null : (goDurationMs(text) ?? parseDuration(text));
}

/** The labels of a target after the rules; null: they drop it. */
function relabel(
  given: Labels,
  rules: readonly Row[],
): { readonly labels: Labels } | { readonly problem: string } | null {
  const labels: Record<string, string> = { ...given };
  for (const rule of rules) {
    const action = (asText(rule.action) ?? 'replace').toLowerCase();
    const sources = (listOf(rule.source_labels) ?? []).map((label) => labels[String(label)] ?? '');
    const text = sources.join(typeof rule.separator === 'string' ? rule.separator : ';');
    const expression = compile(String(rule.regex ?? '(.*)'));
    if (expression === null || !KNOWN_ACTIONS.has(action))
      return { problem: `its relabeling ${quote(String(rule.regex ?? action))} cannot be read` };
    const match = expression.exec(text);
    if ((action === 'keep' && match === null) || (action === 'drop' && match !== null)) return null;
    const label = asText(rule.target_label);
    if (action === 'labelmap') {
      for (const [name, value] of Object.entries(labels)) {
        const found = expression.exec(name);
        if (found !== null) labels[fill(asReplacement(rule.replacement), found)] = value;
      }
    } else if (action === 'lowercase' && label !== null) labels[label] = text.toLowerCase();
    else if (action === 'replace' && match !== null && label !== null) {
      const value = fill(asReplacement(rule.replacement), match);
      if (value === '') delete labels[label];
      else labels[label] = value;
    }
  }
  return { labels };
}

/** `labeldrop` and `labelkeep` concern labels that the check does not have. */
const KNOWN_ACTIONS = new Set(['replace', 'keep', 'drop', 'labelmap', 'lowercase', 'labeldrop', 'labelkeep']);

function asReplacement(value: unknown): string {
  return value === undefined ? '$1' : String(value ?? '');
}

/** An expression of Go that must match all of a text; null: it cannot be read. */
function compile(expression: string): RegExp | null {
  const insensitive = expression.startsWith('(?i)');
  const body = (insensitive ? expression.slice(4) : expression).replaceAll('(?P<', '(?<');
  try {
    return new RegExp(`^(?:${body})$`, insensitive ? 'is' : 's');
  } catch {
    return null;
  }
}

/** A replacement with what groups have matched: `$1`, `${1}` and `${name}`. */
function fill(replacement: string, match: RegExpExecArray): string {
  return replacement.replaceAll(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, inBraces?: string, plain?: string) => {
    if (whole === '$$') return '$';
    const name = inBraces ?? plain ?? '';
    return (/^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name]) ?? '';
  });
}
