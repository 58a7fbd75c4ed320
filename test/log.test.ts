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
