import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { CHART_WINDOWS, VIEWS } from "../../charts/charts.js";
import type { StarTotal } from "../../watchlists/watchlists.js";
import { RANGE_WORDS, VIEW_WORDS } from "./chart-controls.js";
import { Tabs, withQuery } from "./links.js";
import { Delta, formatCount, formatDate } from "./numbers.js";
import { Plot } from "./plot.js";

/** The parameters of the chart. */
export const sumParameters = z.object({
  range: z.enum(CHART_WINDOWS).default("90d"),
  view: z.enum(VIEWS).default("total"),
});

export interface SumChartProps {
  points: readonly StarTotal[];
  asOf: number | null;
  /** The address of the page, for links. */
  url: URL;
  query: z.output<typeof sumParameters>;
}

/** The total stars of a list over time, or per day, with a table of the same data. The page needs PLOT_SCRIPTS. */
export const SumChart: FC<SumChartProps> = ({ points, asOf, url, query: { range, view } }) => (
  <section id="sum">
    <h2>{view === "per-day" ? "Stars per day" : "Total stars"}</h2>
    <div class="row chart-controls">
      <Tabs
        label="View"
        tabs={VIEWS.map((name) => ({
          name: VIEW_WORDS[name],
          href: `${withQuery(url, { view: name })}#sum`,
          isCurrent: name === view,
        }))}
      />
      <Tabs
        label="Time range"
        tabs={CHART_WINDOWS.map((name) => ({
          name: RANGE_WORDS[name],
          href: `${withQuery(url, { range: name })}#sum`,
          isCurrent: name === range,
        }))}
      />
    </div>
    {points.length < 2 ? (
      <p class="plot-empty">Only one total in this time range; a chart needs two.</p>
    ) : (
      <Sums {...{ points, asOf, view }} />
    )}
  </section>
);

const Sums: FC<Pick<SumChartProps, "points" | "asOf"> & Pick<SumChartProps["query"], "view">> = ({
  points,
  asOf,
  view,
}) => {
  const last = points.at(-1);
  if (last === undefined) return null;
  const hasRetained = points.some(({ retained }) => retained > 0);
  // Totals cannot be compared with sums that hold stars still held.
  const first = points.find(({ retained }) => retained === 0);
  const joined = points.filter(
    (point, i) => i > 0 && point.repositories > (points[i - 1]?.repositories ?? 0),
  );
  // When a repository joins, the difference is not growth.
  const hasJoined = joined.length > 0;
  const line = {
    name: "Total stars",
    points: points.map(({ at, stars, repositories, retained }, i) => ({
      at,
      value: stars,
      source: retained > 0 ? ("BACKFILLED" as const) : ("OBSERVED" as const),
      // Where a repository joins, the total line goes on, but there is no gain to show.
      isApart:
        i > 0 &&
        (points[i - 1]?.retained !== retained ||
          (view === "per-day" && points[i - 1]?.repositories !== repositories)),
    })),
    gaps: [],
    ...(hasJoined ? { note: "some repositories were added in this time" } : {}),
  };
  return (
    <>
      <p>
        Total stars: {formatCount(last.stars)}
        {hasJoined || first === undefined || first === last || last.retained > 0 ? null : (
          <>
            , <Delta value={last.stars - first.stars} /> since {formatDate(first.at)}
          </>
        )}
      </p>
      <Plot
        metric="stars"
        series={[line]}
        scale="linear"
        align="date"
        view={view}
        asOf={asOf}
        label={view === "per-day" ? "Stars per day" : "Total stars"}
        isSum
      />
      {!hasJoined ? null : (
        <p class="soft small">
          {view === "per-day" ? "Days without a bar" : "Steps"}: repositories first tracked then, last on{" "}
          {formatDate(joined.at(-1)?.at ?? null)}.
        </p>
      )}
      {!hasRetained ? null : (
        <p class="soft small">
          Where the line is dotted, some repositories add stars still held, as their forge reported later,
          instead of a total. It is broken where their number changes: such a step is neither a gain nor a
          loss.
        </p>
      )}
      <SumTable {...{ points, hasRetained }} />
    </>
  );
};

const SumTable: FC<{ points: readonly StarTotal[]; hasRetained: boolean }> = ({ points, hasRetained }) => (
  <details class="numbers">
    <summary>Chart data ({points.length})</summary>
    <table>
      <caption class="hidden">Total stars of the list, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" class="number">
            Stars
          </th>
          <th scope="col" class="number">
            Repositories
          </th>
          {hasRetained ? (
            <th scope="col" class="number">
              With stars still held
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {points.toReversed().map((point) => (
          <tr>
            <th scope="row">{formatDate(point.at)}</th>
            <td class="number">{formatCount(point.stars)}</td>
            <td class="number">{formatCount(point.repositories)}</td>
            {hasRetained ? <td class="number">{formatCount(point.retained)}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);
