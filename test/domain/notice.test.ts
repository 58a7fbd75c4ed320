/** Notices to accounts, and those that a later version has stored. */
import t from 'tap';
import { describeNotice, fromStoredNotice, type Notice } from '../../src/domain/notice.ts';
import { NOTICE_EXAMPLES } from './refusal-examples.ts';

t.test('it describes every notice in English', async (t) => {
  for (const [notice, english] of NOTICE_EXAMPLES) t.equal(describeNotice(notice), english);
});

t.test('a stored notice of a later version is not known, and has no text', async (t) => {
  const later = { code: 'invented_later', name: 'x' } as unknown as Notice;
  t.same([fromStoredNotice(later), fromStoredNotice(null), describeNotice(later)], [null, null, '']);
  const known: Notice = { code: 'channel_stopped', name: 'Ops' };
  t.equal(fromStoredNotice(known), known);
});
