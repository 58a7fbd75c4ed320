/** All dashboards, as the text of their files in `dashboards/`. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { fleetOverview } from './fleet-overview.ts';
import { heartbeats } from './heartbeats.ts';
import { oneService } from './one-service.ts';
import { upbeatItself } from './upbeat-itself.ts';

/** A dashboard and its file. */
export interface DashboardFile {
  /** Name in `grafana/dashboards/`. */
  readonly name: string;
  readonly text: string;
}

/** Makes every dashboard anew. */
export function allDashboards(): DashboardFile[] {
  return [
    file('fleet-overview.json', fleetOverview()),
    file('one-service.json', oneService()),
    file('heartbeats.json', heartbeats()),
    file('upbeat-itself.json', upbeatItself()),
  ];
}

function file(name: string, dashboard: Dashboard): DashboardFile {
  return { name, text: `${JSON.stringify(dashboard, null, 2)}\n` };
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
