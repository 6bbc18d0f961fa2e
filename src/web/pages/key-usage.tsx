import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { USAGE_WINDOWS, type UsageEvent, type UsageView, type UsageWindow } from "../../accounts/accounts.js";
import { linearAxis } from "../../charts/charts.js";
import { HOUR_MS, isoTime } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { repositoryId } from "../../repositories/repositories.js";
import { Command, Facts, Options } from "../components/elements.js";
import { Ago, formatBytes, formatCount, formatDate, Time } from "../components/numbers.js";
import { Table } from "../components/table.js";
import type { MemberRequest, Page } from "../page-request.js";
import { Revocation } from "./keys.js";

const WINDOW_NAMES: Readonly<Record<UsageWindow, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** The usage of one key. */
export async function showKeyUsage({ account, url, http, members, site }: MemberRequest): Promise<Page> {
  const id = repositoryId(http.params.id ?? "");
  const key = (await members.keys.list(account.id)).find((one) => one.id === id);
  // A revoked or unknown key and somebody else's get the same response.
  if (key === undefined) throw new AppError("NOT_FOUND", "This key does not exist or is revoked.");
  const given = url.searchParams.get("window") ?? "24h";
  const known = USAGE_WINDOWS.find((one) => one === given);
  const window = known ?? "24h";
  const usage = await members.usage.view(account.id, key.id, window);
  return {
    title: `Usage: ${key.name}`,
    status: known === undefined ? 400 : 200,
    body: (
      <>
        <p class="small">
          <a href="/account/keys">API keys</a>
        </p>
        <h1>Usage: {key.name}</h1>
        <p class="lead">
          Key ending in <code>{key.hint}</code> · created {formatDate(key.createdAt)} · last used{" "}
          <Ago at={key.lastUsedAt} />
        </p>
        {known === undefined ? (
          <p class="note wrong" role="alert">
            The window must be one of {USAGE_WINDOWS.join(", ")}. Showing the last 24 hours.
          </p>
        ) : null}
        <div class="apart">
          <Options label="Period" url={url} parameter="window" words={WINDOW_NAMES} current={window} />
          <Revocation id={key.id} name={key.name} />
        </div>
        {usage.totals.requests === 0 ? (
          <section class="after">
            <h2>No requests yet</h2>
            <p>This key was not used in the last {WINDOW_NAMES[window]}. Try it:</p>
            <Command
              text={`curl -H "Authorization: Bearer $SIDEREAL_KEY" "${site.baseUrl}/api/repos?window=7d"`}
            />
            <p class="soft">Requests show up here within five seconds.</p>
            <UsageBars usage={usage} window={window} />
          </section>
        ) : (
          <Used usage={usage} window={window} />
        )}
      </>
    ),
  };
}

const UsageBars: FC<{ usage: UsageView; window: UsageWindow }> = ({ usage: { series, stepMs }, window }) => (
  <>
    <h2>Requests over time</h2>
    <BarChart
      title={`Requests in the last ${WINDOW_NAMES[window]}`}
      stepName={
        stepMs === HOUR_MS ? "Hour (UTC)" : stepMs < 24 * HOUR_MS ? "Six hours from (UTC)" : "Day (UTC)"
      }
      bars={series.map(({ at, requests, errors, blocked }) => ({
        label: stepMs < 24 * HOUR_MS ? isoTime(at).slice(0, 16).replace("T", " ") : formatDate(at),
        counts: [requests - errors - blocked, errors, blocked],
      }))}
    />
  </>
);

const Used: FC<{ usage: UsageView; window: UsageWindow }> = ({ usage, window }) => {
  return (
    <>
      <Totals totals={usage.totals} />
      <UsageBars {...{ usage, window }} />
      <Endpoints usage={usage} />
      <div class="grid after">
        <div class="stack">
          <Pressure pressure={usage.pressure} />
          <Part
            title="Recent IP addresses"
            note="Only you see them. They are deleted after 30 days."
            lines={usage.addresses.map(({ address, requests, lastSeenAt }) => ({
              words: `${address}: ${requestsText(requests)}`,
              at: lastSeenAt,
            }))}
          />
          <Part
            title="Clients"
            note="Only the family of a user agent is stored."
            lines={usage.agents.map(({ family, requests }) => ({
              words: `${family}: ${requestsText(requests)}`,
            }))}
          />
        </div>
        <div class="stack">
          <Part
            title="Recent blocks"
            none="No blocked requests."
            lines={failureLines(usage.recentBlocks, ({ bucket }) => bucket ?? "")}
          />
          <Part
            title="Recent errors"
            none="No errors."
            lines={failureLines(usage.recentErrors, ({ status, code }) => `${status} ${code ?? ""}`)}
          />
        </div>
      </div>
    </>
  );
};

const Totals: FC<Pick<UsageView, "totals">> = ({ totals }) => (
  <div class="after">
    <Facts
      facts={[
        { name: "Requests", value: formatCount(totals.requests) },
        {
          name: "Errors",
          value: formatCount(totals.errors),
          more: shareOf(totals.errors, totals.requests),
        },
        {
          name: "Blocked",
          value: formatCount(totals.blocked),
          more: shareOf(totals.blocked, totals.requests),
        },
        { name: "Sent", value: formatBytes(totals.bytes) },
        {
          name: "IP addresses",
          value: `${totals.addressCountIsExact ? "" : "more than "}${formatCount(totals.addressCount)}`,
        },
      ]}
    />
  </div>
);

/** How near each limit was. */
const Pressure: FC<Pick<UsageView, "pressure">> = ({ pressure }) => (
  <Part
    title="Rate-limit pressure"
    none="No requests counted against a limit in this period."
    lines={pressure.map(({ bucket, limit, lowestRemaining, at }) => ({
      words: (
        <>
          <strong>{bucket}</strong>: lowest remaining {formatCount(lowestRemaining)} of {formatCount(limit)}
        </>
      ),
      at,
      after: (
        <svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
          <rect width={((100 * (limit - lowestRemaining)) / limit).toFixed(1)} height="3" />
        </svg>
      ),
    }))}
  />
);

const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumSignificantDigits: 2 });

function shareOf(part: number, whole: number): string {
  return percent.format(whole === 0 ? 0 : part / whole);
}

/** Method and path of a route; unknown routes share one name without a method. */
function routeName({ method, route }: Pick<UsageEvent, "method" | "route">): string {
  return method === null ? route : `${method} ${route}`;
}

const Endpoints: FC<{ usage: UsageView }> = ({ usage: { endpoints } }) => (
  <>
    <h2>Top endpoints</h2>
    <Table
      label="Top endpoints"
      class="stacked"
      columns={[
        { head: "Endpoint", class: "nowrap", cell: (endpoint) => <code>{routeName(endpoint)}</code> },
        { head: "Requests", isNumber: true, cell: ({ requests }) => formatCount(requests) },
        { head: "Errors", isNumber: true, cell: ({ errors }) => formatCount(errors) },
        { head: "Blocked", isNumber: true, cell: ({ blocked }) => formatCount(blocked) },
        { head: "Sent", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
        {
          head: "Mean time",
          isNumber: true,
          cell: ({ meanMs }) => (meanMs === null ? "–" : `${meanMs.toFixed(1)} ms`),
        },
      ]}
      rows={endpoints}
    />
  </>
);

interface Line {
  words: Child;
  at?: number | undefined;
  after?: Child;
}

/** A part of the page with a list, or with `none` in place of an empty one. */
const Part: FC<{ title: string; lines: readonly Line[]; none?: string; note?: string }> = ({
  title,
  lines,
  none,
  note,
}) => (
  <section>
    <h2>{title}</h2>
    {lines.length === 0 ? (
      <p class="soft">{none}</p>
    ) : (
      <ul class="plain">
        {lines.map(({ words, at, after }) => (
          <li>
            {words}
            {at === undefined ? null : (
              <span class="soft small">
                {" "}
                · <Time at={at} exact />
              </span>
            )}
            {after}
          </li>
        ))}
      </ul>
    )}
    {note === undefined ? null : <p class="soft small">{note}</p>}
  </section>
);

/** Failures listed. */
const MAX_FAILURES = 20;

const failureLines = (rows: readonly UsageEvent[], reason: (row: UsageEvent) => string): Line[] =>
  rows.slice(0, MAX_FAILURES).map((row) => ({
    words: (
      <>
        <code>{row.path === null ? routeName(row) : `${row.method ?? ""} ${row.path}`.trim()}</code>{" "}
        {reason(row)}
      </>
    ),
    at: row.at,
  }));

const requestsText = (requests: number) =>
  `${formatCount(requests)} ${requests === 1 ? "request" : "requests"}`;

/** The kinds of requests that bars are stacked of, each with a pattern, so that they differ without colour. */
const KINDS = [
  { name: "successful", look: "plain" },
  { name: "errors", look: "striped" },
  { name: "blocked", look: "crossed" },
] as const;

interface BarChartProps {
  /** Accessible name of the chart. */
  title: string;
  /** The label of each time step, and one count per kind. */
  bars: readonly { label: string; counts: readonly number[] }[];
  /** Column header of the time steps. */
  stepName: string;
}

/** Drawn for wide windows and for phones, since text must not shrink with the picture. */
const SIZES = {
  wide: { width: 1_160, height: 230 },
  narrow: { width: 358, height: 200 },
} as const;
const TICK = 11;
/** Room above and below the bars. */
const TOP = 8;
const BOTTOM = 22;

/** Counts over time as stacked bars, with a table of the same data. */
const BarChart: FC<BarChartProps> = ({ title, bars, stepName }) => (
  <figure class="bar-chart">
    <figcaption class="legend">
      {KINDS.map(({ name, look }) => (
        <span>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <Patterns prefix="legend-" />
            <rect class={look} width="10" height="10" fill={fillOf(look, "legend-")} />
          </svg>
          {name}
        </span>
      ))}
    </figcaption>
    <Drawing {...{ title, bars }} size="wide" />
    <Drawing {...{ title, bars }} size="narrow" />
    <details>
      <summary>Chart data</summary>
      <Table
        label={title}
        columns={[
          { head: stepName, cell: ({ label }) => label },
          ...KINDS.map(({ name }, k) => ({
            head: name,
            isNumber: true,
            cell: ({ counts }: BarChartProps["bars"][number]) => formatCount(counts[k] ?? 0),
          })),
        ]}
        rows={bars}
      />
    </details>
  </figure>
);

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const Drawing: FC<Pick<BarChartProps, "title" | "bars"> & { size: keyof typeof SIZES }> = ({
  title,
  bars,
  size,
}) => {
  const { width, height } = SIZES[size];
  const most = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  const axis = linearAxis(0, most, 4);
  const left = Math.max(...axis.ticks.map(({ label }) => label.length)) * TICK * 0.62 + 8;
  const y = (count: number) => height - BOTTOM - axis.scale(count) * (height - BOTTOM - TOP);
  const step = (width - left) / Math.max(1, bars.length);
  return (
    <svg
      class={`bars-${size}`}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${title}. Maximum: ${formatCount(most)}.`}
    >
      <Patterns prefix={`${size}-`} />
      {axis.ticks.map(({ value, label }) => (
        <>
          <path class="grid-line" d={`M${left.toFixed(1)} ${y(value).toFixed(1)}H${width}`} />
          <text x={(left - 6).toFixed(1)} y={(y(value) + 4).toFixed(1)} text-anchor="end" font-size={TICK}>
            {label}
          </text>
        </>
      ))}
      {bars.map(({ label, counts }, i) => (
        <g>
          <title>{`${label}: ${KINDS.map(({ name }, k) => `${formatCount(counts[k] ?? 0)} ${name}`).join(", ")}`}</title>
          {KINDS.map(({ look }, k) => {
            const below = sum(counts.slice(0, k));
            const count = counts[k] ?? 0;
            return count === 0 ? null : (
              <rect
                class={look}
                x={(left + step * (i + 0.1)).toFixed(2)}
                y={y(below + count).toFixed(2)}
                width={(step * 0.8).toFixed(2)}
                height={(y(below) - y(below + count)).toFixed(2)}
                fill={fillOf(look, `${size}-`)}
              />
            );
          })}
        </g>
      ))}
      <text x={left.toFixed(1)} y={height - 6} font-size={TICK}>
        {bars[0]?.label ?? ""}
      </text>
      <text x={width} y={height - 6} text-anchor="end" font-size={TICK}>
        {bars.at(-1)?.label ?? ""}
      </text>
    </svg>
  );
};

function fillOf(look: string, prefix: string): string | undefined {
  return look === "plain" ? undefined : `url(#${prefix}${look})`;
}

/** Patterns that distinguish kinds without colour. */
const Patterns: FC<{ prefix: string }> = ({ prefix }) => (
  <defs>
    <pattern id={`${prefix}striped`} width="4" height="4" patternUnits="userSpaceOnUse">
      <rect class="ground" width="4" height="4" />
      <path class="lines" d="M0 0h4M0 2h4" />
    </pattern>
    <pattern id={`${prefix}crossed`} width="4" height="4" patternUnits="userSpaceOnUse">
      <rect class="ground" width="4" height="4" />
      <path class="lines" d="M0 0L4 4M4 0L0 4" />
    </pattern>
  </defs>
);
