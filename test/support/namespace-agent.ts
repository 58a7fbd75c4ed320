/**
 * Lives in a network namespace and keeps it alive: opens listening sockets there and hands them to the test, and joins
 * sockets of the test with addresses of the namespace. Ends with the test, however that ends.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What the test asks of it. */
export type AgentRequest =
  /** Listen on this port of every address of the namespace, and hand the listener over. */
  | { readonly type: 'listen'; readonly id: number; readonly port: number }
  /** Join every connection of the listener that comes with this message with a port of the namespace. */
  | { readonly type: 'expose'; readonly id: number; readonly host: string; readonly port: number };

/** Its answer; a `listen` that went well carries the listener. */
export interface AgentAnswer {
  readonly id: number;
  readonly error: string | null;
}

const answer = (message: AgentAnswer, handle?: Server, done = () => {}): void =>
  void process.send?.(message, handle, {}, done);

process.on('disconnect', () => process.exit(0));
process.on('message', (request: AgentRequest, handle: unknown) => {
  const { id, port } = request;
  if (request.type === 'listen') {
    const server = createServer();
    server.once('error', (error) => answer({ id, error: error.message }));
    // Closed here once it was sent: the port then ends with the test's own listener.
    server.listen({ port, host: '::' }, () => answer({ id, error: null }, server, () => server.close()));
  } else {
    (handle as Server).on('connection', (near: Socket) => {
      const far = connect({ host: request.host, port });
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
      near.pipe(far).pipe(near);
    });
    answer({ id, error: null });
  }
});
process.send?.({ id: 0, error: null } satisfies AgentAnswer);
