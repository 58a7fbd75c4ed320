/** Heartbeats in the inbox are written without the lock of transactions, and still tell the other processes of their commit. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE FUNCTION notify_inbox() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN PERFORM pg_notify('upbeat', 'inbox'); RETURN NULL; END $$`,
  `CREATE TRIGGER notify_inbox AFTER INSERT ON heartbeat_inbox FOR EACH STATEMENT EXECUTE FUNCTION notify_inbox()`,
];
