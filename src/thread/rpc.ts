/** Calls between the main thread and a worker thread that serves one object: plain data in, promises out. */
import { basename } from 'node:path';
import { type MessagePort, type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';
import { toError } from '../error.ts';
import { usualLimits } from './v8-options.ts';

export type Methods = { readonly [name: string]: (...args: never[]) => unknown };

/** The same methods as another thread calls them: each returns a promise. */
export type Remote<Served> = {
  readonly [Name in keyof Served]: Served[Name] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export type Call = (method: string, args: never[]) => Promise<unknown>;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

interface Response {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: {
    readonly message: string;
    readonly code: string | undefined;
    readonly refusal: unknown;
    readonly stack: string | undefined;
  };
}

/** The caller's side of a thread. */
export interface ThreadClient<M extends Methods> {
  /** Calls a method; rejects with the thread's error (its `code` and `refusal` are kept) or when the thread has ended. */
  call<K extends keyof M & string>(
    method: K,
    args: Parameters<M[K]>,
    transfer?: readonly TransferListItem[],
  ): Promise<Awaited<ReturnType<M[K]>>>;
  /** Resolves when the thread answers, whatever it serves. Rejects when it has ended. */
  ping(): Promise<void>;
  /** Number of calls in flight. */
  readonly open: number;
  /** Ends the thread; calls in flight are rejected. */
  terminate(): Promise<void>;
  /** Ends it for a reason, as if it had ended by itself: calls in flight are rejected with it. */
  end(reason: Error): Promise<void>;
}

/**
 * Creates an object whose methods are calls to an object that a thread serves. The thread sends the names of its methods,
 * so that there is no second list of them.
 */
export function createRemote<Served>(methods: readonly string[], call: Call): Remote<Served> {
  const entries = methods.map((name) => [name, (...args: never[]) => call(name, args)] as const);
  return Object.fromEntries(entries) as Remote<Served>;
}

/**
 * Starts `entry` as a worker thread with `workerData`. Calls `onEnd` with the reason if the thread ends without
 * `terminate`, for example because it exceeded one of the `limits`.
 */
export function startThread<M extends Methods>(
  entry: URL,
  workerData: unknown,
  onEnd: (reason: Error) => void,
  limits: ResourceLimits = usualLimits(),
): ThreadClient<M> {
  // The system shows the name, for example in `top -H`.
  const name = basename(entry.pathname).split('.', 1)[0];
  const worker = new Worker(entry, { name, workerData, resourceLimits: limits });
  let asked = false;
  let endedFor: Error | null = null;
  // A thread that is being ended keeps the process until it has.
  const calls = createCalls(worker, () => !asked && endedFor === null);
  const end = (reason: Error) => {
    if (calls.end(reason) && !asked) onEnd(reason);
  };
  worker.on('error', end);
  worker.on('exit', (code) => end(endedFor ?? new Error(`thread ${entry.pathname} ended with code ${code}`)));
  return {
    call: (method, args, transfer = []) => calls.send(method, args, transfer),
    ping: () => calls.send(PING, [], []),
    get open() {
      return calls.open;
    },
    async terminate() {
      asked = true;
      await worker.terminate();
    },
    async end(reason) {
      endedFor = reason;
      await worker.terminate();
    },
  };
}

/** Calls what another thread serves at the other end of a port. They are rejected with `name` when the port is closed. */
export function callPort<M extends Methods>(
  port: MessagePort,
  name: string,
): Pick<ThreadClient<M>, 'call' | 'ping'> {
  const calls = createCalls(port, () => true);
  port.on('close', () => calls.end(new Error(`${name} has ended`)));
  return {
    call: (method, args, transfer = []) => calls.send(method, args, transfer),
    ping: () => calls.send(PING, [], []),
  };
}

/** The calls in flight through a port. `mayRest`: false: the port keeps the process alive, although none is in flight. */
function createCalls(port: Worker | MessagePort, mayRest: () => boolean) {
  const open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  let ended: Error | null = null;
  port.on('message', ({ id, value, error }: Response) => {
    const waiting = open.get(id);
    if (waiting === undefined) return;
    open.delete(id);
    if (open.size === 0 && mayRest()) port.unref();
    if (error === undefined) waiting.resolve(value as never);
    else
      waiting.reject(
        Object.assign(new Error(error.message), {
          code: error.code,
          refusal: error.refusal,
          threadStack: error.stack,
        }),
      );
  });
  port.unref();
  return {
    get open() {
      return open.size;
    },
    send(method: string, args: readonly unknown[], transfer: readonly TransferListItem[]): Promise<never> {
      if (ended !== null) return Promise.reject(ended);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        // A thread at rest does not keep the process alive; one with an open call does.
        if (open.size === 0) port.ref();
        open.set(id, { resolve, reject });
        port.postMessage({ id, method, args } satisfies Request, transfer);
      });
    },
    /** Rejects all, and those that follow. Returns false if they were before. */
    end(reason: Error): boolean {
      if (ended !== null) return false;
      ended = reason;
      for (const { reject } of open.values()) reject(reason);
      open.clear();
      return true;
    },
  };
}

/** The name under which every thread answers, beside its methods. */
const PING = 'ping';

/** Serves `methods` on the thread's port (its `parentPort`). `mayBegin`: each call waits for it. Absent: for nothing. */
export function serveThread(port: MessagePort, methods: Methods, mayBegin?: () => Promise<void>): void {
  port.on('message', async ({ id, method, args }: Request) => {
    try {
      if (mayBegin !== undefined) await mayBegin();
      if (method === PING) {
        port.postMessage({ id } satisfies Response);
        return;
      }
      const handler = methods[method];
      if (handler === undefined) throw new Error(`no method ${method}`);
      port.postMessage({ id, value: await handler(...(args as never[])) } satisfies Response);
    } catch (thrown) {
      const error = toError(thrown);
      const { code, refusal } = error as NodeJS.ErrnoException & { readonly refusal?: unknown };
      port.postMessage({
        id,
        error: { message: error.message, code, refusal, stack: error.stack },
      } satisfies Response);
    }
  });
}

/**
 * Serves `methods` on a further port of the thread, one call in each iteration of the event loop: Node.js takes all messages of a port at
 * once, and those of the other port would wait for as many calls as are in flight here.
 */
export function serveBeside(port: MessagePort, methods: Methods): void {
  let begun = Promise.resolve();
  serveThread(port, methods, () => {
    begun = begun.then(() => new Promise((resolve) => setImmediate(resolve)));
    return begun;
  });
}
