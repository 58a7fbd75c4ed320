/** Monitors of Uptime Kuma that are no web pages. */
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { describeLost, describeSkipped } from '../../../src/cli/import-services.ts';

t.test("it reads Uptime Kuma's monitors that are no web pages", async (t) => {
  const monitorList = [
    { type: 'ping', name: 'Host', hostname: 'host.example.com', packetSize: 1_400 },
    {
      ...{ type: 'websocket-upgrade', name: 'Live', url: 'wss://live.example.com/feed' },
      ...{ wsSubprotocol: 'v1', accepted_statuscodes: ['1000'] },
    },
    {
      type: 'websocket-upgrade',
      name: 'Lax',
      url: 'ws://a.example:81',
      wsIgnoreSecWebsocketAcceptHeader: true,
    },
    { type: 'websocket-upgrade', name: 'Nowhere', url: 'https://a.example' },
    {
      ...{ type: 'grpc-keyword', name: 'Orders', grpcUrl: 'orders.example.com:50051', grpcEnableTls: true },
      ...{ grpcServiceName: 'Health', grpcMethod: 'check', grpcBody: '{"service": "shop.Orders"}' },
      ...{ grpcProtobuf: 'syntax = "proto3";', keyword: 'SERVING', grpcMetadata: '{"a":"b"}' },
    },
    {
      ...{ type: 'grpc-keyword', name: 'Carts', grpcUrl: 'carts.example.com:50051' },
      ...{ grpcServiceName: 'Carts', grpcMethod: 'list', keyword: 'x' },
    },
  ];
  const { services, skipped, notCarried } = readImport(JSON.stringify({ monitorList }), 'kuma.json');
  t.same(services, [
    { ...PLAIN_SERVICE, domain: 'host.example.com', name: 'Host', kind: 'icmp' },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'live.example.com', name: 'Live', kind: 'websocket' },
      settings: { path: '/feed', subprotocol: 'v1' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'a.example', name: 'Lax', kind: 'websocket', settings: { plain: true, port: 81 } },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'orders.example.com', name: 'Orders', kind: 'grpc' },
      settings: { service: 'shop.Orders', port: 50_051 },
    },
  ]);
  t.match(describeSkipped(skipped), [
    /^left out: Nowhere: it has no domain/,
    /^left out: Carts: of gRPC, only /,
  ]);
  t.match(describeLost(notCarried), [
    /^not carried over: packetSize of Host: /,
    /^not carried over: wsIgnoreSecWebsocketAcceptHeader of Lax: /,
    /^not carried over: grpcMetadata of Orders: /,
  ]);
});
