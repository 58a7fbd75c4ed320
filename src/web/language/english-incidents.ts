/** Texts of the pages of all incidents and of the heat map, in English. */

/** The texts of these pages. */
export const englishIncidents = {
  title: 'Incidents of all services',
  heading: 'Incidents',
  lead: 'What our checks detected and what vendors and owners reported, newest first.',
  pages: 'Pages',
  older: 'Older',
  newer: 'Newer',
  heatmapTitle: 'Heat map of all services',
  heatmapHeading: 'Heat map',
  heatmapLead:
    'A row for each service, a column for each step in time. A cell shows the worst of its time; the picture has the legend.',
  heatmapAlt: (range: string) => `All services by time, ${range}`,
};
