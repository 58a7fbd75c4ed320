/**
 * What `async-hook-domain` does for tap, without async hooks: errors that nothing has caught fail the test file. The
 * package follows every promise and timer to find the test that an error belongs to, which took up to half of the CPU time
 * of a test file. Here such an error fails the file as a whole, with its stack.
 */

/** Called with an error and how it came: `uncaughtException` or `unhandledRejection`. */
type ErrorHandler = (error: unknown, origin: string) => void;

/** Those that are not destroyed, the oldest first: that of the file. */
const domains: Domain[] = [];

/** One for the file and one for each test. */
export class Domain {
  readonly onerror: ErrorHandler;

  constructor(onerror: ErrorHandler) {
    this.onerror = onerror;
    if (domains.push(this) > 1) return;
    process.on('uncaughtException', onException);
    process.on('unhandledRejection', onRejection);
  }

  destroy(): void {
    const index = domains.indexOf(this);
    if (index < 0) return;
    domains.splice(index, 1);
    if (domains.length > 0) return;
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
  }
}

function onException(error: Error): void {
  report(error, 'uncaughtException');
}

function onRejection(reason: unknown): void {
  report(reason, 'unhandledRejection');
}

/** Leaves the error to handlers that the code under test has set. */
function report(error: unknown, origin: 'uncaughtException' | 'unhandledRejection'): void {
  if (process.listenerCount(origin) === 1) domains[0]?.onerror(error, origin);
}
