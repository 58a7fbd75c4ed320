/** Marks on the time axis: what happened while the lines went on. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { type AnnotationQuery, AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { INFLUX, refer } from './data-sources.ts';
import { COLOURS } from './status-colours.ts';

/** A mark's question, in the form that Grafana's InfluxDB data source takes. */
export interface AnnotationTarget extends Dataquery {
  readonly refId: string;
  readonly name: string;
  readonly query: string;
  readonly queryType: 'tags';
  readonly rawQuery: true;
  readonly fromAnnotations: true;
  readonly titleColumn: string;
  readonly textColumn: string;
  /** Separated by commas. */
  readonly tagsColumn: string;
  readonly timeEndColumn: '';
}

/** A mark for each thing that was said of an incident; `where` chooses the services and the time. */
export function incidentAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Incidents',
    colour: COLOURS.vermillion,
    query: `SELECT "title", "status", "severity", "source" FROM "upbeat_incident" WHERE ${where}`,
    text: 'title',
    tags: 'status,severity,source',
  });
}

/** A mark for each change of status; `where` chooses the services and the time. */
export function transitionAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Changes of status',
    colour: COLOURS.blue,
    query: `SELECT "reason", "from", "to" FROM "upbeat_transition" WHERE ${where}`,
    text: 'reason',
    tags: 'from,to',
  });
}

interface Mark {
  readonly name: string;
  readonly colour: string;
  readonly query: string;
  readonly text: string;
  readonly tags: string;
}

function annotation({ name, colour, query, text, tags }: Mark): Builder<AnnotationQuery> {
  const target: AnnotationTarget = {
    refId: name,
    name,
    query,
    queryType: 'tags',
    rawQuery: true,
    fromAnnotations: true,
    titleColumn: '',
    textColumn: text,
    tagsColumn: tags,
    timeEndColumn: '',
    _implementsDataqueryVariant: () => {},
  };
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(refer(INFLUX))
    .enable(true)
    .iconColor(colour)
    .target({ build: () => target });
}
