/**
 * Runs several small test files in one process, one after the other. `TEST_FILES` names them, separated by spaces: tap
 * makes arguments a part of the name of each test's folder. The start of a process that loads tap takes a third of a
 * second of CPU time, more than most of these files, and files of one folder load the same sources. Each file is a
 * subtest of its name; to the file that subtest is `tap`.
 */
import { registerHooks } from 'node:module';
import { resolve as resolvePath } from 'node:path';
import { pathToFileURL } from 'node:url';
import root, { type Test } from 'tap';

/** The test of the file that runs. */
let current: Test = root;

/** What a file imports from `tap`: its subtest. */
export default new Proxy({} as Test, {
  get(_, name) {
    const value: unknown = Reflect.get(current, name);
    return typeof value === 'function' ? value.bind(current) : value;
  },
  set: (_, name, value) => Reflect.set(current, name, value),
});

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap'
      ? { url: import.meta.url, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});

const umask = process.umask(0o022);

// Nothing is awaited here: the files import this module, which must have ended by then.
for (const file of (process.env.TEST_FILES ?? '').split(' '))
  root.test(file, async (t) => {
    current = t;
    // A registry that a file before has opened keeps the files of its process to itself.
    process.umask(umask);
    await import(pathToFileURL(resolvePath(file)).href);
  });
