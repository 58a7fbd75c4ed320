/** The program's version, from `package.json`. */
import manifest from '../package.json' with { type: 'json' };

/** As in `package.json`, without a leading `v`. */
export const VERSION: string = manifest.version;
