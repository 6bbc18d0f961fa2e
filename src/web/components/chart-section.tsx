import type { FC } from "hono/jsx";
import { type ChartSpan, type History, seriesOf } from "../../embeds/embeds.js";
import { ChartControls, ChartDates, type ChartState } from "./chart-controls.js";
import { Time } from "./numbers.js";
import { METRIC_WORDS, Plot } from "./plot.js";
import { PointTable } from "./point-table.js";

export interface ChartSectionProps {
  url: URL;
  state: ChartState;
  history: History;
  spans: readonly ChartSpan[];
}

/** The chart with its options and its numbers. */
export const ChartSection: FC<ChartSectionProps> = ({ url, state, history, spans }) => {
  const { metric, view, scale } = state;
  const { title, unit } = METRIC_WORDS[metric];
  const { repository, points } = history;
  const [first, last] = [points[0], points.at(-1)];
  return (
    <section id="course" data-chart="">
      <h2>{view === "per-day" ? `${title} per day` : `${title} over time`}</h2>
      <ChartControls url={url} state={state} section="course" />
      {first === undefined || last === undefined || first === last ? (
        <p class="plot-empty read">
          {points.length === 0 ? "No snapshot" : "Only one snapshot"} with {unit} in this time range; a chart
          needs two. First snapshot: <Time at={history.firstSnapshotAt} />
        </p>
      ) : (
        <Plot
          {...{ metric, view, scale, spans }}
          series={seriesOf([history], "date")}
          align="date"
          asOf={history.asOf}
          label={`${title}${view === "per-day" ? " per day" : ""} of ${repository.fullName}`}
          shape="half"
          canZoom
        />
      )}
      <ChartDates
        {...{ url, state }}
        section="course"
        shown={first === undefined || last === undefined ? undefined : { from: first.at, to: last.at }}
      />
      {points.length < 2 ? null : (
        <PointTable
          {...{ metric, points, spans }}
          csvPath={`/api/repos/${repository.id}/metrics?window=all&format=csv`}
        />
      )}
    </section>
  );
};
