/** The types that openapi-typescript makes of the document: they compile, and a client that is typed by them works. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypes, { type OpenAPI3 } from 'openapi-typescript';
import t from 'tap';
import { check, current, incident, NOW, service, startApi } from '../site/site-world.ts';

const run = promisify(execFile);
const TSC = join(import.meta.dirname, '../../node_modules/.bin/tsc');

/** A client as a user writes it. It prints what it read. */
const CLIENT = `
import type { components, paths } from './api.ts';

type Operation<Path extends keyof paths> = paths[Path] extends { get: infer Get } ? Get : never;
type Query<Path extends keyof paths> =
  Operation<Path> extends { parameters: { query?: infer Given } } ? Given : Record<string, never>;
type Body<Path extends keyof paths> =
  Operation<Path> extends { responses: { 200: { content: { 'application/json': infer Content } } } } ? Content : never;

const origin = process.argv[2] ?? '';

async function get<Path extends keyof paths>(
  path: Path,
  query: Query<Path>,
  slug = '',
): Promise<{ body: Body<Path>; next: string | null }> {
  const given = new URLSearchParams(Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]));
  const response = await fetch(\`\${origin}\${path.replace('{slug}', slug)}?\${given}\`);
  const link = response.headers.get('link') ?? '';
  return { body: await response.json(), next: /cursor=([\\w-]+)[^>]*>; rel="next"/.exec(link)?.[1] ?? null };
}

const first = await get('/api/v1/services', { sort: '-response_time', limit: 1 });
const cursor = first.next ?? '';
const second = await get('/api/v1/services', { sort: '-response_time', limit: 1, cursor });
const slowest: components['schemas']['Service'][] = [...first.body.services, ...second.body.services];
const times: (number | null)[] = slowest.map((service) => service.response_time);
const { body: status } = await get('/api/v1/status/{slug}', {}, 'shop');
const code: number | undefined = status.latest_check?.status_code;
const { body: incidents } = await get('/api/v1/incidents', { status: 'investigating' });
const titles: string[] = incidents.incidents.map(({ title, service }) => \`\${service.slug}: \${title}\`);
const event: components['schemas']['StatusChangedEvent']['type'] = 'service.status_changed';

type Patch<Path extends keyof paths> =
  paths[Path] extends { patch: { requestBody: { content: { 'application/json': infer Content } } } } ? Content : never;
const change: Patch<'/api/v1/services/{slug}'> = { name: null, check: { settings: { port: 8443, path: null } } };
const channel: Patch<'/api/v1/channels/{id}'> = { language: 'de', settings: { secret: 'whsec_' } };
const made: components['schemas']['ChannelDefinitionInput'] = { name: 'Ops', kind: 'email', settings: { to: 'a@b.example' } };

// What the document forbids does not compile.
// @ts-expect-error: the domain cannot be removed
change.domain = null;
// @ts-expect-error: no such setting
channel.settings = { nothing: 1 };
// @ts-expect-error: no such kind
made.kind = 'pigeon';
// @ts-expect-error: no such status
await get('/api/v1/services', { status: 'broken' });
// @ts-expect-error: no such path
await get('/api/v1/nothing', {});
// @ts-expect-error: not a number
const name: number = status.name;
// @ts-expect-error: an incident has no such member
titles.push(incidents.incidents[0].nothing);

console.log(JSON.stringify({ slugs: slowest.map(({ slug }) => slug), times, code, titles: titles.slice(0, 1), event, name }));
`;

t.test('it gives types that compile strictly, and a client with them reads the API', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' }), service(2, 'bank')] });
  t.teardown(world.close);
  await world.status.put([
    current(1, check(NOW, { responseTimeMs: 12 })),
    current(2, check(NOW, { responseTimeMs: 900 })),
  ]);
  await world.putIncidents(incident('own-2-1', 2));
  const document = (await world.get('/api/v1/openapi.json')).json as OpenAPI3;
  const folder = t.testdir({ 'client.ts': CLIENT, 'package.json': '{ "type": "module" }' });
  writeFileSync(join(folder, 'api.ts'), await openapiTypes(document));
  const options = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(import.meta.dirname, '../../node_modules/@types')],
  };
  const project = { compilerOptions: options, files: ['client.ts', 'api.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const { stdout: problems } = await run(TSC, ['--project', folder]).catch((error) => error);
  t.equal(problems, '', 'it compiles, and what the document forbids does not');
  const { stdout } = await run(process.execPath, [join(folder, 'client.ts'), world.origin]);
  t.strictSame(JSON.parse(stdout), {
    slugs: ['bank', 'shop'],
    times: [900, 12],
    code: 200,
    titles: ['bank: Shop is not reachable'],
    event: 'service.status_changed',
    name: 'Shop',
  });
});
