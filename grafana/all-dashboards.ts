/** All dashboards. `npm run dashboards` writes their files; a test checks that they are current. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cluster } from './cluster.ts';
import { fleetOverview } from './fleet-overview.ts';
import { heartbeats } from './heartbeats.ts';
import { oneService } from './one-service.ts';
import { services } from './services.ts';
import { upbeatItself } from './upbeat-itself.ts';

/** A file of a dashboard. */
interface DashboardFile {
  /** Name in `grafana/dashboards/`. */
  readonly name: string;
  readonly text: string;
}

/** Builds all dashboards. */
export function allDashboards(): DashboardFile[] {
  const dashboards = {
    'fleet-overview.json': fleetOverview(),
    'one-service.json': oneService(),
    'heartbeats.json': heartbeats(),
    'upbeat-itself.json': upbeatItself(),
    'cluster.json': cluster(),
    'services.json': services(),
  };
  return Object.entries(dashboards).map(([name, dashboard]) => ({
    name,
    text: `${JSON.stringify(dashboard, null, 2)}\n`,
  }));
}

if (import.meta.main) {
  const FOLDER = join(import.meta.dirname, 'dashboards');

  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name));
  for (const { name, text } of allDashboards()) {
    writeFileSync(join(FOLDER, name), text);
    console.log(`grafana/dashboards/${name}`);
  }
}
