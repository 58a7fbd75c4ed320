/** Files and folders that `upbeat apply` reads, and where it finds their problems. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { icoOf, pngOf } from '../../support/pictures.ts';
import { contentOf, everything, setUp } from './apply-world.ts';

t.setTimeout(300_000);

t.test('it names every problem with file, line and member, and changes nothing', async (t) => {
  const { registry, file, apply, folder, installation } = await setUp(t);
  await installation.runHere('services', 'add', 'hers.example.org', '--account', 'grace');
  const one = file(
    'one.yaml',
    `services:
  - domain: shop.example.org
    name: \${SHOP_NAME}
  - domain: localhost
    check:
      kind: tcp
      settings:
        port: 22
`,
  );
  const two = file(
    'two.yaml',
    `services:
  - { domain: a.example.org, nme: A }
---
services:
  - domain: b.example.org
    check: { kind: http, settings: { assertions: [status is fine] } }
  - domain: B.example.org
pages:
  - slug: acme
    title: Acme
    groups:
      - services:
          - shop.example.org
          - hers.example.org
  - { slug: no, title: "", logo: missing.png }
checks: []
`,
  );
  t.strictSame(await apply('-f', one, '-f', two, '-f', join(folder, 'gone.yaml')), {
    status: 1,
    stdout: '',
    stderr: [
      `${one}:3: services[0].name: the environment has no variable SHOP_NAME`,
      `${two}:15: pages[1].logo: missing.png cannot be read: ENOENT: no such file or directory, open '${folder}/missing.png'`,
      `${join(folder, 'gone.yaml')}: cannot be read: ENOENT: no such file or directory, stat '${join(folder, 'gone.yaml')}'\n`,
    ].join('\n'),
  });
  process.env.SHOP_NAME = 'Shop';
  t.teardown(() => delete process.env.SHOP_NAME);
  const text = (await apply('-f', two)).stderr;
  t.match(text, `${two}:15: pages[1].logo: missing.png cannot be read`);
  writeFileSync(two, readFileSync(two, 'utf8').replace(', logo: missing.png', ''));
  t.strictSame(await apply('-f', one, '-f', two), {
    status: 1,
    stdout: '',
    stderr: [
      `${two}:16: checks: There is no member checks.`,
      `${one}:4: services[1].domain: The domain needs at least two labels, such as example.com.`,
      `${one}:8: services[1].check.settings.port: The setting port is 22, which is not among checks.ports: the operator can add it there.`,
      `${two}:2: services[0].nme: There is no member nme.`,
      `${two}:6: services[0].check.settings.assertions: The setting assertions has an error in line 1: there is no value that fits at "fine".`,
      `${two}:14: pages[0].groups[0].services[1]: There is no such service among the public ones and yours: hers.example.org.`,
      `${two}:15: pages[1].slug: An address is 3 to 60 lower-case letters and digits, with single dashes between them.`,
      `${two}:15: pages[1].title: A page needs a title.`,
      'Nothing is changed.\n',
    ].join('\n'),
  });
  const taken = file('taken.yaml', {
    services: [
      ...[{ domain: 'hers.example.org' }, { domain: 'c.github.example' }, { domain: 'd.example.org' }],
      { domain: 'D.example.org', name: 'GitHub' },
    ],
  });
  t.match(await apply('-f', taken), {
    status: 1,
    stderr: [
      `${taken}:3: services[1].domain: The domain c.github.example belongs to github.example of the public catalogue.`,
      `${taken}:5: services[3]: d.example.org is listed more than once.`,
      'Nothing is changed.\n',
    ].join('\n'),
  });
  const refused = file('refused.yaml', {
    services: [
      { domain: 'new.example.org' },
      { domain: 'hers.example.org' },
      { domain: 'd.example.org', name: 'GitHub' },
    ],
  });
  for (const words of [[], ['--dry-run']])
    t.strictSame(await apply('-f', refused, ...words), {
      status: 1,
      stdout: '',
      stderr: [
        `${refused}:3: services[1]: The domain hers.example.org is registered already.`,
        `${refused}:4: services[2]: The name GitHub equals or resembles GitHub of the public catalogue: choose another.`,
        'Nothing is changed.\n',
      ].join('\n'),
    });
  for (const [content, reason] of [
    ['services: [', /:1: unexpected end/],
    ['a: 1\na: 2', /:2: duplicated mapping key/],
    ['- a', /a document is a group with "services", "pages", "channels", "rules" and "maintenances"/],
    ['services: 7', /:1: services: The member services must be a list/],
  ] as const)
    t.match(await apply('-f', file('bad.yaml', content)), { status: 1, stderr: reason }, content);
  t.match(await apply(), { status: 2, stderr: /required option '-f, --file <file>'/ });
  t.same(await contentOf(registry), [
    'catalogue: github.example github GitHub root',
    'grace: hers.example.org hers-example-org hers.example.org root',
  ]);
  t.match(await registry.listAccounts(), [{ name: 'grace' }]);
});

t.test('it reads folders, several documents and pictures, and keeps credentials secret', async (t) => {
  const { registry, folder, apply } = await setUp(t);
  mkdirSync(join(folder, 'conf'));
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder, 'conf', name), content);
  write('logo.png', pngOf(32, 32));
  write('icon.ico', icoOf(48, 48));
  write('pages.yml', 'pages:\n  - { slug: acme, title: Acme, logo: logo.png, favicon: icon.ico }\n');
  write('notes.txt', 'services: [');
  const variable = (name: string) => `\${${name}}`;
  const check = { kind: 'http', settings: { username: 'ada', password: variable('SHOP_PASSWORD') } };
  const headers = [`x-literal: $${variable('SHOP_PASSWORD')}`, `x-team: ${variable('SHOP_TEAM')}`];
  write('services.json', JSON.stringify({ services: [{ domain: 'shop.example.org', check }] }));
  write(
    'more.yaml',
    `# first\n---\nservices:\n  - domain: a.example.org\n---\nservices:\n${stringify([
      { domain: 'b.example.org', check: { kind: 'http', settings: { headers } } },
    ]).replace(/^/gm, '  ')}`,
  );
  Object.assign(process.env, { SHOP_PASSWORD: 'hunter2', SHOP_TEAM: 'blue' });
  t.teardown(() => {
    delete process.env.SHOP_PASSWORD;
    delete process.env.SHOP_TEAM;
  });
  const run = () => apply('-f', join(folder, 'conf'));
  t.strictSame(await run(), {
    status: 0,
    stdout: [
      '+ service a.example.org',
      '+ service b.example.org',
      '    check.kind: http',
      '    check.settings.headers: set',
      '+ service shop.example.org',
      '    check.kind: http',
      '    check.settings.username: set',
      '    check.settings.password: set',
      '+ page acme',
      '    title: Acme',
      `    logo: "picture ${(await registry.findPicture('acme', 'logo'))?.mark}"`,
      `    favicon: "picture ${(await registry.findPicture('acme', 'favicon'))?.mark}"`,
      '4 created, 0 unchanged\n',
    ].join('\n'),
    stderr: '',
  });
  t.match(await registry.findPicture('acme', 'logo'), { type: 'image/png', width: 32 });
  t.match(await registry.findPicture('acme', 'favicon'), { type: 'image/x-icon', width: 48 });
  const [, b, shop] = (await registry.loadServices()).slice(1).map(({ service }) => service);
  t.same(b?.check.settings, { headers: [`x-literal: ${variable('SHOP_PASSWORD')}`, 'x-team: blue'] });
  t.match(shop?.check.sealed, { password: /^check:v1:/ });
  t.notMatch(JSON.stringify(shop), /hunter2/);
  t.strictSame(await run(), { status: 0, stdout: '4 unchanged\n', stderr: '' });
  process.env.SHOP_PASSWORD = 'hunter3';
  const text = '~ service shop.example.org\n    check.settings.password: changed\n1 changed, 3 unchanged\n';
  t.strictSame(await run(), { status: 0, stdout: text, stderr: '' });
  t.match(await run(), { stdout: '4 unchanged\n' });
});

t.setTimeout(300_000);

t.test('a variable that is not set is named where there is no secret to keep', async (t) => {
  const { apply, file, installation } = await setUp(t);
  const { services, pages, channels } = everything();
  await apply('-f', file('all.yaml', { services, pages, channels }));
  const { stdout } = await installation.runHere('export', '--account', 'ada');
  const own = file('own.yaml', stdout);
  const other = await installation.runHere('apply', '--account', 'grace', '-f', own);
  t.equal(other.status, 1);
  const named = new Set(
    [...other.stderr.matchAll(/the environment has no variable (\w+)\./g)].map(([, name]) => name),
  );
  t.strictSame(named, new Set([...stdout.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)));
  for (const line of [
    /own\.yaml:\d+: services\[\d+\]\.check\.settings\.secretHeaders: the environment has no variable HTTP_EXAMPLE_ORG_SECRETHEADERS\. The setting secretHeaders has no stored value to keep\./,
    /own\.yaml:\d+: channels\[\d+\]\.settings\.topic: the environment has no variable OPS_NTFY_TOPIC\. /,
    /own\.yaml:\d+: pages\[0\]\.password: the environment has no variable ACME_PASSWORD\. Enter a password for the page\./,
    /Nothing is changed\./,
  ])
    t.match(other.stderr, line);
  const moved = stdout
    .replace('server: https://gotify.example.com', 'server: https://elsewhere.example.com')
    .replace('domain: http.example.org', `domain: http.example.org\n    name: \${NAME_OF_HTTP}`);
  t.match(await apply('-f', file('moved.yaml', moved)), {
    status: 1,
    stderr: /services\[\d+\]\.name: the environment has no variable NAME_OF_HTTP/,
  });
  const away = file(
    'away.yaml',
    moved
      .replace(/\$\{NAME_OF_HTTP\}/, 'H')
      .replace(/\n( *)token: .*_1_EXAMPLE_ORG_TOKEN.*/, (line, indent) => `${line}\n${indent}plain: true`),
  );
  const refused = await apply('-f', away);
  t.match(
    refused.stderr,
    /channels\[\d+\]\.settings\.token: the environment has no variable OPS_GOTIFY_TOKEN\. .*must be entered again/,
  );
  t.match(
    refused.stderr,
    /settings\.token: the environment has no variable _1_EXAMPLE_ORG_TOKEN\. .*must be entered again/,
  );
});
