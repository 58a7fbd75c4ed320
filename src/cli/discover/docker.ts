/** Services of the containers of Docker or Podman. */
import { DOCKER_SOCKET } from '../../kinds/docker.ts';
import { type FoundService, isEnabled, ownLabels, servicesOf } from './found-service.ts';
import { getJson, objectsIn } from './get-json.ts';

/** The choice of containers. */
export interface DockerChoice {
  readonly socket: string;
  /** The host that containers without an address of their own belong to. */
  readonly host: string;
  /** True if containers without labels are found too. */
  readonly all: boolean;
}

/** Containers, running or not, in the order of their names. Those that have ended are found: their check says that they are down. */
export async function discoverDocker(
  { socket, host, all }: DockerChoice,
  note: (text: string) => void,
): Promise<FoundService[]> {
  const list = await getJson({ origin: 'http://localhost', socketPath: socket }, '/containers/json?all=true');
  return objectsIn(list)
    .map((container) => ({ name: nameOf(container), labels: ownLabels(container.Labels) }))
    .filter(({ name, labels }) => name !== '' && (isEnabled(labels) ?? all))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, labels }) => {
      const settings = { container: name, ...(socket === DOCKER_SOCKET ? {} : { socket }) };
      const check = { kind: 'docker', settings };
      return servicesOf({ origin: `docker://${name}`, name, domain: host, check }, labels, note);
    });
}

/** `/web` as `web`; links have further slashes. */
function nameOf({ Names }: Record<string, unknown>): string {
  const names = Array.isArray(Names) ? Names.map(String) : [];
  return names.map((name) => name.replace(/^\//, '')).find((name) => !name.includes('/')) ?? '';
}
