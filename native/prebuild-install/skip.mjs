#!/usr/bin/env node
/**
 * Stands in the place of the package of this name, which canvas and gl run when they are installed: the original
 * fetches binaries from elsewhere, and where it finds none a compiler is started. Its success ends both: docs/adr/0007.
 */
