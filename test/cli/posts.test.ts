/** `upbeat maintenances` and `upbeat incidents` of the command line, over a registry. */
import t from 'tap';
import { install } from '../support/program.ts';

t.setTimeout(120_000);

const installation = await install([]);
t.teardown(() => installation.remove());
const run = installation.runHere;
const ada = ['--account', 'ada'];
const shop = ['--service', 'shop.example.org'];
await run('services', 'add', 'shop.example.org', ...ada);
await run('pages', 'add', 'acme', ...ada, '--title', 'Acme');

t.test('maintenance is announced, listed, ended and withdrawn', async (t) => {
  const add = (...words: string[]) => run('maintenances', 'add', ...ada, '--title', 'Disks', ...words);
  t.match(await run('maintenances', 'list', ...ada), {
    status: 0,
    stdout: '',
    stderr: /There is no maintenance/,
  });
  for (const [words, stderr] of [
    [['--duration', '1h'], /at least one/i],
    [['--duration', '0s', ...shop], /1m/],
    [['--duration', '1h', '--starts-at', '2001-01-01T00:00:00Z', ...shop], /past/],
    [['--duration', '1h', '--recurrence', 'HOURLY', ...shop], /recurrence|RRULE/i],
    [['--duration', '1h', '--timezone', 'Mars/Base', ...shop], /time zone/],
    [shop, /--duration/],
  ] as const)
    t.match(await add(...words), { status: 2, stderr }, words.join(' '));
  t.match(await add('--duration', '1h', '--service', 'nothing'), { status: 1, stderr: /nothing/ });
  t.match(await run('maintenances', 'list', '--account', 'grace'), { status: 1, stderr: /no account/ });

  const first = await add('--duration', '90m', ...shop, '--page', 'acme');
  t.match(first, { status: 0, stdout: /^m\d{15}\n$/, stderr: '' });
  const one = first.stdout.trim();
  const weekly = ['--timezone', 'Europe/Berlin', '--recurrence', 'FREQ=WEEKLY;BYDAY=TU'];
  const start = ['--starts-at', new Date(Date.now() + 86_400_000).toISOString()];
  const made = await add(
    '--duration',
    '2h',
    '--page',
    'acme',
    '--text',
    'All **new**.',
    ...weekly,
    ...start,
    '--json',
  );
  const weeklyOne: { readonly id: string } = JSON.parse(made.stdout);
  t.match(weeklyOne, {
    id: /^m\d{15}$/,
    title: 'Disks',
    description: 'All new.',
    definition: {
      duration: '2h',
      time_zone: 'Europe/Berlin',
      recurrence: 'FREQ=WEEKLY;BYDAY=TU',
      pages: ['acme'],
    },
    next: [{ state: 'planned' }, {}, {}, {}, {}],
  });
  const listed = await run('maintenances', 'list', ...ada);
  t.match(
    listed.stdout,
    new RegExp(
      `^ID +TITLE +STATE +STARTS +DURATION +RECURRENCE +ABOUT\\n${one} +Disks +running .* 90m +- +shop-example-org, /p/acme\\n${weeklyOne.id} +Disks +planned .* 2h +FREQ=WEEKLY;BYDAY=TU +/p/acme\\n$`,
    ),
  );
  t.match(await run('maintenances', 'end', weeklyOne.id, ...ada), {
    status: 1,
    stderr: /no maintenance|not run/i,
  });
  t.strictSame(await run('maintenances', 'end', one, ...ada), { status: 0, stdout: '', stderr: '' });
  t.strictSame(await run('maintenances', 'remove', weeklyOne.id, ...ada), {
    status: 0,
    stdout: '',
    stderr: '',
  });
  t.match(await run('maintenances', 'remove', weeklyOne.id, ...ada), {
    status: 1,
    stderr: /"upbeat maintenances list"/,
  });
  const left = await run('maintenances', 'list', ...ada, '--json');
  t.match(JSON.parse(left.stdout), [{ id: one, next: [] }]);
});

t.test('incidents are opened, listed, updated and resolved', async (t) => {
  const open = (...words: string[]) =>
    run('incidents', 'open', ...ada, '--title', 'Orders are late', ...words);
  t.match(await run('incidents', 'list', ...ada), {
    status: 0,
    stdout: '',
    stderr: /There are no incidents/,
  });
  t.match(await open('--text', 'We look.'), { status: 2, stderr: /at least one/i });
  t.match(await open('--text', 'We look.', ...shop, '--severity', 'awful'), { status: 2 });
  t.match(await open(...shop), { status: 2, stderr: /--text/ });
  const opened = await open('--text', 'We look.', ...shop, '--severity', 'major');
  t.match(opened, { status: 0, stdout: /^owner-\d{15}\n$/, stderr: '' });
  const id = opened.stdout.trim();
  t.match(await run('incidents', 'update', id, ...ada, '--text', 'A disk.', '--status', 'identified'), {
    status: 0,
  });
  t.match(
    (await run('incidents', 'list', ...ada)).stdout,
    new RegExp(`^${id} +Orders are late +major +identified .* 2 +shop-example-org$`, 'm'),
  );
  t.match(await run('incidents', 'resolve', id, ...ada, '--text', 'It is **over**.'), { status: 0 });
  t.match(await run('incidents', 'resolve', 'owner-9', ...ada, '--text', 'x'), {
    status: 1,
    stderr: /"upbeat incidents list"/,
  });
  t.match(JSON.parse((await run('incidents', 'list', ...ada, '--json')).stdout), [
    {
      id,
      status: 'resolved',
      services: ['shop-example-org'],
      updates: [
        { status: 'investigating' },
        { status: 'identified' },
        { status: 'resolved', plain: 'It is over.' },
      ],
    },
  ]);
});
