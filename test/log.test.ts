import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const LOG = new URL('../src/log.ts', import.meta.url).href;
const SPEAK = `
  import { createLog } from ${JSON.stringify(LOG)};
  const error = new Error('the disk is full', { cause: new Error('ENOSPC') });
  createLog({ level: 'info', format: process.argv[1] }).error({ error, samples: 3, url: 'http://u:s3cret@h/' }, 'samples could not be stored');
`;

t.test('it says what went wrong, with the cause, in either format', async (t) => {
  for (const format of ['json', 'pretty']) {
    const args = ['--eval', SPEAK, format];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    t.match(stdout, 'samples could not be stored', format);
    t.match(stdout, /the disk is full.*ENOSPC/s, format);
    t.match(stdout, 'http://***@h/', format);
    t.notMatch(stdout, 's3cret', format);
  }
});

t.test('it escapes characters that control a terminal', async (t) => {
  const speak = `
    import { createLog } from ${JSON.stringify(LOG)};
    const evil = '\\u001b]52;c;aGk=\\u0007\\nforged \\u202e\\u009b31m\\u2028';
    const log = createLog({ level: 'info', format: process.argv[1] });
    log.warn({ feed: evil, deep: { list: [evil] }, error: new Error(evil) }, 'a page ' + evil);
  `;
  for (const format of ['json', 'pretty']) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', speak, format]);
    t.notMatch(stdout, /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u, format);
    t.notMatch(stdout, /^forged/m, format);
    t.match(stdout, 'forged', format);
    if (format === 'json')
      t.match(JSON.parse(stdout), { feed: '\u001b]52;c;aGk=\u0007\nforged \u202e\u009b31m\u2028' });
  }
});

t.test('it lists the events of the last hour, however the wall clock is set', async (t) => {
  const script = `
    import { createLog } from ${JSON.stringify(LOG)};
    const time = { wall: 0, monotonic: 0 };
    const log = createLog({ level: 'silent', format: 'json' }, { now: () => time.wall, monotonic: () => time.monotonic });
    const list = [];
    const pass = (ms) => { time.wall += ms; time.monotonic += ms; list.push(log.recentEvents()); };
    log.warn({}, 'Redis is unavailable; reconnecting');
    pass(1_800_000);
    log.error({ event: 'program_ended' }, 'a fault');
    log.warn({}, 'Redis is unavailable; reconnecting');
    log.info({}, 'Redis is available again');
    pass(1_800_000);
    time.wall += 86_400_000;
    log.error({ event: 'program_ended' }, 'a fault');
    pass(1_799_999);
    pass(1);
    log.warn({}, 'a status page has changed');
    pass(30 * 86_400_000 - 1);
    pass(1);
    console.log(JSON.stringify(list));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script]);
  const redis = { event: 'redis_away', count: 2, lastAt: 1_800_000 };
  const ended = { event: 'program_ended', count: 2, lastAt: 90_000_000 };
  t.strictSame(JSON.parse(stdout), [
    [{ ...redis, count: 1, lastAt: 0 }],
    [redis, { ...ended, count: 1, lastAt: 1_800_000 }],
    [ended, redis],
    [ended],
    [{ event: 'status_page_changed', count: 1, lastAt: 91_800_000 }],
    [],
  ]);
});
