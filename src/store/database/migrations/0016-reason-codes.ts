/** Reasons of transitions and problems of deliveries have a code with parameters beside their English text. */

/** The number at the beginning of what follows the first `characters` of the reason, in thousandths. */
const thousandths = (characters: number) =>
  `CAST(round(CAST(substr(reason, ${characters + 1}) AS REAL) * 1000) AS INTEGER)`;

// `no heartbeat arrived for 90s`: the number and the unit of a duration.
const SILENCE = `substr(reason, ${'no heartbeat arrived for '.length + 1})`;
const SILENCE_MS = `CAST(${SILENCE} AS INTEGER) * CASE ltrim(${SILENCE}, '0123456789') WHEN 'ms' THEN 1
  WHEN 's' THEN 1000 WHEN 'm' THEN 60000 WHEN 'h' THEN 3600000 WHEN 'd' THEN 86400000 WHEN 'w' THEN 604800000
  WHEN 'y' THEN 31536000000 END`;

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE deliveries ADD COLUMN problem_code TEXT`,
  `UPDATE deliveries SET problem_code = json_object('code', 'status', 'statusCode', CAST(substr(problem, 6) AS INTEGER))
   WHERE problem GLOB 'HTTP [1-9][0-9][0-9]'`,
  `ALTER TABLE transitions ADD COLUMN reason_code TEXT`,
  // A text from which the code cannot be told stays alone.
  `UPDATE transitions SET reason_code = CASE
     WHEN reason = 'it reports that it is down' THEN json_object('code', 'reported_down')
     WHEN reason = 'it reports that it is slow' THEN json_object('code', 'reported_slow')
     WHEN reason = 'it reports that a run failed' THEN json_object('code', 'run_failed')
     WHEN reason GLOB 'it took [0-9]*.[0-9] s to answer'
       THEN json_object('code', 'slow_response', 'responseTimeMs', ${thousandths('it took '.length)})
     WHEN reason GLOB 'it reports a response time of [0-9]*.[0-9] s'
       THEN json_object('code', 'reported_response_time', 'responseTimeMs', ${thousandths('it reports a response time of '.length)})
     WHEN reason GLOB 'no heartbeat arrived for [0-9]*' AND ${SILENCE_MS} IS NOT NULL
       THEN json_object('code', 'no_heartbeat', 'silenceMs', ${SILENCE_MS})
     WHEN reason GLOB 'it answered with status [1-9][0-9][0-9]'
       THEN json_object('code', 'check_failed', 'failure', json_object('class', 'status', 'phase', 'first_byte',
         'cause', json_object('code', 'status', 'statusCode', CAST(substr(reason, -3) AS INTEGER))))
   END
   WHERE reason IS NOT NULL`,
];
