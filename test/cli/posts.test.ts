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

  t.strictSame(await add('--duration', '90m', ...shop, '--page', 'acme'), {
    status: 0,
    stdout: 'm1\n',
    stderr: '',
  });
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
  t.match(JSON.parse(made.stdout), {
    id: 'm2',
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
    /^ID +TITLE +STATE +STARTS +DURATION +RECURRENCE +ABOUT\nm1 +Disks +running .* 90m +- +shop-example-org, \/p\/acme\nm2 +Disks +planned .* 2h +FREQ=WEEKLY;BYDAY=TU +\/p\/acme\n$/,
  );
  t.match(await run('maintenances', 'end', 'm2', ...ada), { status: 1, stderr: /no maintenance|not run/i });
  t.strictSame(await run('maintenances', 'end', 'm1', ...ada), { status: 0, stdout: '', stderr: '' });
  t.strictSame(await run('maintenances', 'remove', 'm2', ...ada), { status: 0, stdout: '', stderr: '' });
  t.match(await run('maintenances', 'remove', 'm2', ...ada), {
    status: 1,
    stderr: /"upbeat maintenances list"/,
  });
  const left = await run('maintenances', 'list', ...ada, '--json');
  t.match(JSON.parse(left.stdout), [{ id: 'm1', next: [] }]);
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
  t.strictSame(await open('--text', 'We look.', ...shop, '--severity', 'major'), {
    status: 0,
    stdout: 'owner-1\n',
    stderr: '',
  });
  t.match(
    await run('incidents', 'update', 'owner-1', ...ada, '--text', 'A disk.', '--status', 'identified'),
    { status: 0 },
  );
  t.match(
    (await run('incidents', 'list', ...ada)).stdout,
    /^owner-1 +Orders are late +major +identified .* 2 +shop-example-org$/m,
  );
  t.match(await run('incidents', 'resolve', 'owner-1', ...ada, '--text', 'It is **over**.'), { status: 0 });
  t.match(await run('incidents', 'resolve', 'owner-9', ...ada, '--text', 'x'), {
    status: 1,
    stderr: /"upbeat incidents list"/,
  });
  t.match(JSON.parse((await run('incidents', 'list', ...ada, '--json')).stdout), [
    {
      id: 'owner-1',
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
