/** Port of the counter of writes: polls that would find nothing new are left out. */

/** A counter that shows if there may be something new in the registry. */
export interface WriteCounter {
  /**
   * A number that grows after each write of this process or of another one, but for routine updates and the lease. It grows with each
   * call where not all writes are noticed.
   */
  writes(): number;
}
