/** The word that a service says of itself, in its health body or its heartbeat, as the API and the pages repeat it. */
import { at } from '../../support/json.ts';
import type { ContractPromise } from './reading-promises.ts';

/** The reason that the page of a service gives for its status; null: it gives none. */
export function reasonOn(html: string): string | null {
  const [, verdict = ''] = /<p class="verdict"[^>]*>([\s\S]*?)<\/p>/.exec(html) ?? [];
  const reason = /\): ([^<]*)\./.exec(verdict.replaceAll(/<[^>]*>/g, ''))?.[1];
  return reason?.replaceAll('&quot;', '"') ?? null;
}

/** The promise. */
export const REPORTED_WORDS: ContractPromise = {
  promise: 'a reported word is shown as it was said, and is the reason where it decided',
  dependsOn: ['redis', 'role'],
  async holds(t, { get, post, until, say, key, name }) {
    const shown = async (slug: string, page: string, status: string, word: string | null) => {
      const body = await until(
        `/api/v1/status/${slug}`,
        (body) => at(body, 'status') === status && at(body, 'latest_check', 'reported') === word,
      );
      return {
        reported: at(body, 'latest_check', 'reported'),
        reason: reasonOn((await get(`/status/${page}`)).bytes.toString()),
      };
    };
    const health = (status: string, word: string) => shown('worded', 'worded-example', status, word);
    say('Degraded');
    t.same(await health('slow', 'Degraded'), { reported: 'Degraded', reason: 'it reports "Degraded"' });
    t.same(await shown('quick', 'quick-example', 'up', null), { reported: null, reason: null });
    say('OK');
    t.same(await health('up', 'OK'), { reported: 'OK', reason: null });
    say('on fire');
    t.same(await health('down', 'on fire'), {
      reported: 'on fire',
      reason: 'it reports an unknown status "on fire"',
    });

    const { headers } = await key('hugo');
    const domain = `${name}-worded.example.org`;
    const slug = domain.replaceAll('.', '-');
    const beat = async (body: object) =>
      (await post('/api/v1/heartbeat', { domain, ...body }, headers)).status;
    t.equal(await beat({ status: 'partial' }), 200);
    t.same(await shown(slug, slug, 'slow', 'partial'), {
      reported: 'partial',
      reason: 'it reports "partial"',
    });
    t.equal(await beat({ status: 'WARN', checks: { db: { status: 'ok', latency: 12 } } }), 200);
    t.same(await shown(slug, slug, 'slow', 'WARN'), { reported: 'WARN', reason: 'it reports "WARN"' });
    t.equal(await beat({ status: 'ok', checks: { db: { status: 'ok', latency: 3_400 } } }), 200);
    t.same(await shown(slug, slug, 'slow', 'ok'), {
      reported: 'ok',
      reason: 'by its own report, with a response time of 3,400 ms',
    });
    t.equal(await beat({ status: 'Critical' }), 200);
    t.same(await shown(slug, slug, 'down', 'Critical'), {
      reported: 'Critical',
      reason: 'it reports "Critical"',
    });
  },
};
