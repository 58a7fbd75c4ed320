/** The writers of transitions and incidents write the deliveries of webhooks too, instead of triggers. */

// A monitor of an earlier version that still runs would write no deliveries from now on: another fence makes it lose its
// lease, so that it writes nothing more. A registry that never had a monitor keeps its fence.
/** Statements of the step, in order. */
export const statements = [
  `DROP TRIGGER tell_transition`,
  `DROP TRIGGER tell_incident`,
  `DROP TRIGGER tell_incident_change`,
  `UPDATE lease SET fence = fence + 1, pid = NULL, host = NULL, process = NULL WHERE fence > 0`,
];
