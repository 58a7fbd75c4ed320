/** Names that people give to their keys, services and accounts. */

/** Longest name, characters. */
export const LONGEST_GIVEN_NAME = 100;
