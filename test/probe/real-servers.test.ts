/** Checks of nginx, HAProxy, Caddy and GnuTLS as people run them: what a browser opens is up, and what fails has its own reason. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { makeCertificate, makeSigner, TEST_CA_FILE, type TestAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/install-servers.ts';
import { openProbe, type Trial } from './try-probe.ts';

const PROGRAMS = ['nginx', 'haproxy', 'caddy', 'gnutls-serv'];
const NEEDS_SERVERS = PROGRAMS.every(hasProgram)
  ? {}
  : { skip: 'servers are not there: apt-get install nginx-light haproxy caddy gnutls-bin' };
const READY_MS = 60_000;

/** What a check of a server finds; null: nothing is wrong. */
type Finding = { readonly status: number; readonly failure: string | null };
type Row = readonly [name: string, url: string, finding: Finding, trial?: Trial];

const good = (status = 200): Finding => ({ status, failure: null });
const fails = (failure: string, status = 0): Finding => ({ status, failure });
const GET: Trial = { check: { method: 'GET' } };
const http = (url: string, settings: object, accept: readonly ['3xx'] | null = null): Trial => ({
  check: { kind: 'http', url, settings: { ...settings }, accept },
});

t.test('it finds what a browser finds', NEEDS_SERVERS, async (t) => {
  const folder = t.testdir({});
  const pair = makeCertificate({ names: ['localhost', '127.0.0.1'] });
  const rsa = makeCertificate({ names: ['127.0.0.1'], rsaBits: 2048 });
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const cert = file('server.pem', pair.cert);
  const key = file('server-key.pem', pair.key);
  const both = file('both.pem', pair.cert + pair.key);
  const rsaCert = file('rsa.pem', rsa.cert);
  const rsaKey = file('rsa-key.pem', rsa.key);

  const children: ChildProcess[] = [];
  t.teardown(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  const run = (program: string, args: readonly string[]) => {
    const env = { ...process.env, HOME: folder, PATH: `${process.env.PATH}:/usr/sbin` };
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env, cwd: folder });
    child.stderr?.resume();
    children.push(child);
  };
  const ports = await Promise.all(Array.from({ length: 24 }, freePort));
  const port = () => ports.pop() ?? 0;

  // nginx
  const [plain, tls12, wants, rejects] = [port(), port(), port(), port()];
  const ssl = `ssl_certificate ${cert}; ssl_certificate_key ${key};`;
  const nginx = `
    daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
    events { worker_connections 64; }
    http {
      access_log off; gzip on; gzip_min_length 1; gzip_types text/plain;
      client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
      uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
      server {
        listen 127.0.0.1:${plain};
        absolute_redirect off;
        default_type text/plain;
        location = / { return 200 'welcome here'; }
        location = /folder { return 301 /folder/; }
        location /folder/ { return 200 'folder'; }
        location = /absolute { return 302 http://127.0.0.1:${plain}/; }
        location = /secure { return 308 https://127.0.0.1:${tls12}/; }
        location = /cookie { if ($cookie_seen = "") { add_header Set-Cookie "seen=1; Path=/"; return 302 /cookie; } return 200 'in'; }
        location = /no-head { if ($request_method = HEAD) { return 444; } return 200 'get'; }
        location = /refused-head { if ($request_method = HEAD) { return 405; } return 200 'get'; }
        location = /closed { return 444; }
        location = /gone { return 410; }
        location / { return 200 'else'; }
      }
      server { listen 127.0.0.1:${tls12} ssl http2; ${ssl} ssl_protocols TLSv1.2; location / { return 200 'secure'; } }
      server { listen 127.0.0.1:${wants} ssl; ${ssl} ssl_verify_client on; ssl_client_certificate ${TEST_CA_FILE}; }
      server { listen 127.0.0.1:${rejects} ssl; ssl_reject_handshake on; }
    }`;
  run('nginx', ['-p', folder, '-c', file('nginx.conf', nginx), '-e', join(folder, 'nginx.log')]);

  // HAProxy
  const [proxy, only2, demands, demands12, hints] = [port(), port(), port(), port(), port()];
  const haproxy = `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend plain
  bind 127.0.0.1:${proxy}
  http-request redirect scheme https code 301 if { path /never }
  http-request redirect location /cookie set-cookie seen=1 code 302 if { path /cookie } !{ req.cook(seen) -m found }
  http-request deny deny_status 429 if { path /limited }
  http-request return status 200 content-type text/plain string "ok" hdr x-odd "a  b"
frontend only2
  bind 127.0.0.1:${only2} ssl crt ${both} alpn h2
  http-request return status 200 content-type text/plain string "ok"
frontend demands
  bind 127.0.0.1:${demands} ssl crt ${both} ca-file ${TEST_CA_FILE} verify required
  http-request return status 200 content-type text/plain string "ok"
frontend demands12
  bind 127.0.0.1:${demands12} ssl crt ${both} ca-file ${TEST_CA_FILE} verify required ssl-max-ver TLSv1.2
  http-request return status 200 content-type text/plain string "ok"
frontend hints
  bind 127.0.0.1:${hints}
  http-request early-hint Link "</a.css>; rel=preload"
  http-request return status 204
`;
  run('haproxy', ['-db', '-f', file('haproxy.cfg', haproxy)]);

  // Caddy
  const [site, go, goDemands] = [port(), port(), port()];
  const caddy = `{
  admin off
  auto_https off
  storage file_system ${folder}/caddy
}
http://127.0.0.1:${site} {
  bind 127.0.0.1
  encode gzip
  redir /old /new permanent
  respond /new "new" 200
  abort /abort
  header /quirks X-Empty ""
  respond /quirks "{\\"status\\":\\"ok\\"}" 200
  respond "hello from caddy" 200
}
https://127.0.0.1:${go} {
  bind 127.0.0.1
  tls ${cert} ${key}
  respond "hello"
}
https://localhost:${goDemands} {
  bind 127.0.0.1
  tls ${cert} ${key} {
    client_auth {
      mode require_and_verify
      trusted_ca_cert_file ${TEST_CA_FILE}
    }
  }
  respond "hello"
}
`;
  run('caddy', ['run', '--adapter', 'caddyfile', '--config', file('Caddyfile', caddy)]);

  // GnuTLS, for kinds of TLS that other servers no longer have.
  const gnutls = (priority: string, pair = [cert, key], more: readonly string[] = []) => {
    const at = port();
    const [certificate = '', privateKey = ''] = pair;
    const files = ['--x509certfile', certificate, '--x509keyfile', privateKey];
    run('gnutls-serv', ['--http', '-q', '-p', String(at), ...files, '--priority', priority, ...more]);
    return at;
  };
  const legacy = gnutls('NORMAL:-VERS-ALL:+VERS-TLS1.2:%DISABLE_SAFE_RENEGOTIATION');
  const p521 = gnutls('NORMAL:-GROUP-ALL:+GROUP-SECP521R1');
  const p52112 = gnutls('NORMAL:-VERS-ALL:+VERS-TLS1.2:-GROUP-ALL:+GROUP-SECP521R1');
  const oldCiphers = gnutls(
    'NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA:-CIPHER-ALL:+AES-128-CBC:-MAC-ALL:+SHA1',
    [rsaCert, rsaKey],
  );
  const tls11 = gnutls('NORMAL:-VERS-ALL:+VERS-TLS1.1', [rsaCert, rsaKey]);
  const strange = gnutls('NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CAMELLIA-128-GCM');

  const used = [plain, tls12, wants, rejects, proxy, only2, demands, demands12, hints, site, go, goDemands];
  await Promise.all([...used, legacy, p521, p52112, oldCiphers, tls11, strange].map(answers));

  const at = (server: number, path = '/') => `http://127.0.0.1:${server}${path}`;
  const secure = (server: number) => `https://127.0.0.1:${server}/`;
  const body = { assertions: ['body contains welcome here'] };
  const MISSING = 'the server requires a client certificate';
  const shows = (url: string, signer?: TestAuthority) => {
    const { cert, key } = makeCertificate({
      names: ['probe.example'],
      client: true,
      ...(signer && { signer }),
    });
    return http(url, { clientCertificate: cert, clientKey: key });
  };
  const stranger = makeSigner('Stranger', new Date(Date.now() + 86_400_000));
  const REFUSED = 'the server refuses the client certificate (unknown ca)';
  const rows: readonly Row[] = [
    ['nginx', at(plain), good()],
    ['nginx: a relative redirect', at(plain, '/folder'), good()],
    ['nginx: an absolute redirect', at(plain, '/absolute'), good()],
    ['nginx: a redirect to HTTPS', at(plain, '/secure'), good()],
    ['nginx: a redirect that sets a cookie', at(plain, '/cookie'), good()],
    [
      'nginx: redirects are not followed',
      at(plain, '/folder'),
      good(301),
      http(at(plain, '/folder'), { followRedirects: false }, ['3xx']),
    ],
    ['nginx: HEAD is not answered', at(plain, '/no-head'), good()],
    ['nginx: HEAD is refused', at(plain, '/refused-head'), good()],
    ['nginx: closed', at(plain, '/closed'), fails('the connection was closed without an answer')],
    ['nginx: gone', at(plain, '/gone'), fails('answered with status 410', 410)],
    ['nginx: a body', at(plain), good(), http(at(plain), body)],
    [
      'nginx: a body in gzip',
      at(plain),
      good(),
      http(at(plain), { ...body, headers: ['Accept-Encoding: gzip'] }),
    ],
    ['nginx: TLS 1.2', secure(tls12), good()],
    ['nginx: a client certificate', secure(wants), good(400)],
    ['nginx: no such name', secure(rejects), fails('the server has no certificate for this name')],
    ['nginx: plain HTTP for HTTPS', at(tls12), good(400)],
    ['nginx: HTTPS for plain HTTP', secure(plain), fails('the server does not speak TLS on this port')],
    ['HAProxy', at(proxy), good()],
    ['HAProxy: a redirect that sets a cookie', at(proxy, '/cookie'), good()],
    ['HAProxy: too many requests', at(proxy, '/limited'), good(429)],
    ['HAProxy: HTTP/2 alone is offered', secure(only2), good()],
    ['HAProxy: a client certificate', secure(demands), fails(MISSING)],
    ['HAProxy: a client certificate over TLS 1.2', secure(demands12), fails(MISSING)],
    [
      'nginx: a client certificate that it gets',
      secure(wants),
      fails('answered with status 404', 404),
      shows(secure(wants)),
    ],
    ['HAProxy: a client certificate that it gets', secure(demands), good(), shows(secure(demands))],
    ['HAProxy: one over TLS 1.2', secure(demands12), good(), shows(secure(demands12))],
    ['HAProxy: one of a stranger', secure(demands), fails(REFUSED), shows(secure(demands), stranger)],
    [
      'HAProxy: one of a stranger over TLS 1.2',
      secure(demands12),
      fails(REFUSED),
      shows(secure(demands12), stranger),
    ],
    ['HAProxy: early hints', at(hints), good(204)],
    ['HAProxy: TLS for plain HTTP', at(demands), fails('the connection was closed without an answer')],
    ['Caddy', at(site), good()],
    ['Caddy by GET', at(site), good(), GET],
    ['Caddy: a redirect', at(site, '/old'), good()],
    ['Caddy: aborted', at(site, '/abort'), fails('the connection was closed without an answer')],
    ['Caddy: a health endpoint', at(site, '/quirks'), good(), { check: { kind: 'health' } }],
    ['Caddy: TLS 1.3', secure(go), good()],
    ['Caddy: a client certificate', `https://localhost:${goDemands}/`, fails(MISSING)],
    ['GnuTLS without RFC 5746', secure(legacy), good()],
    ['GnuTLS with P-521 alone', secure(p521), good()],
    ['GnuTLS with P-521 alone, TLS 1.2', secure(p52112), good()],
    ['GnuTLS with RSA and CBC', secure(oldCiphers), good()],
    ['GnuTLS with TLS 1.1', secure(tls11), fails('the server speaks only versions of TLS before 1.2')],
    [
      'GnuTLS with a cipher that browsers do not have',
      secure(strange),
      fails('the server has no certificate for this name, or accepts none of the offered ciphers'),
    ],
  ];
  const probe = openProbe(t, { ports: used.concat(ports), concurrency: 4 });
  for (const [name, url, finding, trial] of rows) {
    const { statusCode, failure } = await probe(url, trial);
    t.same({ status: statusCode, failure: failure?.detail ?? null }, finding, name);
  }
});

/** Waits until a server listens. */
async function answers(port: number): Promise<void> {
  const endsAt = Date.now() + READY_MS;
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1' });
    const opened = await new Promise((resolve) => {
      socket.on('connect', () => resolve(true));
      socket.on('error', () => resolve(false));
    });
    socket.destroy();
    if (opened === true) return;
    if (Date.now() > endsAt) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
