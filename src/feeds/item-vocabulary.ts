/** The vocabulary of status pages in RSS and Atom, by language, mapped to the statuses of the API. */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/incident/feed-entry.ts';

/** The state that a word names. `trouble`: as `investigating`, but also at the beginning of the titles of what is over. */
type StateWord =
  | 'trouble'
  | 'investigating'
  | 'identified'
  | 'monitoring'
  | 'resolved'
  | 'planned'
  | 'running'
  | 'done'
  | 'update'
  | 'operational';

/** Words in lower case, separated by commas. */
const STATE_WORDS: readonly Readonly<Partial<Record<StateWord, string>>>[] = [
  {
    investigating: 'investigating, reported, new, open, active, ongoing, reopened',
    trouble:
      'degraded, degraded performance, down, unavailable, outage, minor outage, partial outage, major outage, ' +
      'full outage, service outage, service disruption, service degradation, service interruption',
    identified: 'identified, issue identified',
    monitoring: 'monitoring, recovering, restoring service, extended recovery, watching',
    resolved:
      'resolved, mitigated, fixed, recovered, closed, postmortem, post-mortem, false alarm, service restored, ' +
      'false positive, post-incident report published',
    planned: 'scheduled, planned, upcoming, not started yet',
    running: 'in progress, verifying, under maintenance, maintenance in progress, maintenance',
    done: 'completed, complete, cancelled, canceled',
    update: 'update, updated',
    operational: 'operational, available, up, no issues, all systems operational, informational',
  },
  {
    // German
    investigating:
      'untersuchung, untersuchungen laufen, wird untersucht, in untersuchung, in prüfung, wir untersuchen, ' +
      'offen, aktiv, laufend, wieder geöffnet',
    trouble:
      'störung, ausfall, teilausfall, teilweiser ausfall, schwerer ausfall, leistungsprobleme, beeinträchtigung',
    identified: 'identifiziert, erkannt, ursache gefunden, ursache identifiziert, in bearbeitung',
    monitoring: 'überwachung, wird überwacht, beobachtung, unter beobachtung, wird beobachtet',
    resolved:
      'behoben, gelöst, erledigt, entstört, störung behoben, wiederhergestellt, abgeschlossen, beendet, geschlossen',
    planned: 'geplant, angekündigt, bevorstehend',
    running: 'wartung, in wartung, wartung läuft, wartungsarbeiten',
    done: 'wartung abgeschlossen, wartung beendet, abgesagt, storniert',
    update: 'aktualisierung',
    operational: 'betriebsbereit, funktionsbereit, funktionsfähig, verfügbar, keine störung',
  },
  {
    // French
    investigating:
      'investigation, investigation en cours, en cours d’investigation, enquête, enquête en cours, ' +
      'en cours d’analyse, analyse en cours, en cours, ouvert',
    trouble:
      'panne, panne partielle, panne majeure, perturbation, perturbé, arrêté, dégradation, problèmes de performances',
    identified: 'identifié, identifiée, cause identifiée, problème identifié',
    monitoring: 'surveillance, sous surveillance, en surveillance, surveillance en cours, en observation',
    resolved:
      'résolu, résolue, incident résolu, corrigé, corrigée, rétabli, rétablie, réparé, terminé, terminée, ' +
      'clos, clôturé, fermé',
    planned: 'planifié, planifiée, programmé, programmée, prévu, prévue, imminent',
    running: 'en maintenance, maintenance en cours',
    done: 'maintenance terminée, annulé, annulée',
    update: 'mise à jour',
    operational: 'opérationnel',
  },
  {
    // Spanish
    investigating: 'investigando, en investigación, investigación, en curso, abierto',
    trouble:
      'interrupción, interrupción parcial, interrupción mayor, interrumpido, caído, avería, rendimiento degradado, ' +
      'problemas de rendimiento',
    identified: 'identificado, identificada, problema identificado',
    monitoring:
      'monitoreando, monitorizando, monitoreo, en monitoreo, monitorización, supervisión, supervisando, en observación, en seguimiento, siguiendo',
    resolved:
      'resuelto, resuelta, incidente resuelto, solucionado, solucionada, corregido, restablecido, finalizado, ' +
      'finalizada, cerrado',
    planned: 'programado, programada, planificado, planificada, previsto',
    running: 'mantenimiento, en mantenimiento, mantenimiento en curso',
    done: 'completado, completada, mantenimiento completado, mantenimiento finalizado, cancelado, cancelada',
    update: 'actualización',
    operational: 'operativo, operacional, funcional',
  },
  {
    // Portuguese; words that are the same in Spanish stand above.
    investigating: 'em investigação, investigação, em análise, em andamento, em curso, aberto',
    trouble:
      'interrupção, interrompido, indisponibilidade parcial, indisponibilidade total, desempenho degradado, ' +
      'problemas de performance',
    identified: 'problema identificado, causa identificada',
    monitoring:
      'monitorando, monitorizando, a monitorizar, monitoramento, em monitoramento, monitorização, em monitorização, observando',
    resolved:
      'resolvido, resolvida, incidente resolvido, corrigido, corrigida, normalizado, normalizada, ' +
      'restabelecido, concluído, concluída, encerrado, encerrada, fechado',
    planned: 'agendado, agendada, planejado, planejada, planeado, previsto, em breve',
    running: 'manutenção, em manutenção, manutenção em andamento, manutenção em curso, em progresso',
    done: 'manutenção concluída, manutenção finalizada',
    update: 'atualização',
    operational: 'funcionando',
  },
  {
    // Japanese
    investigating: '調査中, 確認中, 障害発生中, 発生中, 継続中, 原因調査中',
    trouble:
      '障害, 障害発生, 重大な障害, 軽微な障害, パフォーマンスに関する問題あり, 一部停止中, 大規模な停止中',
    identified: '特定, 特定済み, 原因特定, 原因判明, 原因を特定, 対応中, 復旧作業中, 復旧対応中',
    monitoring: '監視中, 経過観察, 経過観察中, 様子見, 観察中',
    resolved:
      '解決, 解決済み, 解決済, 解消, 解消済み, 復旧, 復旧済み, 復旧済, 復旧しました, 復旧完了, 回復, 回復済み, ' +
      '対応完了, 障害復旧, 修正済み, 完了, 終了',
    planned: '予定, 計画済み, メンテナンス予定, 実施予定, 近日中',
    running: 'メンテナンス, メンテナンス中, 作業中, 実施中',
    done: 'メンテナンス完了, メンテナンス終了, 作業完了, 中止',
    update: '更新, 続報',
    operational: '正常稼働, 正常稼働中, 稼働中, 正常',
  },
  {
    // Chinese, simplified and traditional
    investigating: '调查中, 正在调查, 排查中, 正在排查, 调查, 进行中, 确认中, 調查中, 正在調查, 進行中',
    trouble: '异常, 故障, 性能问题, 部分中断, 严重中断, 異常, 效能問題, 部分停止運作, 停止運作',
    identified:
      '已确认, 已定位, 已识别, 已发现, 处理中, 修复中, 正在修复, 恢复中, 已確認, 已辨明, 處理中, 修復中, 恢復中',
    monitoring: '监控中, 监测中, 观察中, 持续观察, 監控中, 監測中, 觀察中, 持續觀察, 警戒中',
    resolved:
      '已恢复, 已缓解, 已緩解, 已止损, 已解决, 已修复, 恢复正常, 已恢复正常, 恢复, 已结束, 已完成, 完成, 已恢復, 已解決, 已修復, 恢復正常, ' +
      '已恢復正常, 已結束',
    planned: '计划中, 已计划, 待开始, 预定, 计划维护, 即将进行, 計劃中, 預定',
    running: '维护, 维护中, 正在维护, 正在进行, 升级中, 維護, 維護中, 正在維護',
    done: '维护完成, 维护已完成, 已取消, 維護完成',
    update: '最新进展, 已更新, 最新進展',
    operational: '运行正常, 正常运行, 服务正常, 運行正常, 正常運行',
  },
];

/** A maintenance at the beginning or end of a title. A title that mentions one elsewhere may be of a fault in it. */
export const MAINTENANCE_TITLE = new RegExp(
  [
    '^[[【(]?(?:(?:scheduled|planned|emergency|upcoming|regular|routine) )?maintenance\\b',
    '^[[【(]?(?:scheduled|planned|upcoming) (?:[\\w-]+ ){1,4}maintenance\\b',
    '^[[【(]?(?:(?:geplante|planmäßige|dringende|ankündigung:?) )*wartung(?:sarbeiten|sfenster)?(?!\\p{L})',
    '^[[【(]?(?:mantenimiento|manutenção)(?!\\p{L})',
    '^[[【(]?(?:[定緊期急的計画臨時]*)メンテナンス(?!後|中の|による|に伴う)',
    '^[[【(]?(?:系统|系統|计划|計劃|例行|紧急|緊急|定期|服务)?(?:维护|維護)(?![后後期导導引])',
    'メンテナンス(?:作業)?(?:実施)?(?:の)?(?:お知らせ|予定)?[】)]?$',
    '(?:维护|維護)(?:公告|通知|升级|预告|預告)?[】)]?$',
  ].join('|'),
  'iu',
);

/** Words of a sentence that says that something is not so, not yet, or will be. */
const NOT_YET = new RegExp(
  [
    '\\b(?:until|once|whether|if|unless|before|as soon as|not (?:yet|been|fully|completely)|believe|expect(?:ed)?)\\b',
    '\\bwhen (?:the|this|it|all)\\b|\\bwill be\\b',
    '(?<!\\p{L})(?:nicht|sobald|bis|wenn|falls|voraussichtlich)(?!\\p{L})',
    "\\bpas (?:encore|été|résolu|rétabli)|(?<!\\p{L})n[’'](?:est|a) pas|dès que|lorsque|jusqu",
    '(?<!\\p{L})(?:no (?:está|ha|se|fue)|aún|todavía|cuando|hasta que|una vez)(?!\\p{L})',
    '(?<!\\p{L})(?:não (?:foi|está)|ainda|assim que|quando|até que)(?!\\p{L})',
    'ていません|ておりません|未復旧|未解決|未解消|次第|(?:復旧|解消|解決)(?:する)?まで|見込み|予定',
    '尚未|未(?:能|完全|全部)?(?:恢复|修复|解决|恢復|修復|解決)|没有|还没|沒有|還沒|预计|預計|等待|即将|即將|如已|若已|如果',
  ].join('|'),
  'iu',
);

/** Sentences with a state. The first match counts, so the latest state comes first. */
const STATE_SENTENCES: readonly (readonly [
  RegExp,
  'resolved' | 'monitoring' | 'identified' | 'investigating',
])[] = [
  [
    /\b(?:has|have) (?:now )?(?:been )?(?:fully |completely )?(?:resolved|mitigated|recovered)\b/iu,
    'resolved',
  ],
  [
    /\b(?:issue|incident|problem|outage) (?:is|was) (?:now )?(?:fully )?(?:resolved|fixed|over)\b/iu,
    'resolved',
  ],
  [
    /(?<!\p{L})(?:wurde|ist|sind|konnte) (?:[\p{L}\p{N}-]+ ){0,6}(?:behoben|gelöst|wiederhergestellt)(?!\p{L})/iu,
    'resolved',
  ],
  [
    /(?<!\p{L})(?:est|été|sont) (?:[\p{L}-]+ ){0,2}(?:résolue?s?|rétablie?s?|corrigée?s?)(?!\p{L})/iu,
    'resolved',
  ],
  [
    /(?<!\p{L})(?:está|sido|fue) (?:[\p{L}-]+ ){0,2}(?:resuelt[oa]s?|solucionad[oa]s?|restablecid[oa]s?)(?!\p{L})/iu,
    'resolved',
  ],
  [
    /(?<!\p{L})(?:está|foi|foram) (?:[\p{L}-]+ ){0,2}(?:resolvid[oa]s?|normalizad[oa]s?|restabelecid[oa]s?|corrigid[oa]s?)(?!\p{L})/iu,
    'resolved',
  ],
  [/(?:復旧|解消|解決|回復)(?:(?:いた)?しました|済み|が完了|を確認)/u, 'resolved'],
  [
    /已(?:经|經)?(?:全部|全面|完全|基本|陆续|止损|止損)*(?:恢复|修复|解决|恢復|修復|解決)|(?:恢复|恢復)正常/u,
    'resolved',
  ],
  [/\b(?:we are|we're|are now|will continue to|continue to) monitor(?:ing)?\b/iu, 'monitoring'],
  [
    /(?<!\p{L})(?:beobachten wir|wir (?:beobachten|überwachen))(?!\p{L})|nous surveillons|監視を(?:続け|継続)|持续(?:观察|监控)/iu,
    'monitoring',
  ],
  [/(?<!\b(?:may|might|could) )\b(?:has|have) (?:now )?(?:been )?identified\b/iu, 'identified'],
  [/原因を特定|已(?:定位|确认)(?:问题|原因|故障)|问题已定位/u, 'identified'],
  [/\b(?:we are|we're|currently|are still) investigating\b|\bhas been down since\b/iu, 'investigating'],
  [
    /wir untersuchen|nous enquêtons|estamos investigando|調査(?:して|を進めて)|正在(?:紧急)?(?:排查|调查|調查)/iu,
    'investigating',
  ],
];

export type WordMeaning =
  | { readonly kind: 'incident'; readonly status: FeedIncident['status'] }
  | { readonly kind: 'maintenance'; readonly state: FeedMaintenance['state'] }
  /** An update without a new state. */
  | { readonly kind: 'update' }
  /** Nothing is wrong, so there is no entry. */
  | { readonly kind: 'operational' };

const INVESTIGATING: WordMeaning = { kind: 'incident', status: 'investigating' };
const RUNNING: WordMeaning = { kind: 'maintenance', state: 'running' };
const DONE: WordMeaning = { kind: 'maintenance', state: 'done' };

const MEANINGS: Readonly<Record<StateWord, WordMeaning>> = {
  investigating: INVESTIGATING,
  trouble: INVESTIGATING,
  identified: { kind: 'incident', status: 'identified' },
  monitoring: { kind: 'incident', status: 'monitoring' },
  resolved: { kind: 'incident', status: 'resolved' },
  planned: { kind: 'maintenance', state: 'planned' },
  running: RUNNING,
  done: DONE,
  update: { kind: 'update' },
  operational: { kind: 'operational' },
};

/** The labels before texts, in lower case, by their meaning. */
const LABELS = new Map(
  STATE_WORDS.flatMap((words) => Object.entries(words)).flatMap(([word, labels]) =>
    labels.split(', ').map((label) => [label, MEANINGS[word as StateWord]] as const),
  ),
);

/** English labels that also occur at the beginning or end of titles, where others are parts of names. */
const TITLE_WORDS =
  'investigating|identified|monitoring|resolved|mitigated|completed|operational|degraded performance|' +
  'partial outage|major outage|under maintenance|informational';

/** Those that a dash separates from a title, and that are no names of parts, as Monitoring is. */
const LEADING_WORDS = 'investigating|identified|resolved|mitigated|completed';

/** Those of other languages: what is not ASCII is no part of an English name. */
const FOREIGN_WORDS = STATE_WORDS.slice(1)
  .flatMap(({ investigating, identified, monitoring, resolved }) => [
    investigating,
    identified,
    monitoring,
    resolved,
  ])
  .flatMap((labels) => labels?.split(', ') ?? [])
  .join('|');

const MARKS = `${TITLE_WORDS}|${FOREIGN_WORDS}`;

/** Those that only brackets tell from names. */
const BRACKETED_WORDS = 'fixed|watching|reported|recovered|closed|scheduled|in progress|cancell?ed';

const LEADING_MARK = new RegExp(
  `^(?:[[【](${MARKS}|${BRACKETED_WORDS}|update)[\\]】]|(${TITLE_WORDS}|update)\\s?:|(${FOREIGN_WORDS})\\s?[:：]|(${LEADING_WORDS}) [-–—] )\\s*`,
  'i',
);
const TRAILING_MARK = new RegExp(
  `\\s*(?:[[【](${MARKS}|${BRACKETED_WORDS})[\\]】]|[(（](${MARKS})[)）]|\\s[-–—|:]\\s(${MARKS}))$`,
  'i',
);

/** Pictures before a state, such as a green check mark. */
export const LEADING_SIGNS = /^(?:\p{Extended_Pictographic}|\uFE0F|\s)+(?=[\p{L}[【])/u;

const ENDS_IN_CHINESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][。！]?$/u;

/** The meaning of a label; null: it is not a label. */
export function meaningOf(label: string): WordMeaning | null {
  const folded = label
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')
    .replaceAll("'", '’');
  return LABELS.get(folded.trim()) ?? null;
}

/** The status of an update. A planned or running maintenance is `identified` (decisions, Incidents). */
export function statusOf(meaning: WordMeaning | null): FeedUpdate['status'] | null {
  if (meaning?.kind === 'incident') return meaning.status;
  if (meaning?.kind === 'maintenance') return meaning.state === 'done' ? 'resolved' : 'identified';
  return meaning?.kind === 'operational' ? 'resolved' : null;
}

/** Orders what vendors publish within one minute, where an end may stand before what it ends: 1 for an end, else 0. */
export function endRank({ meaning }: { readonly meaning: WordMeaning | null }): number {
  return statusOf(meaning) === 'resolved' ? 1 : 0;
}

/** The meaning of a word in a maintenance: `Active` has begun, `Resolved` is done. Planned ones are `Identified` too. */
export function inMaintenance<T extends WordMeaning | null>(meaning: T): T | WordMeaning {
  if (meaning?.kind !== 'incident' || meaning.status === 'identified') return meaning;
  return meaning.status === 'resolved' ? DONE : RUNNING;
}

/** Splits a title from its state, such as `[RESOLVED]` before or ` - Investigating` after it. */
export function splitTitle(title: string): { readonly title: string; readonly meaning: WordMeaning | null } {
  const plain = title.replace(LEADING_SIGNS, '');
  const match = LEADING_MARK.exec(plain) ?? TRAILING_MARK.exec(plain);
  // Chinese and Japanese have no spaces: the end of such a title is that of a sentence.
  if (match === null)
    return { title, meaning: ENDS_IN_CHINESE.test(title) ? meaningOfSentence(title.slice(-12)) : null };
  const rest = plain.replace(match[0], '').trim();
  const word = match.slice(1).find((group) => group !== undefined) ?? '';
  return { title: rest === '' ? title : rest, meaning: meaningOf(word) };
}

/** Returns true if a text is only the state of a component. */
export function isPartState(text: string): boolean {
  return /^(?:status: )?(?:degraded performance|(?:partial|major|full) outage|under maintenance)$/i.test(
    text,
  );
}

/** The state in the sentences of a text; null: none is certain. */
export function meaningOfSentence(text: string): WordMeaning | null {
  const sentences = text.slice(0, 2_000).split(/[.!?]\s+|[。！？\n]/);
  const said = sentences.filter((sentence) => !NOT_YET.test(sentence));
  const state = STATE_SENTENCES.find(([pattern]) => said.some((sentence) => pattern.test(sentence)))?.[1];
  return state === undefined ? null : MEANINGS[state];
}

/** Partial outages are minor, as on the vendors' own pages. */
const SEVERITIES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/\bcritical\b/i, 'critical'],
  [/\b(?:major|full|complete|total|severe|high|unavailable)\b/i, 'major'],
];

/**
 * Severity by labelled words (`Severity: critical`), the states of components (`API (Full outage)`) and the title
 * (`Major outage of …`); null if none of them contains one.
 */
export function severityOf(title: string, text: string): FeedIncident['severity'] | null {
  const said = [
    ...title.matchAll(/\b(?:critical|major|full|complete|total) (?:outage|disruption|incident)\b/gi),
    ...text.replaceAll('_', ' ').matchAll(/^(?:severity|impact): ?[a-z]{3,12}(?: outage)?$/gim),
    ...text.matchAll(/\((?:major|full|complete) outage\)$/gim),
    ...text.matchAll(/^(?:status: )?(?:major|full|complete|critical) (?:outage|disruption)$/gim),
  ].join('\n');
  return SEVERITIES.find(([pattern]) => pattern.test(said))?.[1] ?? null;
}
