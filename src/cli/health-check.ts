/**
 * The health check of a container: ends with status 0 if the process answers `/healthz` at the configured port. It reads the
 * configuration as the program does, by environment and `config/upbeat.yaml`.
 */
import { loadConfig } from '../config/load-config.ts';
import { localOrigin } from './local-origin.ts';

const TIMEOUT_MS = 4_000;

const { http } = loadConfig({ file: 'config/upbeat.yaml', env: process.env });
const answer = await fetch(`${localOrigin(http)}/healthz`, {
  signal: AbortSignal.timeout(TIMEOUT_MS),
}).catch(() => null);
process.exit(answer?.ok === true ? 0 : 1);
