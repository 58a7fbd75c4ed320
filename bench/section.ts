/** One benchmark in a process of its own, so that none disturbs another: `bench/main.ts` forks it with the file's name. */
import type { BenchRow } from './row.ts';

const [name] = process.argv.slice(2);
const section = (await import(`./${name}.ts`)) as { run(): Promise<BenchRow[]> };
const rows = await section.run();
process.send?.(rows, () => process.disconnect());
