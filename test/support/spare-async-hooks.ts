/** Loaded before a test file by `npm test`: gives tap `error-domain.ts` in place of the package `async-hook-domain`. */
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const url = new URL('error-domain.ts', import.meta.url).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== 'async-hook-domain') return next(specifier, context);
      return { url, format: 'module-typescript', shortCircuit: true };
    },
  });
}
