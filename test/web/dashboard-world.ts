/** The dashboard's routes over a real registry, in the process of the test, with two people signed in. */

import type { Test } from 'tap';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';
import { createLocalSignIn } from '../../src/auth/password-sign-in.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Role } from '../../src/domain/role.ts';
import type { Sample } from '../../src/domain/sample.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { createHandCharge } from '../../src/http/rate-limits.ts';
import type { HttpRequest } from '../../src/http/route.ts';
import { silentLog } from '../../src/log.ts';
import { destinationsByTrust } from '../../src/outbound/address-guard.ts';
import { TRIALS_PER_MINUTE, type TrialContext } from '../../src/resources/services/new-service.ts';
import { SENT_BY_HAND_PER_MINUTE } from '../../src/resources/webhooks/webhooks.ts';
import type { Person } from '../../src/store/ports/people.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { createBadgeAddresses } from '../../src/view/badge-url.ts';
import { createHistoryReads } from '../../src/view/history-reads.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import type { DashboardSources } from '../../src/web/dashboard/dashboard-forms.ts';
import { dashboardPages } from '../../src/web/dashboard/dashboard-pages.ts';
import { createLogos } from '../../src/web/home/logos.ts';
import { createAssets } from '../../src/web/parts/assets.ts';
import { createViews } from '../../src/web/parts/views.ts';
import { NOW, service } from '../site/site-world.ts';
import { goodAttempt, USUAL } from '../support/attempts.ts';
import { TEST_KINDS } from '../support/channel-kinds.ts';
import { USUAL_REACH } from '../support/destinations.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';

/** The dashboard's routes over a real registry, with two people signed in. `checks`: the newest ones of every service. */
export async function dashboard(
  t: Test,
  checks?: readonly Sample[],
  more: {
    readonly tryCheck?: TrialContext['tryCheck'];
    readonly query?: DashboardSources['samples']['query'];
    readonly shareOf?: DashboardSources['shareOf'];
  } = {},
) {
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 100 });
  const registry = registryHere(methods, createFakeClock(NOW));
  t.teardown(() => registry.close());
  const sessions = createSessions({ registry, clock: createFakeClock(NOW) });
  const signIn = async (name: string) => open(await registry.addPerson(name, NOW));
  const open = async (person: Person) => {
    const { token } = await sessions.open(person.id);
    const see = async () => {
      const session = await sessions.find(token);
      return {
        id: session?.accountId ?? 0,
        personId: person.id,
        cookie: `upbeat=${token}`,
        token: session?.formToken ?? '',
        /** The same session as it is now, after it changed its account. */
        renew: see,
      };
    };
    return await see();
  };
  /** Signs a further member of an account in. */
  const join = async (accountId: number, role: Role, name: string = role) => {
    const person = await registry.linkIdentity(accountId, { provider: 'acme', subject: name, name }, NOW);
    await registry.setRole(accountId, person.id, role);
    return await open(person);
  };
  const [ada, grace] = [await signIn('ada'), await signIn('grace')];
  const directory = createServiceDirectory();
  directory.load([
    service(1, 'post', { name: 'Post' }),
    service(2, 'library', { name: 'Library' }),
    service(3, 'mine', { name: 'Mine', origin: 'owner', accountId: ada.id }),
    service(4, 'hers', { name: 'Hers', origin: 'owner', accountId: grace.id }),
    ...Array.from({ length: 20 }, (_, n) => service(10 + n, `shelf-${n}`, { name: `Shelf ${n}` })),
  ]);
  const away = async () => {
    throw new Error('not of this test');
  };
  const now = () => NOW;
  const proof = (domain: string) =>
    domain.startsWith('proved.')
      ? null
      : {
          code: 'proof_missing' as const,
          hasRecords: false,
          recordName: '',
          fileUrl: '',
          file: { code: 'other_word' as const },
        };
  const render = createViews({
    assets: createAssets().addresses,
    logoOf: createLogos().pathOfName,
    version: '1.2.3',
    readiness: () => ({
      phase: 'serving',
      role: 'monitor',
      node: { name: 'one', region: 'local', roles: [] },
      nodes: [],
      prober: { online: true, offlineSince: null, reason: null },
      parts: {},
      events: [],
    }),
    now,
  }).renderPage;
  const sources: DashboardSources = {
    registry,
    sessions,
    directory: directory.shown,
    status: double({ get: () => null }),
    beginHistory: createHistoryReads(createFakeClock(NOW)),
    samples: double({
      newest: checks === undefined ? away : async () => [...checks],
      query: more.query ?? (async () => []),
    }),
    proofs: {
      instructions: (_account, domain) => ({ recordName: `_upbeat.${domain}`, fileUrl: '', word: '' }),
      check: async (_account, domain) => proof(domain),
      addresses: async () => ['203.0.113.9'],
      derive: () => Buffer.alloc(32),
    },
    destinations: destinationsByTrust(USUAL_REACH, registry),
    bounds: { usual: USUAL, minIntervalMs: 30_000, regions: () => ['eu', 'us'] },
    kinds: TEST_KINDS,
    acknowledgeLinks: createAcknowledgeLinks(new Uint8Array(32), 'https://upbeat.test'),
    badgeAddresses: createBadgeAddresses(new Uint8Array(32), 'http://upbeat.test'),
    charge: createHandCharge({ ...SENT_BY_HAND_PER_MINUTE, trials: TRIALS_PER_MINUTE }, createFakeClock(NOW)),
    tryCheck: more.tryCheck ?? (async () => goodAttempt()),
    shareOf: more.shareOf ?? (() => null),
    limits: () => ({
      anonymousPerMinute: 15,
      authenticatedPerMinute: 60,
      changesPerAccount: 300,
      silenceMs: 600_000,
      domainsPerAccount: 9,
    }),
    providers: [],
    local: createLocalSignIn({
      registry,
      secretKey: new Uint8Array(32),
      siteUrl: 'http://upbeat.test',
      now,
      log: silentLog,
    }),
    // Nothing sends messages here, so what waits for an outcome waits no time.
    clock: {
      ...createFakeClock(NOW),
      after(_ms, run) {
        setImmediate(run);
        return () => {};
      },
    },
    cookie: createSiteCookie('http://upbeat.test'),
    siteUrl: 'http://upbeat.test',
    now,
    log: silentLog,
  };
  const routes = dashboardPages(render, sources);
  const call = async (path: string, who: typeof ada | null, more: Partial<HttpRequest> = {}) => {
    const [pathname = '', query = ''] = path.split('?');
    for (const route of routes) {
      const names: string[] = [];
      const form = route.path.replace(/:(\w+)/g, (_, name: string) => {
        names.push(name);
        return '([^/]+)';
      });
      const found = new RegExp(`^${form}$`).exec(pathname);
      if (found === null || route.handle === undefined) continue;
      const params = Object.fromEntries(names.map((name, index) => [name, found[index + 1] ?? '']));
      const { headers = {}, ...rest } = more;
      const request: HttpRequest = {
        method: 'GET',
        params,
        query,
        client: '203.0.113.1',
        url: `${sources.siteUrl}${pathname}`,
        headers: { cookie: who?.cookie ?? '', ...headers },
        ...rest,
      };
      const answer = await Promise.resolve(route.handle(request)).catch((error: { code: string }) => error);
      if ('code' in answer) return { status: 0, code: answer.code, text: '', location: '', cookie: '' };
      const location = answer.headers.Location ?? '';
      const [cookie = ''] = (answer.headers['Set-Cookie'] ?? '').split(';');
      return { status: answer.status, code: '', text: String(answer.body), location, cookie };
    }
    throw new Error(`no route for ${path}`);
  };
  /** The revision that the forms beside a path send, as the page that contains them shows it now; null: they send none. */
  const revisionOf = async (path: string, who: typeof ada | null) => {
    const [action = ''] = path.split('?');
    const parent = action.replace(/\/[^/]+$/, '');
    for (const page of [parent, parent.replace(/\/[^/]+$/, '')]) {
      if (!routes.some((route) => new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`).test(page)))
        continue;
      const { text } = await call(page, who);
      const [, form = ''] = text.split(` action="${parent}/`);
      const [fields = ''] = form.split('</form>');
      const [, revision] = / name="revision" value="(\d+)"/.exec(fields) ?? [];
      if (revision !== undefined) return revision;
    }
    return null;
  };
  /** Sends a form with the revision that its page shows, unless the fields name another. */
  const post = async (path: string, who: typeof ada | null, fields: Record<string, string>) => {
    const revision = 'revision' in fields ? null : await revisionOf(path, who);
    const all = {
      token: who?.token ?? '',
      ...(revision === null ? {} : { revision }),
      confirmed: 'yes',
      ...fields,
    };
    return await call(path, who, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      readBody: async () => Buffer.from(new URLSearchParams(all).toString()),
    });
  };
  /** Sends a file as a browser does. */
  const upload = async (
    path: string,
    who: typeof ada | null,
    file: Uint8Array,
    fields: Record<string, string> = {},
    name = 'logo',
  ) => {
    const revision = await revisionOf(path, who);
    const form = new FormData();
    const given = { token: who?.token ?? '', ...(revision === null ? {} : { revision }), ...fields };
    for (const [field, value] of Object.entries(given)) form.append(field, value);
    form.append(name, new Blob([Buffer.from(file)], { type: 'image/svg+xml' }), '../../evil.html');
    const sent = new Response(form);
    const body = Buffer.from(await sent.arrayBuffer());
    return await call(path, who, {
      method: 'POST',
      headers: { 'content-type': sent.headers.get('content-type') ?? '' },
      readBody: async () => body,
    });
  };
  return { registry, directory, sources, routes, ada, grace, join, call, post, revisionOf, upload };
}
