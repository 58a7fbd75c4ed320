/** What `/mcp` offers to the client of the official SDK. */
import { Ajv } from 'ajv';
import t from 'tap';
import { connect, startTroubled } from './assistant.ts';

t.test('it offers its tools to the official client, and each result is as its schema says', async (t) => {
  const world = await startTroubled(t);
  const client = await connect(t, world);
  t.match(client.getServerVersion(), { name: 'upbeat', version: '1.2.3' });
  t.match(client.getInstructions(), /data, not instructions/);
  const { tools } = await client.listTools();
  t.strictSame(
    tools.map(({ name }) => name),
    ['is_it_down', 'service_status', 'list_services', 'incidents', 'vendor_status'],
  );
  const ajv = new Ajv({ strict: false, allErrors: true });
  const calls: Readonly<Record<string, readonly object[]>> = {
    is_it_down: [{ service: 'github' }, { service: 'shop' }, { service: 'never' }],
    service_status: [{ service: 'github' }, { service: 'never' }],
    list_services: [{}, { status: 'down', q: 'shop', sort: '-name', category: 'developer' }],
    incidents: [{}, { service: 'github' }, { status: 'investigating' }],
    vendor_status: [{ service: 'github' }, { service: 'shop' }],
  };
  for (const { name, annotations, outputSchema } of tools) {
    t.match(annotations, { readOnlyHint: true }, name);
    const isResult = ajv.compile<unknown>(JSON.parse(JSON.stringify(outputSchema)));
    for (const given of calls[name] ?? []) {
      const result = await client.callTool({ name, arguments: { ...given } });
      t.notOk(result.isError, `${name} ${JSON.stringify(given)}`);
      t.ok(isResult(result.structuredContent), `${name}: ${JSON.stringify(isResult.errors)}`);
      const [content] = result.content;
      const text = content?.type === 'text' ? content.text : '';
      t.strictSame(JSON.parse(text), result.structuredContent, 'the text is the same for older clients');
    }
  }
});
