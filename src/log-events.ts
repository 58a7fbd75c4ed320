/**
 * The stable names of the log's warnings and errors. A line has the name of its sentence as `event`, `/metrics` counts lines by
 * it, and docs/runbook.md says what each means. A sentence may be improved; its name stays.
 */

/** Sentences by event. `*` stands for what varies. */
export const LOG_EVENTS: Readonly<Record<string, string>> = {
  // The program.
  start_failed: 'Upbeat could not start',
  stop_timed_out: 'the stop timed out',
  stop_forced: 'second signal; exiting at once',
  settings_need_restart: 'changed settings need a restart',
  configuration_invalid: 'the new configuration is invalid; the previous one stays in use',
  catalogue_invalid: 'the new catalogue is invalid; the previous one stays in use',
  catalogue_not_stored: 'the catalogue could not be stored',
  registry_awaited: 'PostgreSQL is away; the start waits for it',
  store_thread_ended: '* ended',
  registry_thread_ended: 'the registry thread ended',
  render_thread_ended: 'the render thread ended; the next image starts a new one',
  restore_waits:
    'a restored backup waits until all processes of this data directory have ended; this one uses the present stores',
  first_account_link_failed: 'the link for the first account could not be made',
  trusted_accounts_not_applied: 'accounts.trusted could not be applied',
  trusted_accounts_unknown: 'accounts.trusted names accounts that do not exist',

  // Requests.
  overloaded: 'overloaded; requests are refused, the least important first',
  connection_refused: 'a connection could not be accepted',
  client_connections_refused: 'a client has its share of connections',
  request_failed: 'a request failed',
  request_failed_outside: 'a request failed outside its handler',
  stream_closed: 'an event stream was closed',
  key_use_not_stored: 'last-used times of API keys could not be stored; retrying',
  sign_in_failed: 'a sign-in failed',
  sign_in_delayed: 'a sign-in was delayed',
  passkey_refused: 'a passkey was refused',

  // Checks.
  prober_offline: 'the prober is offline: *; nothing is marked down',
  probe_thread_failed: 'a probe thread failed outside its task',
  probe_thread_over_memory: 'a probe thread exceeded its memory limit and is replaced',
  probe_thread_replaced: 'a probe thread is replaced',
  checks_late: 'checks begin late',
  checks_stopped: 'checks that are due are not made',
  address_at_bound: 'checks of owners wait: an address has its share of connections',
  account_at_bound: 'checks of an account are late: it holds its share of the slots',
  attempt_faulty:
    'an attempt failed by a fault of this program; the service is checked again at its next turn',
  credentials_unreadable:
    'a check is not made: set secrets.checksKey of this node, or enter its credentials again',
  services_not_loaded: 'services could not be loaded; retrying',
  service_change_failed: 'a service change could not be applied',
  changes_unreadable: 'the change feed cannot be read',

  // The record.
  clock_jumped: 'the monitor or its clock stood still; heartbeat deadlines start again',
  heartbeats_wait: 'heartbeats are waiting in the inbox',
  updates_refused: 'the registry accepts no updates; retrying',
  observations_dropped: 'observations were dropped: the registry was unavailable for too long',
  updates_dropped_at_stop: 'updates were dropped at stop',
  update_overtaken: 'the registry has a newer update of this service; continuing from it',
  incident_unreadable: 'the own incident could not be read again',
  transitions_unreadable: 'the transition feed could not be read; retrying',
  transition_listener_failed: 'a transition listener failed',
  statuses_refused: 'the status store accepts no statuses; retrying',
  status_not_deleted: 'the status store could not delete a removed service',
  status_unreadable: 'the status of a service cannot be read; ignoring it',
  status_listener_failed: 'a status store listener failed',
  retention_failed: 'what is out of retention cannot be deleted',

  // Samples.
  samples_refused: 'samples could not be stored; retrying',
  samples_dropped: 'samples were dropped: the store was unavailable for too long',
  samples_in_memory: 'samples cannot be written; they are kept in memory',
  samples_dropped_disk_full: 'samples are dropped: the disk has accepted none for too long',
  samples_silent: 'the samples thread does not answer; past checks cannot be read, and new ones wait',
  samples_damaged: 'samples.sqlite was damaged and is set aside: *',
  samples_log_damaged: 'samples.sqlite-wal was damaged: *',
  samples_damaged_places:
    'samples.sqlite is damaged in places: samples of some days of services cannot be read, and are left out',
  influx_refuses: 'InfluxDB accepts no samples; they are kept on disk',
  influx_unreadable: 'InfluxDB cannot be queried; histories are unavailable',
  spool_damaged: 'influx-spool.sqlite was damaged: *',
  influx_points_dropped: 'points for InfluxDB were dropped',

  // The registry and its lease.
  registry_refuses_writes: 'the registry accepts no writes; reads and checks continue',
  registry_silent: 'the registry thread does not answer; requests that need it are refused',
  registry_damaged: 'the registry is damaged; what cannot be read is refused',
  lease_not_requested: 'the lease cannot be requested',
  monitor_cut_off: 'the monitor is cut off from Redis and is replaced',
  monitor_hung: 'the former monitor hangs and was ended, so that it holds no lock',
  monitor_hangs: 'the former monitor hangs and cannot be ended; end it by hand',
  secrets_were_clear: 'webhook secrets were stored in clear text; they are encrypted now',
  data_directory_corrected: 'the data directory was accessible to other users; permissions were corrected',
  data_directory_open:
    'the data directory is accessible to other users and its permissions cannot be changed',

  // Redis.
  redis_away: 'Redis is unavailable; reconnecting',
  redis_away_at_start: 'Redis does not respond; serving the last known statuses from the registry',
  redis_record_unreadable: 'Redis has an unreadable record; ignoring it',
  redis_prefix_of_another: 'another installation uses this Redis prefix',
  redis_two_monitors:
    'another monitor uses this Redis prefix; not writing to Redis. Give each monitor its own ?prefix=',

  // The cluster.
  node_unregistered: 'Redis does not respond; this node is registered when it does',
  node_listener_failed: 'a listener of nodes failed',
  clock_off: 'the clock of this machine is *; synchronize both by NTP',
  shards_lost: 'shards were lost',
  shards_given_up: 'this node is offline or does not reach the registry; its shards go to the other nodes',
  shards_not_renewed: 'shards cannot be renewed; checks stop until they are',
  shards_not_handed_out: 'the shards cannot be handed out',
  shard_services_not_loaded: 'services of shards cannot be loaded',
  failure_contradicted:
    'this node does not reach a service that a neighbour reaches; the result of the neighbour counts',
  results_wait: 'the judge is behind: results wait at this node',
  redis_full: 'Redis is full: results wait at this node',
  results_dropped: 'results cannot be sent to the judge; the oldest are dropped',
  results_dropped_at_stop: 'results were dropped at stop',
  results_have_another_judge: 'another judge reads the results; this one reads no more',

  // Vendors.
  feeds_unreadable: 'status pages cannot be read; their last known incidents are kept',
  feed_incidents_not_stored: 'vendor incidents could not be stored; the pages are read again',
  status_page_changed: 'a status page has changed',
  feed_thread_failed: 'the feed thread failed',
  feed_thread_ended: 'the feed thread ended; restarting it',

  // Alerts, webhooks and letters.
  alerts_undecided: 'alerts could not be decided',
  alerts_of_account_undecided: 'alerts of an account could not be decided',
  alert_memory_unreadable: 'what was remembered of the alerts of an account cannot be read',
  delivery_failed: '* could not be delivered',
  delivery_outcome_not_stored: 'an outcome of * could not be stored',
  deliveries_given_up: '* were given up: their receivers refuse them, or failed for a day',
  deliveries_dropped: '* were dropped: a receiver has failed for so long that too many wait',
  alert_messages_dropped:
    'messages of alerts were dropped: a channel has failed for so long that too many wait',
  operator_not_told: 'the operator could not be told',
  mail_server_unusable: 'the mail server cannot be used',

  // Domains of status pages.
  page_domains_unreadable: 'the domains of status pages cannot be read',
  page_domains_unchecked: 'the proofs of domains of status pages could not be checked',
};

/** Events whose sentence is not always the same; their lines name them. */
export const NAMED_EVENTS = [
  /** A setting is valid, and probably not intended. */
  'setting_unusual',
  /** A fault ends the program; its parent starts it again. */
  'program_ended',
  /** Messages of alerts are due and not sent, or events are not decided. */
  'alerts_stand_still',
  /** A message of a node to the judge is dropped. */
  'results_unreadable',
] as const;

const exact = new Map(Object.entries(LOG_EVENTS).map(([event, sentence]) => [sentence, event]));
const patterns = Object.entries(LOG_EVENTS)
  .filter(([, sentence]) => sentence.includes('*'))
  .map(([event, sentence]) => {
    const parts = sentence.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return { event, pattern: new RegExp(`^${parts.join('.+')}$`, 's') };
  });

/** The event of a sentence; null: it has none. */
export function eventOf(sentence: string): string | null {
  return exact.get(sentence) ?? patterns.find(({ pattern }) => pattern.test(sentence))?.event ?? null;
}
