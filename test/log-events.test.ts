/** The names of warnings and errors: every line has one, and docs/runbook.md says what each means. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventOf, LOG_EVENTS, NAMED_EVENTS } from '../src/log-events.ts';
import { READINESS_PARTS } from '../src/view/monitor.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The arguments of every warning and error in the sources. */
function loggedLines(): { readonly file: string; readonly args: string }[] {
  return globSync('{src,workers}/**/*.ts', { cwd: ROOT })
    .filter((file) => !['src/log.ts', 'src/log-events.ts'].includes(file))
    .flatMap((file) => {
      const text = read(file);
      return [...text.matchAll(/\blog\??\.(?:warn|error)\(/g)].map(({ 0: head, index }) => ({
        file,
        args: text
          .slice(index + head.length, endOfCall(text, index + head.length))
          .trim()
          .replace(/,$/, ''),
      }));
    });
}

/** Where the parenthesis closes that is open at `from`; strings may contain others. */
function endOfCall(text: string, from: number): number {
  let depth = 1;
  let quote = '';
  let at = from;
  for (; depth > 0 && at < text.length; at++) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
    } else if (`'"\``.includes(character)) quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
  }
  return at - 1;
}

/** The event of a line: its own, or that of its sentence, which is a literal or a constant of the file; null: none. */
function eventOfLine({ file, args }: { readonly file: string; readonly args: string }): string | null {
  const [, own] = /\bevent: '(\w+)'/.exec(args) ?? [];
  if (own !== undefined) return own;
  const [, constant] = /, ([A-Z_]+)$/.exec(args) ?? [];
  const literal =
    constant === undefined ? args : new RegExp(`const ${constant} = (.*?);\\n`, 's').exec(read(file))?.[1];
  const [, , sentence = ''] = /(['"`])((?:(?!\1)[^\\]|\\.)*)\1$/s.exec(literal?.trim() ?? '') ?? [];
  return eventOf(sentence.replaceAll(/\$\{[^}]*\}/g, 'x'));
}

const lines = loggedLines();

t.test('every warning and every error in the sources has an event', async (t) => {
  t.ok(lines.length > 80);
  const without = lines.filter((line) => eventOfLine(line) === null);
  t.strictSame(without, []);
});

t.test('every event is in the sources', async (t) => {
  const used = new Set(lines.map(eventOfLine));
  const names = [...Object.keys(LOG_EVENTS), ...NAMED_EVENTS];
  t.strictSame(
    names.filter((name) => !used.has(name)),
    [],
  );
  t.strictSame(
    [...used].filter((name) => !names.includes(String(name))),
    [],
  );
  t.equal(new Set(Object.values(LOG_EVENTS)).size, Object.keys(LOG_EVENTS).length, 'no sentence has two');
});

const runbook = read('docs/runbook.md');
/** Names in the first cells of the rows of a section of the runbook. */
const rowsOf = (section: string) =>
  [...(runbook.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| ([\w`, ]+) \|/gm)]
    .flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
    .filter((name) => !['alert', 'event', 'part'].includes(name));

t.test('the runbook says what each event means, and knows no other', async (t) => {
  t.strictSame(rowsOf('By event').sort(), [...Object.keys(LOG_EVENTS), ...NAMED_EVENTS].sort());
});

t.test('the runbook says what each part of /readyz means, and names metrics that exist', async (t) => {
  const section = 'By part of `/readyz`';
  t.strictSame(rowsOf(section).sort(), ['prober', ...READINESS_PARTS].sort());
  const sources = globSync('src/{metrics,main,site}/**/*.ts', { cwd: ROOT }).map(read).join('\n');
  const named = [
    ...(runbook.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/`(upbeat_\w+)/g),
  ];
  t.ok(named.length >= READINESS_PARTS.length);
  t.strictSame(
    named.map(([, name = '']) => name).filter((name) => !sources.includes(name)),
    [],
  );
});

t.test('each state that is worse than usual has an event, a metric and a line in /readyz', async (t) => {
  const heading = '\n## What is dropped, refused, tried again or worse than usual\n';
  const [, section = ''] = read('docs/reliability.md').split(heading);
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (?!event |---).*$/gm)].map(([row]) =>
    row.split('|').map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)),
  );
  t.ok(rows.length > 25);
  const sources = globSync('src/metrics/*.ts', { cwd: ROOT }).map(read).join('\n');
  const parts: readonly string[] = ['prober', ...READINESS_PARTS];
  for (const [, events = [], metrics = [], part = []] of rows) {
    t.ok(events.length > 0 && metrics.length > 0, events.join());
    t.same(
      events.filter((name) => !(name in LOG_EVENTS) && !NAMED_EVENTS.some((named) => named === name)),
      [],
    );
    t.same(
      metrics.filter((name) => !sources.includes(`'${name}'`)),
      [],
    );
    t.same(
      part.filter((name) => !parts.includes(name)),
      [],
    );
  }
});

t.test('the runbook says what to do about each alert that is shipped', async (t) => {
  const shipped = ['deploy/alerts.yaml', 'deploy/service-alerts.yaml'].flatMap((file) =>
    [...read(file).matchAll(/- alert: (\w+)/g)].map(([, name]) => name),
  );
  t.ok(shipped.length > 20);
  t.strictSame(rowsOf('By alert').sort(), shipped.sort());
});

t.test('it finds the event of a sentence, also where a part of it varies', async (t) => {
  t.equal(eventOf('the registry thread ended'), 'registry_thread_ended');
  t.equal(eventOf('the samples thread ended'), 'store_thread_ended');
  t.equal(eventOf('the prober is offline: a.b (c); nothing is marked down'), 'prober_offline');
  t.equal(eventOf('all is well'), null);
});
