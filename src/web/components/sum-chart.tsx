import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { CHART_WINDOWS, VIEW_FACTS, VIEWS } from "../../charts/charts.js";
import type { StarTotal } from "../../watchlists/watchlists.js";
import { RANGE_WORDS, VIEW_WORDS } from "./chart-controls.js";
import { Options } from "./links.js";
import { Delta, formatCount, formatDate } from "./numbers.js";
import { Plot } from "./plot.js";
import { Table } from "./table.js";

/** The parameters of the chart. */
export const sumParameters = z.object({
  range: z.enum(CHART_WINDOWS).default("90d"),
  view: z.enum(VIEWS).default("total"),
});

export interface SumChartProps {
  points: readonly StarTotal[];
  /** Added to the heading if the sums leave out some repositories of the page. */
  of?: string;
  asOf: number | null;
  /** The address of the page, for links. */
  url: URL;
  query: z.output<typeof sumParameters>;
}

/** The total stars of repositories over time, or per day, with a table of the same data. The page needs PLOT_SCRIPTS. */
export const SumChart: FC<SumChartProps> = ({ points, of = "", asOf, url, query: { range, view } }) => {
  const { title, breaks } = VIEW_FACTS[view].sums;
  const last = points.at(-1);
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
      // The step where a repository joins is no gain.
      isApart:
        i > 0 && (points[i - 1]?.retained !== retained || points[i - 1]?.repositories !== repositories),
    })),
    gaps: [],
    ...(hasJoined ? { note: "some repositories were added in this time" } : {}),
  };
  return (
    <section id="sum">
      <h2>
        {title}
        {of}
      </h2>
      <div class="row chart-controls">
        <Options label="View" parameter="view" words={VIEW_WORDS} current={view} url={url} section="sum" />
        <Options
          label="Time range"
          parameter="range"
          words={RANGE_WORDS}
          current={range}
          url={url}
          section="sum"
        />
      </div>
      {last === undefined || points.length < 2 ? (
        <p class="plot-empty">Only one total in this time range; a chart needs two.</p>
      ) : (
        <>
          <p>
            {formatCount(last.stars)} stars
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
            label={title}
            isSum
          />
          {!hasJoined ? null : (
            <p class="soft small">
              {breaks}: repositories first tracked then, last on {formatDate(joined.at(-1)?.at ?? null)}.
            </p>
          )}
          {!hasRetained ? null : (
            <p class="soft small">
              Where the line is dotted, some repositories add stars still held, as their forge reported later,
              instead of a total. It is broken where their number changes: such a step is neither a gain nor a
              loss.
            </p>
          )}
          <details class="numbers">
            <summary>Chart data ({points.length})</summary>
            <Table
              label="Total stars, newest first"
              columns={[
                { head: "Day", cell: ({ at }) => formatDate(at) },
                { head: "Stars", isNumber: true, cell: ({ stars }) => formatCount(stars) },
                {
                  head: "Repositories",
                  isNumber: true,
                  cell: ({ repositories }) => formatCount(repositories),
                },
                hasRetained && {
                  head: "With stars still held",
                  isNumber: true,
                  cell: ({ retained }) => formatCount(retained),
                },
              ]}
              rows={points.toReversed()}
            />
          </details>
        </>
      )}
    </section>
  );
};
