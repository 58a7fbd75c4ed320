/**
 * Assigns services to one probe thread in parts, as fast as the thread takes them. A thread handles all messages that have
 * arrived in one turn of its event loop, so that a million services sent at once would hold up the checks that are due
 * meanwhile. Each part waits until the one before was taken: if neither of the two threads ever waited, there would be no time
 * of two processors left for the first checks.
 */

/** Services of one message; more would delay both event loops. */
const SERVICES_PER_MESSAGE = 500;
interface Job {
  readonly serviceIds: readonly number[];
  readonly spreadMs: number;
  readonly onSent: () => void;
  /** Index of the next service to send. */
  next: number;
}

export type AssignFlow = ReturnType<typeof createAssignFlow>;

/** Creates an empty flow; `send` sends one message to the thread, with the services in their state at that moment. */
export function createAssignFlow(send: (serviceIds: readonly number[], spreadMs: number) => void) {
  const jobs: Job[] = [];
  /** A message was sent, and not confirmed. */
  let isOpen = false;

  function sendNext(): void {
    while (!isOpen) {
      const job = jobs[0];
      if (job === undefined) return;
      const end = job.next + SERVICES_PER_MESSAGE;
      isOpen = true;
      send(job.serviceIds.slice(job.next, end), job.spreadMs);
      job.next = end;
      if (end < job.serviceIds.length) continue;
      jobs.shift();
      job.onSent();
    }
  }

  return {
    /**
     * Assigns services behind all earlier ones; they are first checked within `spreadMs` milliseconds. An empty list is
     * sent too. `onSent` is called when the last message has been sent, which may be at once.
     */
    assign(serviceIds: readonly number[], spreadMs: number, onSent: () => void = () => {}): void {
      jobs.push({ serviceIds, spreadMs, onSent, next: 0 });
      sendNext();
    },
    /** The thread has taken a message. */
    confirm(): void {
      isOpen = false;
      sendNext();
    },
  };
}
