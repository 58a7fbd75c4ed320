/**
 * `npm run soak -- openapi-lint`: the served OpenAPI document by the rules that Spectral recommends, and the types that
 * openapi-typescript 7 makes of it. Both and what they need are 96 MB, so that `npm ci` does not install them: the trial
 * installs pinned versions into a folder of its own, which it removes. The daily tests lint the document by Redocly
 * (test/site/openapi.test.ts) and compile the types of openapi-typescript 6 (test/http/openapi.test.ts).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from '../site/site-world.ts';
import { objectAt } from '../support/json.ts';

const PACKAGES = [
  '@stoplight/spectral-core@1.24.1',
  '@stoplight/spectral-rulesets@1.23.1',
  'openapi-typescript@7.13.0',
];
/** Runs in the folder, where the packages are; prints one line for each finding. */
const SCRIPT = `
import { readFileSync } from 'node:fs';
import core from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
const spectral = new core.Spectral();
spectral.setRuleset({ extends: [rulesets.oas] });
for (const { code, message, path } of await spectral.run(readFileSync('openapi.json', 'utf8')))
  console.log(code + ': ' + message + ' ' + path.join('/'));
`;

const TYPES_SCRIPT = `
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
writeFileSync('api.ts', astToString(await openapiTS(JSON.parse(readFileSync('openapi.json', 'utf8')))));
`;
const TSC = join(import.meta.dirname, '../../node_modules/.bin/tsc');
const COMPILE = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2024', 'api.ts'];

const world = await startApi();
const folder = mkdtempSync(join(tmpdir(), 'upbeat-spectral-'));
try {
  const { text, json: document } = await world.get('/api/v1/openapi.json');
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'openapi.json'), text);
  writeFileSync(join(folder, 'lint.js'), SCRIPT);
  writeFileSync(join(folder, 'types.js'), TYPES_SCRIPT);
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...PACKAGES]);
  const findings = run(process.execPath, ['lint.js']).split('\n').filter(Boolean);
  for (const finding of findings) console.log(finding);
  console.log(`${findings.length} findings in ${Object.keys(objectAt(document, 'paths')).length} paths`);
  if (findings.length > 0) process.exitCode = 1;
  run(process.execPath, ['types.js']);
  run(TSC, COMPILE);
  console.log('the types of openapi-typescript 7 compile');
} finally {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr || stdout}`);
  return stdout;
}
