/** Installing asks the registry alone and builds nothing (docs/adr/0007). */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'native/prebuild-install');
const PACKED = 'native/prebuild-install-7.1.3-upbeat.tgz';

t.test('it installs a prebuild-install of its own, which does nothing and succeeds', (t) => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly version?: string; readonly resolved?: string; readonly integrity?: string }>
    >;
  };
  const packed = readFileSync(join(ROOT, PACKED));
  const named = Object.entries(lock.packages).filter(([path]) =>
    path.endsWith('node_modules/prebuild-install'),
  );
  t.match(named, [
    [
      'node_modules/prebuild-install',
      {
        version: '7.1.3-upbeat',
        resolved: `file:${PACKED}`,
        integrity: `sha512-${createHash('sha512').update(packed).digest('base64')}`,
      },
    ],
  ]);
  t.equal(named.length, 1);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(FOLDER, 'skip.mjs'), '-r', 'napi']);
  t.same([status, stdout.toString(), stderr.toString()], [0, '', '']);
  t.end();
});

t.test('it has packed what its folder holds', (t) => {
  const files = unpack(gunzipSync(readFileSync(join(ROOT, PACKED))));
  const held = new Map(
    readdirSync(FOLDER).map((name) => [`package/${name}`, readFileSync(join(FOLDER, name), 'utf8')]),
  );
  t.same([...files].sort(), [...held].sort());
  t.end();
});

/** The files of a tar archive: headers of 512 bytes with name and octal length, then the content in whole blocks. */
function unpack(archive: Uint8Array): Map<string, string> {
  const files = new Map<string, string>();
  const text = (from: number, length: number) =>
    Buffer.from(archive.subarray(from, from + length))
      .toString()
      .replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= archive.length; ) {
    const name = text(at, 100);
    if (name === '') break;
    const length = Number.parseInt(text(at + 124, 12), 8);
    files.set(name, text(at + 512, length));
    at += 512 + Math.ceil(length / 512) * 512;
  }
  return files;
}

t.test('it installs native packages for one C library only', (t) => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly libc?: readonly string[] }>>;
  };
  // npm 10 drops `libc` when it writes the lock file; every Linux then installs both variants, 66 MB more.
  const forMusl = Object.entries(packages).filter(([path]) => path.endsWith('-musl'));
  t.ok(forMusl.length > 0);
  for (const [path, { libc }] of forMusl) {
    t.same(libc, ['musl'], path);
    const other = packages[path.replace(/-musl$/, '')] ?? packages[path.replace(/musl$/, 'gnu')];
    t.same(other?.libc, ['glibc'], `the variant beside ${path}`);
  }
  t.end();
});
