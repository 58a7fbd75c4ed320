/** The words of states, in several languages. */
import t from 'tap';
import { meaningOf } from '../../src/feeds/item-vocabulary.ts';
import { rss } from '../../src/feeds/kinds/rss.ts';
import { readDocument } from './kinds/read-document.ts';

/** The entries of a feed of items: each a list of element name and content. */
function readItems(...items: Readonly<Record<string, string>>[]) {
  const written = items.map((item) => {
    const fields = Object.entries(item).map(([name, text]) => `<${name}><![CDATA[${text}]]></${name}>`);
    return `<item>${fields.join('')}</item>`;
  });
  const document = `<rss version="2.0"><channel><link>https://status.example.com/</link>${written.join('')}</channel></rss>`;
  return readDocument(rss, 'feed', document).entries;
}

const TODAY = { guid: 'g', title: 'A fault', pubDate: 'Sun, 20 Sep 2026 10:00:00 GMT' };

t.test('it knows the words of other languages', async (t) => {
  for (const [label, status] of [
    ['Behoben', 'resolved'],
    ['Untersuchungen laufen', 'investigating'],
    ['Identifiziert', 'identified'],
    ['Unter Beobachtung', 'monitoring'],
    ['Résolu', 'resolved'],
    ["En cours d'investigation", 'investigating'],
    ['Cause identifiée', 'identified'],
    ['Sous surveillance', 'monitoring'],
    ['Resuelto', 'resolved'],
    ['Investigando', 'investigating'],
    ['Identificado', 'identified'],
    ['Monitoreando', 'monitoring'],
    ['Monitoreo', 'monitoring'],
    ['Monitoramento', 'monitoring'],
    ['Resolvido', 'resolved'],
    ['Em investigação', 'investigating'],
    ['Monitorando', 'monitoring'],
    ['復旧済み', 'resolved'],
    ['調査中', 'investigating'],
    ['対応中', 'identified'],
    ['経過観察中', 'monitoring'],
    ['已恢复', 'resolved'],
    ['已修復', 'resolved'],
    ['已缓解', 'resolved'],
    ['未缓解', 'investigating'],
    ['正在调查', 'investigating'],
    ['处理中', 'identified'],
    ['观察中', 'monitoring'],
    ['修正済み', 'resolved'],
    ['确认中', 'investigating'],
    ['已辨明', 'identified'],
    ['警戒中', 'monitoring'],
    // What is not, or not yet.
    ['Nicht behoben', 'investigating'],
    ['Noch nicht gelöst', 'investigating'],
    ['Non résolu', 'investigating'],
    ['No resuelto', 'investigating'],
    ['Não resolvido', 'investigating'],
    ['未復旧', 'investigating'],
    ['未恢复', 'investigating'],
    ['Not resolved', 'investigating'],
    ['Unresolved', 'investigating'],
  ] as const)
    for (const item of [
      { description: `Status: ${label}` },
      { description: `状态：${label}` },
      { description: `<p>${label} - x</p>` },
      { title: `Login fails [${label}]` },
      { title: `Login fails（${label}）` },
      { title: `[${label}] Login fails` },
    ])
      t.match(readItems({ ...TODAY, ...item }), [{ status }], JSON.stringify(item));
});

t.test('it knows the words of parts and schedules in the translations of Cachet and cState', async (t) => {
  const table: Readonly<Record<string, readonly string[]>> = {
    investigating: [
      ...['Leistungsprobleme', 'Teilweiser Ausfall', 'Schwerer Ausfall', 'Störung', 'Ausfall'],
      ...['Problèmes de performances', 'Panne partielle', 'Panne majeure', 'Perturbé', 'Arrêté'],
      ...['Problemas de rendimiento', 'Interrupción parcial', 'Interrupción mayor', 'Interrumpido', 'Caído'],
      ...['Problemas de performance', 'Indisponibilidade parcial', 'Indisponibilidade total', 'Interrompido'],
      ...['パフォーマンスに関する問題あり', '一部停止中', '大規模な停止中', '重大な障害', '軽微な障害'],
      ...['性能问题', '部分中断', '严重中断', '效能問題', '部分停止運作', '停止運作'],
    ],
    planned: ['Bevorstehend', 'Imminent', 'Em breve', '近日中', '即将进行', 'Upcoming'],
    running: [
      'Wartung',
      'Maintenance',
      'Mantenimiento',
      'Manutenção',
      'メンテナンス',
      'Em Progresso',
      '正在进行',
    ],
    operational: [
      ...['Funktionsfähig', 'Funktionsbereit', 'Opérationnel', 'Operacional', 'Funcional', 'Funcionando'],
      ...['稼働中', '正常', '运行正常'],
    ],
  };
  for (const [meaning, words] of Object.entries(table))
    for (const word of words) {
      const found = meaningOf(word);
      const said =
        found?.kind === 'incident' ? found.status : found?.kind === 'maintenance' ? found.state : found?.kind;
      t.equal(said, meaning, word);
    }
});

t.test('it knows the sentences of other languages', async (t) => {
  for (const [text, status] of [
    ['Die Störung wurde um 10 Uhr vollständig behoben.', 'resolved'],
    ['Die Störung ist noch nicht behoben.', 'investigating'],
    ['Wir melden uns, sobald die Störung behoben ist.', 'investigating'],
    ["L'incident est désormais résolu.", 'resolved'],
    ["L'incident n'est pas résolu.", 'investigating'],
    ['El problema ha sido resuelto.', 'resolved'],
    ['El problema aún no ha sido resuelto.', 'investigating'],
    ['O problema foi resolvido.', 'resolved'],
    ['O problema ainda não foi resolvido.', 'investigating'],
    ['10:00から10:30まで発生していた障害は復旧しました。', 'resolved'],
    ['障害はまだ復旧していません。', 'investigating'],
    ['服务已恢复正常。', 'resolved'],
    ['服务尚未恢复，我们正在紧急排查。', 'investigating'],
    ['预计今晚恢复。', 'investigating'],
    ['The issue has been resolved.', 'resolved'],
    ['We will post again once the issue has been resolved.', 'investigating'],
    ['We do not expect that the issue has been resolved.', 'investigating'],
  ] as const)
    t.match(readItems({ ...TODAY, description: text }), [{ status }], text);
  for (const [title, status] of [
    ['登录服务异常，已恢复', 'resolved'],
    ['登录服务异常，尚未恢复', 'investigating'],
    ['ログイン障害は復旧しました', 'resolved'],
    ['因已修复的漏洞引发登录服务异常', 'investigating'],
    ['Resolved tickets cannot be closed', 'investigating'],
    ['Gelöste Tickets verschwinden', 'investigating'],
    ['Panel de monitoreo no carga', 'investigating'],
    ['Painel de monitoramento indisponível', 'investigating'],
  ] as const)
    t.match(readItems({ ...TODAY, title }), [{ status }], title);
});

t.test('it knows the maintenances of other languages by their titles', async (t) => {
  for (const title of [
    'Geplante Wartungsarbeiten am Login',
    'Wartung der Datenbank',
    'Maintenance programmée',
    'Mantenimiento programado',
    'Manutenção agendada',
    '【メンテナンス】ログイン',
    'ログインのメンテナンスのお知らせ',
    '系统维护公告',
    '登录服务维护通知',
    'Scheduled Database Maintenance',
  ])
    t.match(readItems({ ...TODAY, title }), [{ kind: 'maintenance', state: 'running' }], title);
  for (const title of [
    'Login fails after maintenance',
    'Störung nach Wartung',
    'Erreurs après une maintenance',
    '维护后登录异常',
    'メンテナンス後のログイン障害',
  ])
    t.match(readItems({ ...TODAY, title }), [{ kind: 'incident' }], title);
});
