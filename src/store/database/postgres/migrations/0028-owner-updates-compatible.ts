/** Step 0041 of SQLite: updates of owners' incidents become rows. */

const beginning = (text: string) =>
  `CASE WHEN length(${text}) > 1000 THEN left(${text}, 1000) || '…' ELSE ${text} END`;
const columns = `(u.value ->> 'at')::bigint, u.value ->> 'status', u.value ->> 'markdown', u.value ->> 'plain'`;

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE owner_updates (
    incident_id bigint NOT NULL REFERENCES owner_incidents (id) ON DELETE CASCADE,
    place bigint NOT NULL,
    at bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    markdown text COLLATE "C" NOT NULL,
    plain text COLLATE "C" NOT NULL,
    PRIMARY KEY (incident_id, place)
  )`,
  `INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
   SELECT i.id, u.place, ${columns}
   FROM owner_incidents AS i, jsonb_array_elements(i.updates::jsonb) WITH ORDINALITY AS u (value, place)`,
  `UPDATE owner_incidents SET updates = '[]'`,
  // An earlier version that still runs writes updates as JSON, which the trigger moves.
  `CREATE FUNCTION keep_owner_updates() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN
     INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
     SELECT NEW.id, (SELECT coalesce(max(place), 0) FROM owner_updates WHERE incident_id = NEW.id) + u.place, ${columns}
     FROM jsonb_array_elements(NEW.updates::jsonb) WITH ORDINALITY AS u (value, place);
     UPDATE owner_incidents SET updates = '[]' WHERE id = NEW.id;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER keep_owner_updates AFTER INSERT OR UPDATE OF updates ON owner_incidents
   FOR EACH ROW WHEN (NEW.updates <> '[]') EXECUTE FUNCTION keep_owner_updates()`,
  `ALTER TABLE incidents ADD COLUMN earlier bigint NOT NULL DEFAULT 0`,
  `UPDATE incidents SET description = ${beginning('description')},
     earlier = greatest(0, jsonb_array_length(updates::jsonb) - 3),
     updates = (SELECT coalesce(jsonb_agg(jsonb_build_object('at', u.value -> 'at', 'status', u.value -> 'status',
         'text', ${beginning("u.value ->> 'text'")}) ORDER BY u.place), '[]')::text
       FROM jsonb_array_elements(updates::jsonb) WITH ORDINALITY AS u (value, place)
       WHERE u.place > jsonb_array_length(updates::jsonb) - 3)
   WHERE by_owner = 1 AND id NOT LIKE 'owner-m%'`,
];
