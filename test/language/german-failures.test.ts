/** Causes of failures in each language. */
import t from 'tap';
import { describeCause, FAILURE_CLASSES, type Failure } from '../../src/domain/failure.ts';
import type { Incident, IncidentNote, StatusReason } from '../../src/domain/incident/incident.ts';
import { endVanished } from '../../src/domain/incident/vendor-incident.ts';
import { stepOwnIncident } from '../../src/domain/own-incident.ts';
import { germanFailure } from '../../src/language/german-failures.ts';
import { LANGUAGES } from '../../src/web/language/language.ts';
import { inLanguage } from '../../src/web/parts/incidents.ts';
import { FAILURE_CAUSES } from '../domain/failure-causes.ts';
import { check, current, service } from '../site/site-world.ts';

t.test('it says every cause of a failure in each language', async (t) => {
  const causes = Object.values(FAILURE_CAUSES);
  for (const cause of causes) {
    const failure = { class: 'body', phase: 'body', cause } as const;
    t.notMatch(
      germanFailure(failure),
      /\b(?:the|is|has|of|not|than|answer|body|reports|undefined)\b/,
      describeCause(failure),
    );
  }
  t.same(new Set(causes.map((cause) => germanFailure({ class: 'body', cause }))).size, causes.length);
  const recorded = (kind: 'body' | 'tls', text: string) =>
    germanFailure({ class: kind, cause: { code: 'text', text } });
  t.equal(recorded('body', 'degraded'), 'der Dienst meldet sich nicht als gesund (degraded)');
  t.equal(recorded('tls', ''), 'der Dienst ist nicht sicher erreichbar');
});

const NOW = Date.UTC(2026, 10, 20, 10, 2);

const MINUTE = 60_000;

t.test('it describes own incidents in each language, in every sentence that the record writes', async (t) => {
  const failed = (failure: Failure) => ({ code: 'check_failed', failure }) as const;
  const status = failed({ class: 'status', phase: 'body', cause: { code: 'status', statusCode: 503 } });
  const reasons: readonly (StatusReason | null)[] = [
    null,
    status,
    ...FAILURE_CLASSES.map((kind) =>
      failed({ class: kind, phase: 'dns', cause: { code: 'text', text: '' } }),
    ),
    { code: 'reported_down' },
    { code: 'reported_slow' },
    { code: 'run_failed' },
    { code: 'slow_response', responseTimeMs: 4_200 },
    { code: 'reported_response_time', responseTimeMs: 3_400 },
    { code: 'no_heartbeat', silenceMs: 630_000 },
    { code: 'run_missed', runAt: NOW },
  ];
  const { en, de } = LANGUAGES;
  const shown = new Set<string>();
  for (const reason of reasons)
    for (const source of ['root', 'heartbeat', 'silence'] as const)
      for (const kind of [null, ...FAILURE_CLASSES]) {
        let open: Incident | null = null;
        let seq = 0;
        for (const status of ['down', 'up', 'down', 'slow', 'slow', 'slow'] as const) {
          const failure: Failure | null =
            kind === null ? null : { class: kind, phase: 'dns', cause: { code: 'text', text: '' } };
          const latest = check(NOW, { status, source, failure });
          open =
            stepOwnIncident(open, {
              service: service(1, 'shop', { name: 'Shop & Co' }),
              current: current(1, latest, { seq: ++seq }),
              changed: true,
              reason: status === 'up' ? null : reason,
              sourceUrl: '',
              inMaintenance: false,
            }) ?? open;
        }
        if (open === null) throw new Error('no incident was opened');
        // As the registry keeps it.
        const kept: Incident = JSON.parse(JSON.stringify(open));
        t.same(inLanguage(kept, en), kept, 'its English is that of the API');
        const { title, description, updates } = inLanguage(kept, de);
        t.equal(description, updates[0]?.text);
        for (const text of [title, ...updates.map((update) => update.text)]) shown.add(text);
      }
  t.ok(shown.size > 40, `${shown.size} were written`);
  for (const text of shown)
    t.notMatch(text, / (?:is|it|its|has|fail|again|answers|answered|reports|cannot|no|of|for)\b/, text);
  const note = (one: IncidentNote) => de.texts.service.incidentNote(one);
  t.equal(
    note({ code: 'failing_again', domain: 'pier.example', isReported: false, reason: status }),
    'pier.example ist wieder gestört: der Dienst antwortet mit Fehlern (HTTP 503).',
  );
  t.equal(
    note({
      code: 'recovering',
      domain: 'pier.example',
      reason: { code: 'slow_response', responseTimeMs: 4_200 },
    }),
    'pier.example antwortet wieder, wenn auch langsam: die Antwort brauchte 4,2 s. Wir beobachten es.',
  );
  t.match(
    note({
      code: 'opened',
      name: 'Shop',
      outage: 'silent',
      domain: 'shop.example',
      isReported: true,
      reason: { code: 'no_heartbeat', silenceMs: 5_400_000 },
    }),
    /^shop\.example ist gestört: seit 1 Std\. 30 Min\. kam kein Lebenszeichen\.$/,
  );
});

t.test('it shows texts of vendors and of earlier versions as they are', async (t) => {
  const text = 'Our checks of shop.example fail: it answered with an error.';
  const recorded: Incident = {
    id: 'own-1-1',
    serviceId: 1,
    source: 'own',
    title: 'Shop answers with errors',
    description: text,
    severity: 'major',
    status: 'monitoring',
    startedAt: NOW,
    resolvedAt: null,
    sourceUrl: '',
    goodChecks: 1,
    updates: [
      { at: NOW, status: 'investigating', text },
      {
        at: NOW + MINUTE,
        status: 'monitoring',
        text: 'shop.example answers again. We watch it.',
        note: { code: 'recovering', domain: 'shop.example', reason: null },
      },
    ],
  };
  const { title, description, updates } = inLanguage(recorded, LANGUAGES.de);
  t.same(
    [title, description, ...updates.map((update) => update.text)],
    [recorded.title, text, text, 'shop.example antwortet wieder. Wir beobachten es.'],
  );
  const vendor = {
    ...recorded,
    source: 'vendor',
    updates: [{ at: NOW, status: 'investigating', text }],
  } as const;
  t.same(inLanguage(vendor, LANGUAGES.de), vendor);
  t.same(
    inLanguage(endVanished(vendor, NOW + MINUTE), LANGUAGES.de).updates.map((update) => update.text),
    [text, 'Die Statusseite führt es nicht mehr auf.'],
    'what we write of it is in the language of the page',
  );
});
