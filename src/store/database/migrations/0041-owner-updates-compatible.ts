/** Updates of owners' incidents become rows, and the lists of services keep the newest ones alone. */

/** Moves the updates that the row `of` has as JSON. */
const move = (of: string) =>
  `INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
   SELECT ${of}.id, (SELECT coalesce(max(place), 0) FROM owner_updates WHERE incident_id = ${of}.id) + u.key + 1,
     u.value ->> 'at', u.value ->> 'status', u.value ->> 'markdown', u.value ->> 'plain'`;
const beginning = (text: string) =>
  `CASE WHEN length(${text}) > 1000 THEN substr(${text}, 1, 1000) || '…' ELSE ${text} END`;

// An earlier version that still runs writes updates as JSON, which the triggers move.
const keep = (name: string, when: string) =>
  `CREATE TRIGGER ${name} AFTER ${when} ON owner_incidents WHEN NEW.updates <> '[]' BEGIN
     ${move('NEW')} FROM json_each(NEW.updates) AS u;
     UPDATE owner_incidents SET updates = '[]' WHERE id = NEW.id;
   END`;

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE owner_updates (
    incident_id INTEGER NOT NULL REFERENCES owner_incidents (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status TEXT NOT NULL,
    markdown TEXT NOT NULL,
    plain TEXT NOT NULL,
    PRIMARY KEY (incident_id, place)
  ) STRICT`,
  `INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
   SELECT i.id, u.key + 1, u.value ->> 'at', u.value ->> 'status', u.value ->> 'markdown', u.value ->> 'plain'
   FROM owner_incidents AS i, json_each(i.updates) AS u`,
  `UPDATE owner_incidents SET updates = '[]'`,
  keep('keep_new_owner_updates', 'INSERT'),
  keep('keep_owner_updates', 'UPDATE OF updates'),
  `ALTER TABLE incidents ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0`,
  `UPDATE incidents SET description = ${beginning('description')}, earlier = max(0, json_array_length(updates) - 3),
     updates = (SELECT json_group_array(json_object('at', u.value ->> 'at', 'status', u.value ->> 'status',
         'text', ${beginning("u.value ->> 'text'")}))
       FROM json_each(incidents.updates) AS u WHERE u.key >= json_array_length(incidents.updates) - 3)
   WHERE by_owner = 1 AND id NOT LIKE 'owner-m%'`,
];
