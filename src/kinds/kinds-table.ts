/** Every kind of check by its name. */
import type { ProbedKind } from '../domain/service.ts';
import type { CheckKind } from './check-kind.ts';
import { dnsCheck } from './dns.ts';
import { dockerCheck } from './docker.ts';
import { domainCheck } from './domain.ts';
import { grpcCheck } from './grpc.ts';
import { healthCheck } from './health.ts';
import { httpCheck } from './http.ts';
import { icmpCheck } from './icmp.ts';
import { mongodbCheck } from './mongodb.ts';
import { mqttCheck } from './mqtt.ts';
import { mysqlCheck } from './mysql.ts';
import { postgresCheck } from './postgres.ts';
import { redisCheck } from './redis.ts';
import { rootCheck } from './root.ts';
import { smtpCheck } from './smtp.ts';
import { sshCheck } from './ssh.ts';
import { tcpCheck } from './tcp.ts';
import { tlsCheck } from './tls.ts';
import { websocketCheck } from './websocket.ts';

export const CHECK_KINDS: Readonly<Record<ProbedKind, CheckKind>> = {
  root: rootCheck,
  health: healthCheck,
  http: httpCheck,
  tcp: tcpCheck,
  tls: tlsCheck,
  websocket: websocketCheck,
  grpc: grpcCheck,
  icmp: icmpCheck,
  dns: dnsCheck,
  smtp: smtpCheck,
  ssh: sshCheck,
  postgres: postgresCheck,
  mysql: mysqlCheck,
  redis: redisCheck,
  mqtt: mqttCheck,
  mongodb: mongodbCheck,
  domain: domainCheck,
  docker: dockerCheck,
};
