import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  ALIGNMENTS,
  type Aligned,
  type Alignment,
  CHART_WINDOWS,
  type ChartSpan,
  type ChartWindow,
  chartWindowMs,
  type History,
  METRIC_WORDS,
  METRICS,
  notesOf,
  SCALES,
  seriesOf,
  VIEW_FACTS,
  VIEWS,
} from "../../charts/charts.js";
import { count, dayParameter } from "../../discovery/discovery.js";
import { type Sum, type SumPoint, sumCounts } from "../../growth/growth.js";
import { isoDay } from "../../lib/clock.js";
import type { Modules } from "../../modules.js";
import { daysProblem } from "../../repositories/repositories.js";
import { type PageQuery, readUsableQuery } from "../page.js";
import type { RenderContext } from "../page-request.js";
import { Options, withQuery, wordsOf } from "./elements.js";
import { capital, Delta, formatCount, formatDate, formatDay, repositoriesText, Time } from "./numbers.js";
import { Plot } from "./plot.js";
import { PointTable, Table } from "./table.js";

/** Charts by time: their parameters, the links and fields that set them, and the section of a repository with all of it. */

export const chartParameters = z.object({
  metric: z.enum(METRICS).default("stars"),
  range: z.enum(CHART_WINDOWS).default("1y"),
  from: dayParameter.optional(),
  to: dayParameter.optional(),
  view: z.enum(VIEWS).default("total"),
  scale: z.enum(SCALES).default("linear"),
});
type ChartState = z.output<typeof chartParameters>;

/** Those of a chart of several repositories: `first`, a count, and `base`, the day of an index, are the points of alignment. */
export const alignedParameters = chartParameters.extend({
  align: z.enum(ALIGNMENTS).default("date"),
  first: count(1, 1_000_000_000).optional(),
  base: dayParameter.optional(),
});

export const METRIC_TITLES = wordsOf(METRIC_WORDS, ({ title }) => title);

/** Names of time ranges. */
export const RANGE_WORDS: Readonly<Record<ChartWindow, string>> = {
  "30d": "30 days",
  "90d": "90 days",
  "1y": "1 year",
  all: "All",
};

/** Names of the other choices. */
export const VIEW_WORDS = wordsOf(VIEW_FACTS, ({ label }) => label);
const SCALE_WORDS = { linear: "Linear", log: "Log" } as const;
export const ALIGN_WORDS: Readonly<Record<Alignment, string>> = {
  date: "By date",
  age: "By age",
  "first-snapshot": "From first snapshot",
  "first-count": "From first N",
  index: "Index",
};

/** Like `readUsableQuery`, for parameters that include those of charts: days in the wrong order are reported and dropped. */
export function readChartQuery<Schema extends typeof chartParameters>(
  schema: Schema,
  url: URL,
): PageQuery<z.output<Schema>> & { query: z.output<Schema> } {
  const read = readUsableQuery(schema, url);
  const message = daysProblem(read.query);
  if (message === undefined) return read;
  for (const name of ["from", "to"]) read.url.searchParams.delete(name);
  return {
    ...read,
    query: { ...read.query, from: undefined, to: undefined },
    problems: [...read.problems, { parameter: "to", message }],
  };
}

interface ChartControlsProps {
  url: URL;
  state: ChartState;
  aligned?: Aligned;
  /** Id of the section of the chart, which links return to. */
  section: string;
}

/** The tabs above a chart. */
export const ChartControls: FC<ChartControlsProps> = (
  { url, state, aligned, section },
  { isStatic }: RenderContext,
) => {
  if (isStatic) return null;
  const { metric, range, view, scale, from, to } = state;
  const isPart = from !== undefined || to !== undefined;
  const shared = { url, section };
  return (
    <div class="row chart-controls">
      <Options {...shared} label="Metric" parameter="metric" words={METRIC_TITLES} current={metric} />
      <Options
        {...shared}
        label="Time range"
        parameter="range"
        words={RANGE_WORDS}
        current={isPart ? undefined : range}
        also={{ from: undefined, to: undefined }}
      />
      {aligned === undefined ? null : (
        <>
          <Options
            {...shared}
            label="Alignment"
            parameter="align"
            words={ALIGN_WORDS}
            current={aligned.align}
            also={{ first: undefined, base: undefined }}
            look="strip"
          />
          <AlignedAt {...{ url, state, aligned, section }} />
        </>
      )}
      <details class="menu chart-options">
        <summary>Options</summary>
        <div>
          {aligned?.align === "index" ? null : (
            <Options {...shared} label="View" parameter="view" words={VIEW_WORDS} current={view} />
          )}
          {VIEW_FACTS[view].takesScale ? (
            <Options {...shared} label="Scale" parameter="scale" words={SCALE_WORDS} current={scale} />
          ) : null}
        </div>
      </details>
    </div>
  );
};

/** The field for the count or day at which lines are aligned; nothing for other alignments. */
const AlignedAt: FC<Required<ChartControlsProps>> = ({
  url,
  state,
  aligned: { align, alignedAt },
  section,
}) => {
  if (align !== "first-count" && align !== "index") return null;
  const name = align === "index" ? "base" : "first";
  return (
    <form action={`${url.pathname}#${section}`} class="row small">
      <Kept url={url} without={[name]} />
      {align === "index" ? (
        <DayField name={name} label="100 on" value={alignedAt} />
      ) : (
        <label>
          First{" "}
          <input type="number" name={name} min={1} max={1_000_000_000} value={alignedAt ?? ""} required />{" "}
          {METRIC_WORDS[state.metric].unit}
        </label>
      )}
      <button type="submit">Show</button>
    </form>
  );
};

/** The parameters of an address as hidden fields, so that a form keeps them. */
const Kept: FC<{ url: URL; without: readonly string[] }> = ({ url, without }) => (
  <>
    {[...url.searchParams].map(([name, value]) =>
      without.includes(name) ? null : <input type="hidden" name={name} value={value} />,
    )}
  </>
);

/** Two dates that select a part of the chart; without scripts the only way to do so. */
export const ChartDates: FC<
  Pick<ChartControlsProps, "url" | "state" | "section"> & { shown: { from: number; to: number } | undefined }
> = ({ url, state: { from, to }, section, shown }, { isStatic }: RenderContext) => {
  if (isStatic) return null;
  const isPart = from !== undefined || to !== undefined;
  const [first, last] = [from ?? shown?.from, to ?? shown?.to];
  const words: Child =
    first !== undefined && last !== undefined
      ? `${formatDate(first)} to ${formatDate(last)}`
      : first === undefined
        ? `days until ${formatDate(last ?? null)}`
        : `days since ${formatDate(first)}`;
  return (
    <div class="row chart-dates small">
      {isPart ? (
        <p>
          <span data-shown="">Showing {words}</span>{" "}
          <a href={`${withQuery(url, { from: undefined, to: undefined })}#${section}`} data-reset="">
            Reset zoom
          </a>
        </p>
      ) : null}
      <details>
        <summary>Zoom by dates</summary>
        <form action={`${url.pathname}#${section}`} class="row">
          <Kept url={url} without={["from", "to"]} />
          <DayField name="from" label="From" value={first} />
          <DayField name="to" label="To" value={last} />
          <button type="submit">Show</button>
        </form>
      </details>
    </div>
  );
};

const DayField: FC<{ name: string; label: string; value: number | undefined }> = ({ name, label, value }) => (
  <label>
    {label}{" "}
    <input
      type="date"
      name={name}
      value={value === undefined ? "" : formatDay(value)}
      max={isoDay(Date.UTC(9999, 11, 31))}
      required
    />
  </label>
);

interface ChartSectionProps {
  url: URL;
  state: ChartState;
  history: History;
  spans: readonly ChartSpan[];
  /** Ways to pass it on, shown where there is one. */
  share: Child;
}

/** The chart with its options and its numbers. */
export const ChartSection: FC<ChartSectionProps> = ({ url, state, history, spans, share }) => {
  const { metric, view, scale } = state;
  const { title, unit } = METRIC_WORDS[metric];
  const { repository, points } = history;
  const [first, last] = [points[0], points.at(-1)];
  return (
    <section id="course" data-chart="">
      <h2 class="hidden">{`${title}${VIEW_FACTS[view].suffix || " over time"}`}</h2>
      <ChartControls url={url} state={state} section="course" />
      {first === undefined || last === undefined || first === last ? (
        <p class="plot-empty read">
          {points.length === 0 ? "No snapshot" : "Only one snapshot"} with {unit} in this time range; a chart
          needs two. First snapshot: <Time at={history.firstSnapshotAt} />
        </p>
      ) : (
        <Plot
          {...{ metric, view, scale, spans }}
          series={seriesOf([history], { align: "date" })}
          align="date"
          hasBars
          asOf={history.asOf}
          label={`${title}${VIEW_FACTS[view].suffix} of ${repository.fullName}`}
          canZoom
        />
      )}
      <HistoryNote history={history} />
      <div class="chart-foot">
        <ChartDates
          {...{ url, state }}
          section="course"
          shown={first === undefined || last === undefined ? undefined : { from: first.at, to: last.at }}
        />
        {points.length < 2 ? null : (
          <PointTable
            {...{ metric, points }}
            csvPath={`/api/repos/${repository.id}/metrics?window=all&format=csv`}
          />
        )}
        {points.length < 2 ? null : share}
      </div>
    </section>
  );
};

/** Where the line comes from before our own counts, and what is missing in it. */
const HistoryNote: FC<{ history: History }> = ({ history: { seam, shown } }) => {
  const withheld = seam && `${seam}, without stars taken back before it was read`;
  const notes = notesOf({ seam: withheld, shown });
  return notes === undefined ? null : <p class="soft small">{capital(notes)}.</p>;
};

/** The parameters of the chart. */
export const sumParameters = z.object({
  range: z.enum(CHART_WINDOWS).default("90d"),
  view: z.enum(VIEWS).default("total"),
});

/** The stars of these repositories over time, for `SumChart`. Costs the decoding of their snapshots. */
export async function readSum(
  { catalog, database }: Pick<Modules, "catalog" | "database">,
  ids: readonly number[],
  range: ChartWindow,
): Promise<Sum> {
  return sumCounts(database, ids, { recency: await catalog.recency(), lengthMs: chartWindowMs(range) });
}

export interface SumChartProps {
  sum: Sum;
  /** Added to the heading if the sums leave out some repositories of the page. */
  of?: string;
  asOf: number | null;
  /** The address of the page, for links. */
  url: URL;
  query: z.output<typeof sumParameters>;
}

/** The total stars of repositories over time, or per day, with a table of the same data. The page needs PLOT_SCRIPTS. */
export const SumChart: FC<SumChartProps> = ({ sum, of = "", asOf, url, query: { range, view } }) => {
  const { points, measured, repositories } = sum;
  const title = VIEW_FACTS[view].sumTitle;
  const [first, last] = [points[0], points.at(-1)];
  const words = measured === repositories ? "" : `${formatCount(measured)} of `;
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
      {first === undefined || last === undefined || points.length < 2 ? (
        <p class="plot-empty">A chart needs counts of most of these repositories a day or more apart.</p>
      ) : (
        <>
          <p>
            {formatCount(last.stars)} stars, <Delta value={last.stars - first.stars} /> since{" "}
            {formatDate(first.at)}{" "}
            <span class="soft small">
              {words}
              {repositoriesText(repositories)}
            </span>
          </p>
          <Plot
            metric="stars"
            series={[
              {
                name: "Total stars",
                points: points.map(({ at, stars }) => ({ at, value: stars, source: "OBSERVED" })),
                gaps: [],
              },
            ]}
            scale="linear"
            align="date"
            view={view}
            asOf={asOf}
            label={title}
            isSum
          />
          <SumTable points={points} />
        </>
      )}
    </section>
  );
};

export const SumTable: FC<{ points: readonly Pick<SumPoint, "at" | "stars">[] }> = ({ points }) => (
  <details class="numbers">
    <summary>Chart data ({points.length})</summary>
    <Table
      label="Total stars, newest first"
      columns={[
        { head: "Day", cell: ({ at }) => formatDate(at) },
        { head: "Stars", isNumber: true, cell: ({ stars }) => formatCount(stars) },
      ]}
      rows={points.toReversed()}
    />
  </details>
);
