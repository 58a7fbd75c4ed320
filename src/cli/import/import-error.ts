/** Thrown where a file of an import cannot be read at all. */
export class ImportError extends Error {
  readonly code = 'bad_import';
}
