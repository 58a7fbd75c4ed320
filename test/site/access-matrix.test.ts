import { readFileSync } from 'node:fs';
import t from 'tap';
import { accessMatrix, MATRIX_FILE, withMatrix } from './access-matrix.ts';
import { startApi } from './site-world.ts';

t.test('docs/access.md says of every route who may use it; npm run access writes it', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const matrix = accessMatrix(world.api.routes);
  for (const { path } of world.api.routes) t.match(matrix, ` ${path}\``);
  const text = readFileSync(MATRIX_FILE, 'utf8');
  t.equal(text, withMatrix(text, matrix));
});
