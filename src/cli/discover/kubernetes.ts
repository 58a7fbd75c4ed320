/** Services of the ingresses of a Kubernetes cluster: one for each host and path. */
import { existsSync, readFileSync } from 'node:fs';
import { CommandError } from '../command.ts';
import { type FoundService, isEnabled, ownLabels, servicesOf } from './found-service.ts';
import { type ApiPlace, getJson, objectsIn } from './get-json.ts';

/** The choice of objects. */
export interface KubernetesChoice {
  /** URL of the API, such as that of `kubectl proxy`; absent: that of the pod. */
  readonly api?: string;
  /** Absent: all. */
  readonly namespace?: string;
}

const POD_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Ingresses in the order of their names. An annotation `upbeat.enable: "false"` leaves one out. */
export async function discoverKubernetes(
  { api, namespace }: KubernetesChoice,
  note: (text: string) => void,
): Promise<FoundService[]> {
  const place = api === undefined ? placeOfPod() : { origin: api };
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const list = await getJson(place, `/apis/networking.k8s.io/v1${scope}/ingresses`);
  return objectsIn(Object(list).items)
    .flatMap((ingress) => servicesOfIngress(ingress, note))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/** The API of the cluster that this process is a pod of. Throws if it is none. */
function placeOfPod(): ApiPlace {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host === undefined || !existsSync(POD_FOLDER))
    throw new CommandError(
      'this is no pod of a cluster: name its API with --api, such as that of "kubectl proxy"',
    );
  const read = (name: string) => readFileSync(`${POD_FOLDER}/${name}`, 'utf8');
  const origin = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { origin, ca: read('ca.crt'), token: read('token').trim() };
}

function servicesOfIngress(ingress: Record<string, unknown>, note: (text: string) => void): FoundService[] {
  const { name = '', namespace = '', annotations } = Object(ingress.metadata);
  const labels = ownLabels(annotations);
  if (isEnabled(labels) === false) return [];
  const { rules, tls } = Object(ingress.spec);
  const secured = new Set(objectsIn(tls).flatMap(({ hosts }) => (Array.isArray(hosts) ? hosts : [])));
  const places = objectsIn(rules).flatMap(({ host, http }) => {
    // A host with a star is none that can be asked.
    if (typeof host !== 'string' || host === '' || host.includes('*')) return [];
    const paths = objectsIn(Object(http).paths).map(({ path }) => (typeof path === 'string' ? path : '/'));
    return (paths.length === 0 ? ['/'] : paths).map((path) => ({ host, path: plainPath(path) }));
  });
  return places.flatMap(({ host, path }) => {
    const settings = {
      ...(secured.has(host) ? {} : { plain: true }),
      ...(path === '/' ? {} : { path }),
    };
    const suggestion = {
      origin: `kubernetes://${namespace}/${name}/${host}${path}`,
      name: `${host}${path === '/' ? '' : path}`,
      domain: host,
      check: { kind: 'http', settings },
    };
    return servicesOf(suggestion, labels, note);
  });
}

/** A path of an ingress is perhaps an expression, of which the beginning is asked. */
function plainPath(path: string): string {
  const plain = /^[\w/.~-]*/.exec(path)?.[0] ?? '';
  return plain.startsWith('/') ? plain : '/';
}
