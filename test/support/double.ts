/** Returns a double of a port or another dependency from the members that a test needs. */
export function double<T extends object>(members: NoInfer<Partial<T>>): T {
  return members as T;
}
