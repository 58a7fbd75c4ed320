/** Services of the routers of Traefik, by its API: one for each host and path. */
import { type FoundService, servicesOf } from './found-service.ts';
import { getJson, objectsIn } from './get-json.ts';

/** The API of Traefik as its documentation sets it up. */
export const TRAEFIK_API = 'http://localhost:8080';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** Routers in the order of their names, without those of Traefik itself and those whose rule names no host. */
export async function discoverTraefik(api: string, note: (text: string) => void): Promise<FoundService[]> {
  const [http, tcp] = [
    objectsIn(await getJson({ origin: api }, '/api/http/routers?per_page=10000')),
    objectsIn(await getJson({ origin: api }, '/api/tcp/routers?per_page=10000')),
  ];
  const found = [
    ...http.flatMap((router) => {
      const rule = String(router.rule ?? '');
      const path = argumentsOf(rule, /\bPath(?:Prefix)?\(([^)]*)\)/)[0] ?? '/';
      const settings = {
        ...(typeof router.tls === 'object' && router.tls !== null ? {} : { plain: true }),
        ...(path.startsWith('/') && path !== '/' ? { path } : {}),
      };
      return hostsIn(rule).map((host) => ({
        router,
        host,
        name: path === '/' ? host : `${host}${path}`,
        check: { kind: 'http', settings },
      }));
    }),
    ...tcp.flatMap((router) =>
      argumentsOf(String(router.rule ?? ''), /\bHostSNI\(([^)]*)\)/)
        .filter((host) => host !== '*')
        .map((host) => ({ router, host, name: `${host} tls`, check: { kind: 'tls' } })),
    ),
  ];
  return found
    .filter(
      ({ router }) => router.provider !== 'internal' && !String(router.name ?? '').endsWith('@internal'),
    )
    .flatMap(({ router, host, name, check }) => {
      const origin = `traefik://${String(router.name ?? '')}/${host}`;
      return servicesOf({ origin, name, domain: host, check }, NO_LABELS, note);
    })
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

function hostsIn(rule: string): string[] {
  return argumentsOf(rule, /(?<![!\w])Host\(([^)]*)\)/);
}

/** The texts between backquotes or quotation marks of a function in a rule. */
function argumentsOf(rule: string, call: RegExp): string[] {
  const list = call.exec(rule.slice(0, 4_000))?.[1] ?? '';
  return [...list.matchAll(/[`"']([^`"']+)[`"']/g)].map(([, text = '']) => text);
}
