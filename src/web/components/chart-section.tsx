import type { FC } from "hono/jsx";
import {
  CHART_WINDOWS,
  type ChartWindow,
  type History,
  METRICS,
  type Metric,
  seriesOf,
} from "../../embeds/embeds.js";
import { withQuery } from "./addresses.js";
import { RANGE_WORDS } from "./embed-panel.js";
import { Time } from "./numbers.js";
import { METRIC_WORDS, Plot } from "./plot.js";
import { PointTable } from "./point-table.js";
import { Tabs } from "./tabs.js";

/** The chart with its options and its numbers. */
export const ChartSection: FC<{ url: URL; metric: Metric; range: ChartWindow; history: History }> = ({
  url,
  metric,
  range,
  history,
}) => {
  const { title } = METRIC_WORDS[metric];
  const { repository, points } = history;
  const csvWindow = range === "1y" ? "all" : range;
  return (
    <section id="course">
      <h2>{title} over time</h2>
      <div class="apart">
        <Tabs
          label="Metric"
          tabs={METRICS.map((name) => ({
            name: METRIC_WORDS[name].title,
            href: `${withQuery(url, { metric: name })}#course`,
            isCurrent: name === metric,
          }))}
        />
        <Tabs
          label="Time range"
          tabs={CHART_WINDOWS.map((name) => ({
            name: RANGE_WORDS[name],
            href: `${withQuery(url, { range: name })}#course`,
            isCurrent: name === range,
          }))}
        />
      </div>
      {points.length < 2 ? (
        <p class="plot-empty read">
          {points.length === 0 ? "No snapshot" : "Only one snapshot"} with {METRIC_WORDS[metric].unit} in this
          time range; a chart needs two. First snapshot: <Time at={history.firstSnapshotAt} />
        </p>
      ) : (
        <>
          <Plot
            metric={metric}
            series={seriesOf([history], "date")}
            scale="linear"
            align="date"
            asOf={history.asOf}
            label={`${title} of ${repository.fullName}`}
            shape="half"
          />
          <PointTable
            metric={metric}
            range={range}
            points={points}
            csvPath={`/api/repos/${repository.id}/metrics?window=${csvWindow}&format=csv`}
          />
        </>
      )}
    </section>
  );
};
