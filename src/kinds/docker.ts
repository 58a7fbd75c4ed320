/**
 * Kind `docker`: the state and health of a container, asked of Docker's Engine API or a compatible one (Podman), at a socket of this
 * machine or, with a port, at the domain. The API is the machine's: services of untrusted accounts never reach it.
 */
import { type Failure, type FailureCause, failureOf, oneLine } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { NO_TIMING } from '../domain/result.ts';
import { isTrusted } from '../domain/service.ts';
import { Type } from '../json-schema.ts';
import { type Fault, targetFault } from '../outbound/fault.ts';
import { askSocket, type SocketAnswer } from '../outbound/local-socket.ts';
import { readBody } from '../outbound/read-body.ts';
import { sendRequest } from '../outbound/send-request.ts';
import { attemptOf, defineKind, invalidAddress, PortSetting, type Run } from './check-kind.ts';
import { contentFailure, notProtocol } from './talk.ts';

export const DOCKER_SOCKET = '/var/run/docker.sock';
/** Maximum size of an answer, bytes. That of a container with many labels, mounts and networks takes some tens of thousands. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Maximum length of what a health check wrote. */
const MAX_OUTPUT_LENGTH = 120;

export const dockerCheck = defineKind({
  settings: Type.Object({
    container: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]*$', maxLength: 128 }),
    socket: Type.Optional(Type.String({ pattern: '^/[\\w./-]+\\.sock$', maxLength: 200 })),
    port: Type.Optional(PortSetting),
  }),
  refuse: (_, names) =>
    names.has('socket') && names.has('port')
      ? [{ setting: 'socket', problem: { code: 'not_with', other: 'port' } }]
      : [],
  prepare:
    (tools) =>
    async (run, { container, socket = DOCKER_SOCKET, port }) => {
      const { target } = run;
      if (target.origin === 'owner' && !isTrusted(target))
        return failed(run, ownFault({ code: 'account_untrusted' }));
      const host = port === undefined ? 'docker' : `${hostInUrl(target.domain)}:${port}`;
      const path = `/containers/${encodeURIComponent(container)}/json`;
      const destination = tools.destinationOf(`http://${host}${path}`);
      if ('problem' in destination) return invalidAddress(run, 'docker', destination);
      const order = {
        ...{ destination, method: 'GET', body: null, maxBodyBytes: MAX_ANSWER_BYTES, wantsBody: () => true },
        headers: ['user-agent', tools.userAgent, 'accept', 'application/json'],
      };
      if (port === undefined) {
        const answer = await askSocket(tools.clock, socket, order, run.deadline);
        return await judge(run, container, answer);
      }
      const guard = tools.guardOf(target, port);
      const trust = () => tools.trust(null);
      const fresh = run.options.number > 0;
      const request = { ...order, redirects: 0, guard, trust, fresh };
      return await judge(run, container, await sendRequest(tools.parts, request, run.deadline));
    },
});

async function judge(run: Run, container: string, answer: SocketAnswer) {
  const { statusCode, timing, fault } = answer;
  const found = { answered: statusCode !== 0, statusCode, timing, fault, lostMs: run.deadline.lostMs };
  if (fault !== null) return attemptOf(run, 'docker', { ...found, failure: null });
  // A proxy before the socket that does not let us ask says nothing of the container.
  if (statusCode === 401 || statusCode === 403)
    return attemptOf(run, 'docker', {
      ...found,
      fault: ownFault({ code: 'status', statusCode }),
      failure: null,
    });
  const body = await readBody(answer, MAX_ANSWER_BYTES);
  const text = body.kind === 'text' && body.whole ? body.text : null;
  return attemptOf(run, 'docker', { ...found, failure: failureIn(statusCode, container, text) });
}

/** Null: the container runs, and is healthy as far as it says. */
function failureIn(statusCode: number, container: string, text: string | null): Failure | null {
  if (statusCode === 404) return contentFailure({ code: 'container_missing', text: container });
  if (statusCode !== 200) return failureOf('status', 'first_byte', { code: 'status', statusCode });
  const state = stateIn(text);
  if (state === null) return notProtocol('the Engine API of Docker', (text ?? '').slice(0, 40));
  if (state.status !== 'running')
    return contentFailure({ code: 'container_stopped', state: state.status, exitCode: state.exitCode });
  if (state.health === 'unhealthy')
    return contentFailure({ code: 'container_unhealthy', text: state.output });
  return null;
}

/** The state in the answer about a container; null: the answer is not one. */
function stateIn(text: string | null) {
  const state = memberOf(parse(text), 'State');
  const status = memberOf(state, 'Status');
  if (typeof status !== 'string' || status === '') return null;
  const health = memberOf(state, 'Health');
  const log = memberOf(health, 'Log');
  const output = Array.isArray(log) ? memberOf(log.at(-1), 'Output') : null;
  const exitCode = memberOf(state, 'ExitCode');
  return {
    status: oneLine(status).slice(0, MAX_OUTPUT_LENGTH),
    exitCode: typeof exitCode === 'number' ? exitCode : 0,
    health: memberOf(health, 'Status'),
    output: typeof output === 'string' ? oneLine(output).slice(0, MAX_OUTPUT_LENGTH) : '',
  };
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function ownFault(cause: FailureCause): Fault {
  return { ...targetFault('unreachable', 'connect', cause), suspect: 'own_fault' };
}

/** An attempt that was not made. */
function failed(run: Run, fault: Fault) {
  return attemptOf(run, 'docker', { answered: false, timing: NO_TIMING, fault, failure: null, lostMs: 0 });
}
