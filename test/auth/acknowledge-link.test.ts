/** Links that acknowledge an alert. */
import t from 'tap';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';

const SITE = 'https://upbeat.example';
const links = createAcknowledgeLinks(Buffer.alloc(32, 1), SITE);
const tokenOf = (url: string) => url.slice(`${SITE}/alerts/acknowledge/`.length);

t.test('it reads what it has made, and nothing else', async (t) => {
  const of = { accountId: 7, thread: 'a7-12' };
  const url = links.urlOf(of);
  t.match(url, /^https:\/\/upbeat\.example\/alerts\/acknowledge\/7\.a7-12\.[A-Za-z0-9_-]{43}$/);
  const token = tokenOf(url);
  t.strictSame(links.read(token), of);
  const other = createAcknowledgeLinks(Buffer.alloc(32, 2), SITE);
  for (const wrong of [
    '',
    '7',
    token.slice(0, -1),
    `${token}A`,
    token.replace('7.', '8.'),
    token.replace('a7-12', 'a7-13'),
    `${token.slice(0, -5)}AAAAA`,
    tokenOf(other.urlOf(of)),
    token.replace('.a7-12.', '..'),
  ])
    t.equal(links.read(wrong), null, wrong);
});
