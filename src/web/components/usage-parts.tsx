import type { FunctionComponent as FC } from "preact";
import type { UsageEvent, UsageView } from "../../accounts/accounts.js";
import { Scroll } from "./elements.js";
import { formatBytes, formatCount, Time } from "./numbers.js";

/** Sections of the usage page of a key. */

/** Method and path of a route; unknown routes share one name without a method. */
function routeName({ method, route }: Pick<UsageEvent, "method" | "route">): string {
  return method === null ? route : `${method} ${route}`;
}

export const Endpoints: FC<{ usage: UsageView }> = ({ usage: { endpoints } }) => (
  <>
    <h2>Top endpoints</h2>
    <Scroll label="Top endpoints">
      <table class="stacked">
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
              <td class="number" data-label="Requests">
                {formatCount(endpoint.requests)}
              </td>
              <td class="number" data-label="Errors">
                {formatCount(endpoint.errors)}
              </td>
              <td class="number" data-label="Blocked">
                {formatCount(endpoint.blocked)}
              </td>
              <td class="number" data-label="Sent">
                {formatBytes(endpoint.bytes)}
              </td>
              <td class="number" data-label="Mean time">
                {endpoint.meanMs === null ? "–" : `${endpoint.meanMs.toFixed(1)} ms`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </>
);

export const Pressure: FC<{ usage: UsageView }> = ({ usage: { pressure } }) => (
  <section>
    <h2>Rate-limit pressure</h2>
    {pressure.length === 0 ? <p class="soft">No requests counted against a limit in this period.</p> : null}
    <ul class="plain">
      {pressure.map(({ bucket, limit, lowestRemaining, at }) => (
        <li>
          <strong>{bucket}</strong>: lowest remaining {formatCount(lowestRemaining)} of {formatCount(limit)}
          <span class="soft small">
            {" "}
            · <Time at={at} exact />
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

export const Failures: FC<{
  title: string;
  none: string;
  rows: readonly UsageEvent[];
  reason: (row: UsageEvent) => string;
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
              · <Time at={row.at} exact />
            </span>
          </li>
        ))}
      </ul>
    )}
  </section>
);

export const Callers: FC<{
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
              · <Time at={lastSeenAt} exact />
            </span>
          )}
        </li>
      ))}
    </ul>
    <p class="soft small">{note}</p>
  </section>
);
