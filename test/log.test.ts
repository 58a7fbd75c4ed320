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
