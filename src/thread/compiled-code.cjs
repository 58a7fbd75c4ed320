/**
 * Runs files of the bundle with the code that V8 compiled in an earlier start. The cache of Node.js holds what is compiled before a file
 * runs; the functions that a start calls would be compiled anew by each. CommonJS, because the threads that load it need no ESM loader.
 */
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, dirname, join } = require('node:path');
const { cachedDataVersionTag, setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');
const { BroadcastChannel } = require('node:worker_threads');

const STARTED = 'upbeat-started';
/** The time after which a thread that is started later than the program keeps its code. */
const KEEP_AFTER_MS = 20_000;

/**
 * The exports of a bundled file, a function of a CommonJS module's variables. Its code is kept beside the file or, where that is not
 * writable, in the folder of `NODE_COMPILE_CACHE`.
 * @param {string} file
 */
exports.runCompiled = (file) => {
  // An option of all threads, which the one that started this may have changed; it is part of the tag.
  setFlagsFromString('--flush-bytecode');
  const tag = cachedDataVersionTag();
  const places = placesOf(file, tag);
  const cachedData = readFirst(places);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected === true) keepLater(script, tag, places);
  const module = { exports: {} };
  script.runInThisContext()(module, module.exports, createRequire(file));
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
 * @param {readonly string[]} places
 */
function keepLater(script, tag, places) {
  setFlagsFromString('--no-flush-bytecode');
  const started = new BroadcastChannel(STARTED);
  const keep = () => {
    clearTimeout(timer);
    started.close();
    setFlagsFromString('--flush-bytecode');
    // V8 accepts code for the options under which it was written alone.
    if (cachedDataVersionTag() === tag) places.some((place) => write(place, script.createCachedData()));
  };
  const timer = setTimeout(keep, KEEP_AFTER_MS).unref();
  started.onmessage = keep;
  started.unref();
}

/**
 * @param {string} file
 * @param {number} tag
 */
function placesOf(file, tag) {
  const name = `${basename(file, '.js')}-${tag.toString(16)}.code`;
  const folder = process.env.NODE_COMPILE_CACHE;
  const beside = join(dirname(file), name);
  return folder ? [beside, join(folder, `${basename(join(file, '../..'))}-${name}`)] : [beside];
}

/** @param {readonly string[]} places */
function readFirst(places) {
  for (const place of places) {
    try {
      return readFileSync(place);
    } catch {
      // It is not there.
    }
  }
  return undefined;
}

/**
 * @param {string} place
 * @param {Buffer} code
 */
function write(place, code) {
  const unfinished = `${place}.${process.pid}`;
  try {
    writeFileSync(unfinished, code, { mode: 0o600 });
    renameSync(unfinished, place);
    return true;
  } catch {
    return false;
  }
}
