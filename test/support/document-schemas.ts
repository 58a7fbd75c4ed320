/** Schemas of the OpenAPI document, for tests that hold what is sent against it. */
import { Ajv, type Options, type ValidateFunction } from 'ajv';

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;
const BASE = 'https://document.test/';

/**
 * Returns a function that compiles a schema whose references lead to `components` of the document. Each component is
 * compiled once: the whole of them below every schema takes a hundred times as long.
 */
export function documentSchemas(
  components: object,
  options: Options = {},
): (schema: object) => ValidateFunction {
  const ajv = new Ajv({ strict: false, logger: false, ...options });
  const rewrite = (schema: unknown): object =>
    JSON.parse(JSON.stringify(schema).replaceAll(REFERENCE, `"${BASE}$1"`));
  const { schemas = {} } = components as { readonly schemas?: object };
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(rewrite(schema), BASE + name);
  const compiled = new Map<object, ValidateFunction>();
  return (schema) => {
    const validate = compiled.get(schema) ?? ajv.compile(rewrite(schema));
    compiled.set(schema, validate);
    return validate;
  };
}
