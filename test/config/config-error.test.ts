/** Any text is a configuration or a ConfigError. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { propertyRuns } from '../support/property-runs.ts';

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('it ends every bad file in a ConfigError, never in another error', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        fromText(text);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});
