/** Validates settings by their schema. The bundle has the code that AJV writes here (`workers/bundle.ts`): a start compiles nothing, 70 ms. */
import { _, Ajv } from 'ajv';
import { parseDuration } from '../domain/durations.ts';
import { FORMAT_TESTS } from './formats.ts';
import { CONFIG_SCHEMA, type ConfigText } from './schema.ts';

export const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  verbose: true,
  strict: false,
  // The schema is a source of ours, which test/config/ validates: each command would take 50 ms for it.
  validateSchema: false,
  meta: false,
  // The code runs once.
  code: { optimize: false, source: true, formats: _`require("./formats.ts").FORMAT_TESTS` },
});
for (const [name, test] of Object.entries(FORMAT_TESTS)) ajv.addFormat(name, test);
ajv.addKeyword({
  keyword: 'minMs',
  type: 'string',
  code(context) {
    const { gen, data, schema } = context;
    const code = _`require("../domain/durations.ts").parseDuration`;
    const parse = gen.scopeValue('func', { ref: parseDuration, code });
    context.fail(_`(${parse}(${data}) ?? ${schema}) < ${schema}`);
  },
});

/** Returns true if the settings are valid, with defaults for those that are absent. Its `errors` are those of the last call. */
export const validateConfig = ajv.compile<ConfigText>(CONFIG_SCHEMA);
