/**
 * For `node --import`: each thread appends the addresses of the modules that it loads to the file of `LOADED_MODULES`, as
 * lines `PROCESS THREAD ADDRESS`.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { threadId } from 'node:worker_threads';

const file = process.env.LOADED_MODULES ?? '';
registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${process.pid} ${threadId} ${url}\n`);
    return next(url, context);
  },
});
