/** The origin at which the process that runs with a configuration answers on this machine. */
import type { Config } from '../config/resolve-config.ts';

/** `http://HOST:PORT`; the loopback address where the process listens on all addresses. */
export function localOrigin({ host, port }: Config['http']): string {
  const here =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${here}:${port}`;
}
