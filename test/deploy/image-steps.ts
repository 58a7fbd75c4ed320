/**
 * The steps of the Dockerfile, in an empty folder and without Docker: what is copied is copied, what is run is run, and
 * what is set is set, so that the image holds all that the program needs and nothing of development.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What the steps made. */
export interface BuiltImage {
  /** The working directory of the image: `/app` in it. */
  readonly folder: string;
  /** The environment that the image gives to its command. */
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Joins lines that end in a backslash; leaves comments out. */
function instructionsOf(dockerfile: string): { word: string; rest: string }[] {
  return dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, word, rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
      return word === undefined ? [] : [{ word, rest }];
    });
}

/**
 * Runs the steps of `root`'s Dockerfile below `folder`, which must be empty.
 * @throws Error that names the step which failed.
 */
export function runImageSteps(root: string, folder: string): BuiltImage {
  const stages: string[] = [];
  const environment: Record<string, string> = {};
  let command: string[] = [];
  let healthCheck: string[] = [];
  const here = () => join(folder, stages.at(-1) ?? '', 'app');
  for (const { word, rest } of instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (word === 'FROM') {
      stages.push(/ AS (\w+)$/.exec(rest)?.[1] ?? 'image');
      mkdirSync(here(), { recursive: true });
    } else if (word === 'COPY') copy(rest);
    else if (word === 'ENV')
      for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) environment[name] = value;
    else if (word === 'CMD') command = JSON.parse(rest) as string[];
    else if (word === 'HEALTHCHECK') healthCheck = JSON.parse(rest.replace(/^.*?CMD /, '')) as string[];
    // Folders and rights beside the working directory are the engine's to make.
    else if (word === 'RUN' && rest.startsWith('npm ')) run(rest);
  }
  return { folder: here(), environment, command, healthCheck };

  function copy(rest: string): void {
    const words = rest.split(' ');
    const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
    const sources = words.slice(from === undefined ? 0 : 1, -1);
    const target = words.at(-1) ?? '';
    for (const source of sources) {
      const path = from === undefined ? join(root, source) : join(folder, from, source);
      const into = target === './' ? join(here(), basename(source)) : join(here(), target);
      cpSync(path, into, { recursive: true });
    }
  }

  function run(line: string): void {
    // The cache of npm is this machine's; only an image is made smaller by emptying it.
    const [step = ''] = line.split(' && ');
    const { status, stderr } = spawnSync('sh', ['-c', step], {
      cwd: here(),
      encoding: 'utf8',
      env: { ...process.env, npm_config_prefer_offline: 'true' },
    });
    if (status !== 0) throw new Error(`RUN ${step}: ${stderr}`);
  }
}
