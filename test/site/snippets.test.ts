/** The snippets of docs/compatible.md for programs of others: each is read as its program reads it, and its requests are sent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { check, current, NOW, service, startApi } from './site-world.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../docs/compatible.md'), 'utf8');
const SITE = 'https://upbeat.example';

interface Homepage {
  readonly Services: readonly {
    readonly GitHub: {
      readonly href: string;
      readonly widget: { readonly url: string; readonly mappings: readonly { readonly field: unknown }[] };
    };
  }[];
}
interface Homer {
  readonly message: { readonly url: string; readonly mapping: Readonly<Record<string, string>> };
}
interface HomeAssistant {
  readonly rest: readonly {
    readonly resource: string;
    readonly sensor: readonly {
      readonly value_template: string;
      readonly json_attributes?: readonly string[];
    }[];
    readonly binary_sensor: readonly { readonly value_template: string }[];
  }[];
}

/** The first snippet that has the text, as data. */
function snippetWith<T>(mark: string): T {
  const found = [...TEXT.matchAll(/```yaml\n([\s\S]*?)```/g)].find(([, text = '']) =>
    text.includes(mark),
  )?.[1];
  return parseAllDocuments(found ?? '')[0]?.toJS() as T;
}

/** A member by a name, or by the path that nested objects are, as Homepage has it. */
function memberAt(value: unknown, path: unknown): unknown {
  if (typeof path === 'string') return (value as Record<string, unknown>)[path];
  const [[name = '', rest] = []] = Object.entries(path as object);
  return memberAt((value as Record<string, unknown>)[name], rest);
}

/** The name of the member that a template of Home Assistant shows or compares. */
function memberOf(template: string): string {
  return /^\{\{ value_json\.(\w+)(?: in \['up', 'slow'\])? \}\}$/.exec(template)?.[1] ?? '';
}

t.test('the snippets find what they show', async (t) => {
  const world = await startApi({ services: [service(1, 'github', { name: 'GitHub' })] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  const read = async (url: string) => {
    t.ok(url.startsWith(`${SITE}/`), url);
    const answer = await world.get(url.slice(SITE.length), { accept: 'application/json' });
    t.equal(answer.status, 200, url);
    t.equal(answer.headers.get('access-control-allow-origin'), '*');
    return answer;
  };

  const [, shields = ''] = /img\.shields\.io\/endpoint\?url=([^)]+)/.exec(TEXT) ?? [];
  t.match((await read(decodeURIComponent(shields))).json, {
    schemaVersion: 1,
    label: 'GitHub',
    message: 'Operational',
  });

  const [homepage] = snippetWith<readonly Homepage[]>('customapi');
  const { href, widget } = homepage?.Services[0]?.GitHub ?? { href: '', widget: { url: '', mappings: [] } };
  const shown = (await read(widget.url)).json;
  t.strictSame(
    widget.mappings.map(({ field }) => memberAt(shown, field)),
    ['up', 123, 200],
  );
  t.equal((await world.get(href.slice(SITE.length))).status, 200);

  const { message } = snippetWith<Homer>('message:');
  const page = (await read(message.url)).json;
  t.strictSame(
    Object.values(message.mapping).map((field) => memberAt(page, field)),
    ['GitHub', 'up'],
  );

  const { rest } = snippetWith<HomeAssistant>('value_template');
  for (const { resource, sensor, binary_sensor: reachable } of rest) {
    const status: object = (await read(resource)).json as object;
    const members = [...sensor, ...reachable].map(({ value_template: template }) => memberOf(template));
    t.strictSame(
      members.map((name) => memberAt(status, name)),
      ['up', 123, 'up'],
    );
    for (const name of sensor.flatMap(({ json_attributes: names = [] }) => names))
      t.ok(Object.hasOwn(status, name), name);
  }
});
