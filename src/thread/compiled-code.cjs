/**
 * Runs files of the bundle with the code that V8 compiled in an earlier start. The cache of Node.js holds what is compiled before a file
 * runs; the functions that a start calls would be compiled anew by each. CommonJS, because the threads that load it need no ESM loader.
 */
const { readFileSync, renameSync, rm, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, dirname, join } = require('node:path');
const { cachedDataVersionTag, setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { BroadcastChannel, threadId } = require('node:worker_threads');
const { crc32 } = require('node:zlib');

const STARTED = 'upbeat-started';
/** The time after which a thread that is started later than the program keeps its code. */
const KEEP_AFTER_MS = 20_000;
/** The length of the checksum that kept code ends with, bytes. */
const CHECKSUM_LENGTH = 4;

/**
 * The exports of a bundled file, a function of a CommonJS module's variables and of one that imports: a script has no `import()` that is
 * not experimental. Its code is kept beside the file or, where that is not writable, in the folder of `NODE_COMPILE_CACHE`.
 * @param {string} file
 * @param {(specifier: string) => Promise<unknown>} [importModule] absent: the file imports nothing
 */
exports.runCompiled = (file, importModule) => {
  // An option of all threads, which the one that started this may have changed; it is part of the tag.
  setFlagsFromString('--flush-bytecode');
  const tag = cachedDataVersionTag();
  const source = readFileSync(file);
  const sum = crc32(source);
  const places = placesOf(file, tag, sum);
  const cachedData = readFirst(places, sum);
  const script = new Script(source.toString('latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true)
    keepLater(script, tag, (code) => places.some((place) => write(place, code, sum)));
  const module = { exports: {} };
  script.runInThisContext()(module, module.exports, createRequire(file), importModule);
  return module.exports;
};

/** Tells all threads that the start is over. */
exports.announceStart = () => {
  const channel = new BroadcastChannel(STARTED);
  channel.postMessage(null);
  channel.close();
};

/**
 * Keeps the code of a script once the start is over. V8 drops the code of functions that are called once, unless it is told not to.
 * @param {InstanceType<typeof Script>} script
 * @param {number} tag
 * @param {(code: Buffer) => void} write
 */
function keepLater(script, tag, write) {
  setFlagsFromString('--no-flush-bytecode');
  const started = new BroadcastChannel(STARTED);
  const keep = () => {
    clearTimeout(timer);
    started.close();
    setFlagsFromString('--flush-bytecode');
    // V8 accepts code for the options under which it was written alone.
    if (cachedDataVersionTag() === tag) write(script.createCachedData());
  };
  const timer = setTimeout(keep, KEEP_AFTER_MS).unref();
  started.onmessage = keep;
  started.unref();
}

/**
 * @param {string} file
 * @param {number} tag
 * @param {number} sum
 */
function placesOf(file, tag, sum) {
  const name = `${basename(file, '.js')}-${tag.toString(16)}.code`;
  const folder = process.env.NODE_COMPILE_CACHE;
  const beside = join(dirname(file), name);
  return folder ? [beside, join(folder, `${sum.toString(16)}-${name}`)] : [beside];
}

/**
 * The first whole code. V8 checks the lengths of code and source alone: it would run that of another source of the same length, and end the
 * process by damaged code, at each start anew.
 * @param {readonly string[]} places
 * @param {number} sum
 */
function readFirst(places, sum) {
  for (const place of places) {
    try {
      const kept = readFileSync(place);
      const code = kept.subarray(0, -CHECKSUM_LENGTH);
      if (kept.readUInt32LE(code.length) === crc32(code, sum)) return code;
    } catch {
      // It is not there, or too short.
    }
  }
  return undefined;
}

/**
 * @param {string} place
 * @param {Buffer} code
 * @param {number} sum
 */
function write(place, code, sum) {
  // Several threads may keep the same file.
  const unfinished = `${place}.${process.pid}-${threadId}`;
  const checksum = Buffer.alloc(CHECKSUM_LENGTH);
  checksum.writeUInt32LE(crc32(code, sum));
  try {
    writeFileSync(unfinished, Buffer.concat([code, checksum]), { mode: 0o600 });
    renameSync(unfinished, place);
    return true;
  } catch {
    rm(unfinished, { force: true }, () => {});
    return false;
  }
}
