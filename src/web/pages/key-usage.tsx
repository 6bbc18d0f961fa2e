import type { FC } from "hono/jsx";
import type { ApiKey } from "../../accounts/accounts.js";
import { repositoryId } from "../../catalog/catalog.js";
import { HOUR_MS, isoTime } from "../../clock.js";
import { AppError } from "../../errors.js";
import {
  type FailedRequest,
  USAGE_PERIODS,
  type UsagePeriod,
  type UsageView,
} from "../../metering/metering.js";
import { BarChart } from "../components/bar-chart.js";
import { Facts } from "../components/facts.js";
import { formatBytes, formatCount, formatDay, Time } from "../components/numbers.js";
import { Scroll } from "../components/scroll.js";
import { Tabs } from "../components/tabs.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { Revocation } from "./keys.js";
import { toSignIn } from "./sign-in.js";

const PERIOD_NAMES: Readonly<Record<UsagePeriod, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** The usage of one key. */
export async function showKeyUsage(request: PageRequest): Promise<Page | Redirect> {
  return request.account === undefined ? toSignIn(request) : usagePage(request, request.account.id);
}

async function usagePage({ members, url, params, baseUrl }: PageRequest, accountId: string): Promise<Page> {
  const id = repositoryId(params.id ?? "");
  const key = (await members.keys.list(accountId)).find((one) => one.id === id);
  // A revoked or unknown key and somebody else's get the same response.
  if (key === undefined) throw new AppError("NOT_FOUND", "This key does not exist or is revoked.");
  const given = url.searchParams.get("period") ?? "24h";
  const known = USAGE_PERIODS.find((one) => one === given);
  const period = known ?? "24h";
  const usage = await members.usage.view(accountId, key.id, period);
  return {
    title: `Usage: ${key.name}`,
    status: known === undefined ? 400 : 200,
    body: (
      <KeyUsage
        {...{ apiKey: key, usage, period, baseUrl }}
        path={url.pathname}
        isUnknown={known === undefined}
      />
    ),
  };
}

interface KeyUsageProps {
  apiKey: ApiKey;
  usage: UsageView;
  period: UsagePeriod;
  path: string;
  baseUrl: string;
  isUnknown: boolean;
}

const KeyUsage: FC<KeyUsageProps> = ({ apiKey, usage, period, path, baseUrl, isUnknown }) => (
  <>
    <p class="small">
      <a href="/account/keys">API keys</a>
    </p>
    <h1>Usage: {apiKey.name}</h1>
    <p class="lead">
      Key ending in <code>{apiKey.hint}</code> · created {formatDay(apiKey.createdAt)} · last used{" "}
      {apiKey.lastUsedAt === null ? "never" : <Time at={apiKey.lastUsedAt} />}
    </p>
    {isUnknown ? (
      <p class="note" role="alert">
        The period must be one of {USAGE_PERIODS.join(", ")}. Showing the last 24 hours.
      </p>
    ) : null}
    <div class="apart">
      <Tabs
        label="Period"
        tabs={USAGE_PERIODS.map((one) => ({
          name: PERIOD_NAMES[one],
          href: `${path}?period=${one}`,
          isCurrent: one === period,
        }))}
      />
      <Revocation id={apiKey.id} name={apiKey.name} />
    </div>
    {usage.totals.requests === 0 ? (
      <Unused period={period} baseUrl={baseUrl} />
    ) : (
      <Used usage={usage} period={period} />
    )}
  </>
);

const Unused: FC<{ period: UsagePeriod; baseUrl: string }> = ({ period, baseUrl }) => (
  <section class="after">
    <h2>No requests yet</h2>
    <p>This key was not used in the last {PERIOD_NAMES[period]}. Try it:</p>
    <pre tabindex={0}>
      <code>{`curl -H "Authorization: Bearer $SIDEREAL_KEY" "${baseUrl}/api/repos?window=7d"`}</code>
    </pre>
    <p class="soft">Requests show up here within five seconds.</p>
  </section>
);

const Used: FC<{ usage: UsageView; period: UsagePeriod }> = ({ usage, period }) => {
  const { totals, stepMs } = usage;
  return (
    <>
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
              name: "IP networks",
              value: `${totals.addressesIsExact ? "" : "more than "}${formatCount(totals.addresses)}`,
            },
          ]}
        />
      </div>
      <h2>Requests over time</h2>
      <BarChart
        title={`Requests in the last ${PERIOD_NAMES[period]}`}
        stepName={
          stepMs === HOUR_MS ? "Hour (UTC)" : stepMs < 24 * HOUR_MS ? "Six hours from (UTC)" : "Day (UTC)"
        }
        kinds={[
          { name: "successful", look: "plain" },
          { name: "errors", look: "striped" },
          { name: "blocked", look: "crossed" },
        ]}
        bars={usage.series.map(({ at, requests, errors, blocked }) => ({
          label: stepMs < 24 * HOUR_MS ? isoTime(at).slice(0, 16).replace("T", " ") : formatDay(at),
          counts: [requests - errors - blocked, errors, blocked],
        }))}
      />
      <Endpoints usage={usage} />
      <div class="grid after">
        <div class="stack">
          <Pressure usage={usage} />
          <Callers
            title="Recent networks"
            note="Only the network of an address is stored: /24 for IPv4, /48 for IPv6."
            rows={usage.addresses.map(({ address, requests, lastSeenAt }) => ({
              name: address,
              requests,
              lastSeenAt,
            }))}
          />
          <Callers
            title="Clients"
            note="Only the family of a user agent is stored."
            rows={usage.agents.map(({ family, requests }) => ({ name: family, requests }))}
          />
        </div>
        <div class="stack">
          <Failures
            title="Recent blocks"
            none="No blocked requests."
            rows={usage.recentBlocks}
            reason={({ bucket }) => bucket ?? ""}
          />
          <Failures
            title="Recent errors"
            none="No errors."
            rows={usage.recentErrors}
            reason={({ status, code }) => `${status} ${code ?? ""}`}
          />
        </div>
      </div>
    </>
  );
};

const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumSignificantDigits: 2 });

function shareOf(part: number, whole: number): string {
  return percent.format(whole === 0 ? 0 : part / whole);
}

/** Method and path of a route; unknown routes share one name without a method. */
function routeName({ method, route }: Pick<FailedRequest, "method" | "route">): string {
  return method === null ? route : `${method} ${route}`;
}

const Endpoints: FC<{ usage: UsageView }> = ({ usage: { endpoints } }) => (
  <>
    <h2>Top endpoints</h2>
    <Scroll label="Top endpoints">
      <table>
        <caption class="hidden">Endpoints by number of requests</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            {["Requests", "Errors", "Blocked", "Sent", "Mean time"].map((name) => (
              <th scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <tr>
              <th scope="row" class="nowrap">
                <code>{routeName(endpoint)}</code>
              </th>
              <td class="number">{formatCount(endpoint.requests)}</td>
              <td class="number">{formatCount(endpoint.errors)}</td>
              <td class="number">{formatCount(endpoint.blocked)}</td>
              <td class="number">{formatBytes(endpoint.bytes)}</td>
              <td class="number">{endpoint.meanMs === null ? "–" : `${endpoint.meanMs.toFixed(1)} ms`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </>
);

const Pressure: FC<{ usage: UsageView }> = ({ usage: { pressure } }) => (
  <section>
    <h2>Rate-limit pressure</h2>
    {pressure.length === 0 ? <p class="soft">No requests counted against a limit in this period.</p> : null}
    <ul class="plain">
      {pressure.map(({ bucket, limit, lowestRemaining, at }) => (
        <li>
          <strong>{bucket}</strong>: lowest remaining {formatCount(lowestRemaining)} of {formatCount(limit)}
          <span class="soft small">
            {" "}
            · <Time at={at} />
          </span>
          <svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
            <rect width={((100 * (limit - lowestRemaining)) / limit).toFixed(1)} height="3" />
          </svg>
        </li>
      ))}
    </ul>
  </section>
);

/** Failures listed. */
const MAX_FAILURES = 20;

const Failures: FC<{
  title: string;
  none: string;
  rows: readonly FailedRequest[];
  reason: (row: FailedRequest) => string;
}> = ({ title, none, rows, reason }) => (
  <section>
    <h2>{title}</h2>
    {rows.length === 0 ? (
      <p class="soft">{none}</p>
    ) : (
      <ul class="plain">
        {rows.slice(0, MAX_FAILURES).map((row) => (
          <li>
            <code>{row.path === null ? routeName(row) : `${row.method ?? ""} ${row.path}`.trim()}</code>{" "}
            {reason(row)}
            <span class="soft small">
              {" "}
              · <Time at={row.at} />
            </span>
          </li>
        ))}
      </ul>
    )}
  </section>
);

const Callers: FC<{
  title: string;
  note: string;
  rows: readonly { name: string; requests: number; lastSeenAt?: number }[];
}> = ({ title, note, rows }) => (
  <section>
    <h2>{title}</h2>
    <ul class="plain">
      {rows.map(({ name, requests, lastSeenAt }) => (
        <li>
          {name}: {formatCount(requests)} {requests === 1 ? "request" : "requests"}
          {lastSeenAt === undefined ? null : (
            <span class="soft small">
              {" "}
              · <Time at={lastSeenAt} />
            </span>
          )}
        </li>
      ))}
    </ul>
    <p class="soft small">{note}</p>
  </section>
);
