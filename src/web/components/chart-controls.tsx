import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  ALIGNMENTS,
  type Aligned,
  type Alignment,
  CHART_WINDOWS,
  type ChartSpan,
  type ChartWindow,
  type History,
  METRIC_WORDS,
  METRICS,
  notesOf,
  type Passed,
  SCALES,
  seriesOf,
  VIEW_FACTS,
  VIEWS,
} from "../../charts/charts.js";
import { count, dayParameter } from "../../discovery/discovery.js";
import type { SumPoint } from "../../growth/growth.js";
import { isoDay } from "../../lib/clock.js";
import { daysProblem } from "../../repositories/repositories.js";
import { type PageQuery, readUsableQuery } from "../page.js";
import type { RenderContext } from "../page-request.js";
import { Options, withQuery } from "./elements.js";
import { capital, formatCount, formatDate, formatDay } from "./numbers.js";
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

/** The names of values, from the facts about each. */
export function wordsOf<Of>(
  all: Readonly<Record<string, Of>>,
  word: (of: Of) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(all).map(([value, of]) => [value, word(of)]));
}

export const METRIC_TITLES = wordsOf(METRIC_WORDS, ({ title }) => title.replace("Open i", "I"));

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
  const { metric, range, from, to } = state;
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
        look={aligned === undefined ? "tabs" : "menu"}
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
            look="menu"
          />
          <AlignedAt {...{ url, state, aligned, section }} />
        </>
      )}
    </div>
  );
};

interface LookOptionsProps {
  url: URL;
  section: string;
  state: ChartState;
  align?: Alignment;
}

/** Choices that few readers need, in a menu. */
export const LookOptions: FC<LookOptionsProps> = (
  { url, section, state: { view, scale }, align },
  { isStatic }: RenderContext,
) =>
  isStatic ? null : (
    <details class="menu chart-options">
      <summary>Options</summary>
      <div>
        {align === "index" ? null : (
          <Options {...{ url, section }} label="View" parameter="view" words={VIEW_WORDS} current={view} />
        )}
        {VIEW_FACTS[view].takesScale ? (
          <Options
            {...{ url, section }}
            label="Scale"
            parameter="scale"
            words={SCALE_WORDS}
            current={scale}
          />
        ) : null}
      </div>
    </details>
  );

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

interface ChartFrameProps {
  url: URL;
  state: ChartState;
  history: History;
  spans: readonly ChartSpan[];
  /** Others that it passed. */
  passed: readonly Passed[];
  /** Whether its history is read at the moment: the chart has its final axes, and grows. */
  isReading: boolean;
  /** What happened in a few words, next to the count. */
  children: Child;
  /** What is said and done below the chart. */
  foot: Child;
}

/** The count, its chart with bars of the gains below, and what to do with it. It has its size before there is a point to draw. */
export const ChartFrame: FC<ChartFrameProps> = ({ url, state, history, spans, passed, ...props }) => {
  const { metric, range, view, scale, from } = state;
  const { isReading, children, foot } = props;
  const { title, unit } = METRIC_WORDS[metric];
  const { repository, points, bornAt } = history;
  const [first, last] = [points[0], points.at(-1)];
  const isWhole = range === "all" && from === undefined && scale === "linear";
  return (
    <section id="course" class="card chart-frame" data-chart="">
      <h2 class="hidden">{`${title}${VIEW_FACTS[view].suffix || " over time"}`}</h2>
      <div class="chart-head">
        <p class="figure">
          <span class="hero">
            {formatCount(repository[metric])} <small>{unit}</small>
          </span>{" "}
          {children}
        </p>
        <ChartControls url={url} state={state} section="course" />
      </div>
      {first === undefined || last === undefined || (first === last && !isReading) ? (
        <div class="plot">
          <p class="plot-box plot-empty soft">
            <span>
              {points.length === 0
                ? `No ${unit} are known in this time.`
                : `Seen once, on ${formatDate(first?.at ?? null)}. The line begins with the next count.`}
            </span>
          </p>
        </div>
      ) : (
        <Plot
          {...{ metric, view, scale }}
          spans={isReading ? [] : spans}
          passed={metric === "stars" ? passed.filter(({ at }) => at > first.at) : []}
          {...(isWhole && { bornAt: isReading ? (bornAt ?? first.at) : first.at })}
          series={seriesOf([history], { align: "date" })}
          align="date"
          hasBars
          asOf={history.asOf}
          label={`${title}${VIEW_FACTS[view].suffix} of ${repository.fullName}`}
          canZoom
        />
      )}
      {foot}
    </section>
  );
};

interface ChartFootProps extends Pick<ChartFrameProps, "url" | "state" | "history"> {
  /** Where the numbers come from, and when. */
  words: Child;
  /** Ways to pass the chart on. */
  share: Child;
}

/** The time of the counts, the same numbers as a table, and ways to pass the chart on. */
export const ChartFoot: FC<ChartFootProps> = ({ url, state, history, words, share }) => {
  const { repository, points } = history;
  const { metric, from, to } = state;
  const [first, last] = [points[0], points.at(-1)];
  const shown = first === undefined || last === undefined ? undefined : { from: first.at, to: last.at };
  return (
    <div class="chart-foot">
      {from === undefined && to === undefined ? <p class="soft">{words}</p> : null}
      <ChartDates {...{ url, state, shown }} section="course" />
      {points.length < 2 ? null : (
        <>
          <PointTable
            {...{ metric, points }}
            csvPath={`/api/repos/${repository.id}/metrics?window=all&format=csv`}
          />
          <LookOptions {...{ url, state }} section="course" />
          {share}
        </>
      )}
    </div>
  );
};

/** Where the line comes from before our own counts, and what is missing in it. */
export const HistoryNote: FC<{ history: History }> = ({ history: { seam, shown } }) => {
  const withheld = seam && `${seam}, without stars taken back before it was read`;
  const notes = notesOf({ seam: withheld, shown });
  return notes === undefined ? null : <p class="soft small">{capital(notes)}.</p>;
};

/** The points of a sum as a table. */
export const SumTable: FC<{ points: readonly Pick<SumPoint, "at" | "stars">[] }> = ({ points }) => (
  <details class="numbers">
    <summary>Chart data ({points.length})</summary>
    <Table
      label="Stars, newest first"
      columns={[
        { head: "Day", cell: ({ at }) => formatDate(at) },
        { head: "Stars", isNumber: true, cell: ({ stars }) => formatCount(stars) },
      ]}
      rows={points.toReversed()}
    />
  </details>
);
