/** For `node --import`: each thread appends the statements that it prepares on SQLite to the file of `RECORDED_STATEMENTS`, as lines of JSON. */
import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const file = process.env.RECORDED_STATEMENTS ?? '';
const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function record(sql) {
  appendFileSync(file, `${JSON.stringify(sql)}\n`);
  return Reflect.apply(prepare, this, [sql]);
};
