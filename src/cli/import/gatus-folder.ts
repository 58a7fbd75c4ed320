/** Configurations of Gatus in a folder: all of its YAML files are one. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ImportError } from './kuma-database.ts';
import type { LostField, Row } from './listed-service.ts';

/** Maximum number of files of a folder, and of folders in each other. */
const MAX_FILES = 1_000;
const MAX_DEPTH = 20;

/** Returns true if a path is that of a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The texts of the YAML files of a folder and those in it, in the order in which Gatus reads them. Throws {@link ImportError}. */
export function readYamlFiles(folder: string): readonly { readonly file: string; readonly text: string }[] {
  const files = filesIn(folder, MAX_DEPTH).filter((file) => /\.ya?ml$/.test(file));
  if (files.length > MAX_FILES) throw new ImportError(`${folder} has more than ${MAX_FILES} YAML files`);
  return files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

/** The files of a folder, without those that Kubernetes keeps beside the files of a volume: they begin with two dots. */
function filesIn(folder: string, depth: number): string[] {
  if (depth === 0) throw new ImportError(`${folder} is too deep a folder`);
  return readdirSync(folder)
    .filter((name) => !name.startsWith('..'))
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return isFolder(path) ? filesIn(path, depth - 1) : [path];
    });
}

/** Joins the contents of the files: lists one after the other, other members once. `lost`: those of which the first one counts. */
export function joinContents(contents: readonly unknown[]): {
  readonly root: Row;
  readonly lost: readonly LostField[];
} {
  const lost: LostField[] = [];
  const join = (first: unknown, second: unknown, field: string): unknown => {
    if (first === undefined || first === null) return second;
    if (second === undefined || second === null) return first;
    if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
    if (isMap(first) && isMap(second)) {
      const names = new Set([...Object.keys(first), ...Object.keys(second)]);
      return Object.fromEntries(
        [...names].map((name) => [
          name,
          join(first[name], second[name], field === '' ? name : `${field}.${name}`),
        ]),
      );
    }
    lost.push({ field, reason: 'several files have it, and the first one counts' });
    return first;
  };
  const root = contents.reduce((all, one) => join(all, one, ''), {});
  return { root: isMap(root) ? root : {}, lost };
}

function isMap(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
