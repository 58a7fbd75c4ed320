/** The HTTP server, with bounds on what a client may make us wait for and hold. */
import { createServer, type RequestListener, type Server } from 'node:http';

/** Makes a server that ends slow and oversized requests. */
export function createHttpServer(listener: RequestListener): Server {
  return createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      // Longer than the minute for which load balancers keep connections, so that they end them, not we.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16_384,
    },
    listener,
  );
}

/** Listens; resolves with the port. Rejects with a sentence that says what to do, and the system's code. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint =
        error.code === 'EADDRINUSE'
          ? `port ${port} is in use; choose another by http.port or UPBEAT_HTTP_PORT`
          : error.code === 'EACCES'
            ? `port ${port} needs more rights; choose one above 1023`
            : error.message;
      reject(Object.assign(new Error(`cannot listen on ${host}: ${hint}`), { code: error.code }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
