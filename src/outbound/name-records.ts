/** Records of a name beside a connection to it: for proofs of control over a domain, and for where it leads. */
import { systemClock } from '../clock.ts';
import { createNameClient, type NameAnswer } from './name-client.ts';
import type { RecordType } from './name-message.ts';
import { createServerList } from './name-servers.ts';

/** How the question is asked. */
export interface NameQuestionSettings {
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  readonly timeoutMs: number;
}

/** Every TXT record of the name, its parts joined; empty if the name has none or no server answers. Never rejects. */
export async function readTxtRecords(name: string, settings: NameQuestionSettings): Promise<string[]> {
  return textsOf(await askNameServers(name, ['TXT'], settings));
}

/** Every address of the name, of both families; empty if it has none or no server answers. Never rejects. */
export async function readAddresses(name: string, settings: NameQuestionSettings): Promise<string[]> {
  return textsOf(await askNameServers(name, ['A', 'AAAA'], settings));
}

/** Asks for each type at once. One answer a type, in their order; throws where a name server cannot be read. */
export async function askNameServers(
  name: string,
  types: readonly RecordType[],
  { nameservers, timeoutMs }: NameQuestionSettings,
): Promise<NameAnswer[]> {
  const client = createNameClient(createServerList(nameservers, systemClock), systemClock);
  const until = systemClock.monotonic() + timeoutMs;
  const answers = await Promise.all(types.map((type) => client.ask({ name, type }, until).answer));
  client.close();
  return answers;
}

function textsOf(answers: readonly NameAnswer[]): string[] {
  return answers.flatMap((answer) =>
    answer.kind === 'records' ? answer.records.map(({ text }) => text) : [],
  );
}
