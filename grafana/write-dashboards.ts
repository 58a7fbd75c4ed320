/** `npm run dashboards`: writes the dashboards' files. A test holds that they are current. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allDashboards } from './all-dashboards.ts';

const FOLDER = join(import.meta.dirname, 'dashboards');

mkdirSync(FOLDER, { recursive: true });
for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name));
for (const { name, text } of allDashboards()) {
  writeFileSync(join(FOLDER, name), text);
  console.log(`grafana/dashboards/${name}`);
}
