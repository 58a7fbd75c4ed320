/**
 * Finds the programs that the tests need and, as root on a Debian-like machine, installs what is missing from the
 * distribution's packages. `UPBEAT_TEST_INSTALL=never` forbids it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian packages, each with the program that shows that it is installed. */
const PROGRAMS = {
  caddy: 'caddy',
  'chromium-headless-shell': 'chromium-headless-shell',
  faketime: 'faketime',
  'gnutls-bin': 'gnutls-serv',
  haproxy: 'haproxy',
  iproute2: 'ip',
  influxdb: 'influxd',
  'iputils-ping': 'ping',
  'libxml2-utils': 'xmllint',
  'nginx-light': 'nginx',
  pgbouncer: 'pgbouncer',
  // The server itself lies outside of the path.
  'mariadb-server': 'mariadbd',
  mosquitto: 'mosquitto',
  'openssh-server': 'sshd',
  podman: 'podman',
  postfix: 'postfix',
  postgresql: 'psql',
  prometheus: 'promtool',
  'victoria-metrics': 'victoria-metrics',
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
} as const;

/** A package that some suites need. */
export type ServerPackage = keyof typeof PROGRAMS;

/** Programs that serve where the wanted one cannot be installed: the whole Chromium needs several times its CPU time. */
const SUBSTITUTES: Readonly<Partial<Record<ServerPackage, string>>> = {
  'chromium-headless-shell': 'chromium',
};

/** Every package that the tests need. */
export const SERVER_PACKAGES = Object.keys(PROGRAMS) as ServerPackage[];

/** Whether a program is on the path. */
export function hasProgram(name: string): boolean {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) =>
    existsSync(join(folder, name)),
  );
}

/** Installs what is missing where that is allowed and possible; returns what is missing still and has no substitute. */
export async function installServers(packages: readonly ServerPackage[]): Promise<ServerPackage[]> {
  const absent = packages.filter((name) => !hasProgram(PROGRAMS[name]));
  if (absent.length === 0) return [];
  const isMissing = (name: ServerPackage) =>
    ![PROGRAMS[name], SUBSTITUTES[name]].some((program) => program !== undefined && hasProgram(program));
  const allowed = process.env.UPBEAT_TEST_INSTALL !== 'never';
  if (!allowed || process.getuid?.() !== 0 || !hasProgram('apt-get')) return absent.filter(isMissing);
  console.log(
    `installing from the distribution's packages: ${absent.join(' ')} (UPBEAT_TEST_INSTALL=never forbids it)`,
  );
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...absent], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return absent.filter(isMissing);
}
