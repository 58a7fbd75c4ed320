/** Entry of the thread that reads a large catalogue whose file has changed. */
import { parentPort } from 'node:worker_threads';
import type { ScanMethods } from '../src/catalogue/scan-apart.ts';
import { scanCatalogue } from '../src/catalogue/scan-catalogue.ts';
import { serveThread } from '../src/thread/rpc.ts';

const methods: ScanMethods = { scan: (file, wanted) => scanCatalogue(file, wanted) };

if (parentPort !== null) serveThread(parentPort, methods);
