import type { FunctionComponent as FC } from "preact";
import type { ApiKey } from "../../accounts/accounts.js";
import { USAGE_WINDOWS, type UsageView, type UsageWindow } from "../../accounts/accounts.js";
import { HOUR_MS, isoTime } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { repositoryId } from "../../repositories/repositories.js";
import { BarChart } from "../components/bar-chart.js";
import { Facts } from "../components/elements.js";
import { Tabs } from "../components/links.js";
import { formatBytes, formatCount, formatDate, Time } from "../components/numbers.js";
import { Callers, Endpoints, Failures, Pressure } from "../components/usage-parts.js";
import type { MemberRequest, Page } from "../page-request.js";
import { Revocation } from "./keys.js";

const WINDOW_NAMES: Readonly<Record<UsageWindow, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** The usage of one key. */
export async function showKeyUsage({ account, members, url, params, baseUrl }: MemberRequest): Promise<Page> {
  const id = repositoryId(params.id ?? "");
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
      <KeyUsage
        {...{ apiKey: key, usage, window, baseUrl }}
        path={url.pathname}
        isUnknown={known === undefined}
      />
    ),
  };
}

interface KeyUsageProps {
  apiKey: ApiKey;
  usage: UsageView;
  window: UsageWindow;
  path: string;
  baseUrl: string;
  isUnknown: boolean;
}

const KeyUsage: FC<KeyUsageProps> = ({ apiKey, usage, window, path, baseUrl, isUnknown }) => (
  <>
    <p class="small">
      <a href="/account/keys">API keys</a>
    </p>
    <h1>Usage: {apiKey.name}</h1>
    <p class="lead">
      Key ending in <code>{apiKey.hint}</code> · created {formatDate(apiKey.createdAt)} · last used{" "}
      {apiKey.lastUsedAt === null ? "never" : <Time at={apiKey.lastUsedAt} />}
    </p>
    {isUnknown ? (
      <p class="note wrong" role="alert">
        The window must be one of {USAGE_WINDOWS.join(", ")}. Showing the last 24 hours.
      </p>
    ) : null}
    <div class="apart">
      <Tabs
        label="Period"
        tabs={USAGE_WINDOWS.map((one) => ({
          name: WINDOW_NAMES[one],
          href: `${path}?window=${one}`,
          isCurrent: one === window,
        }))}
      />
      <Revocation id={apiKey.id} name={apiKey.name} />
    </div>
    {usage.totals.requests === 0 ? (
      <Unused window={window} baseUrl={baseUrl} />
    ) : (
      <Used usage={usage} window={window} />
    )}
  </>
);

const Unused: FC<{ window: UsageWindow; baseUrl: string }> = ({ window, baseUrl }) => (
  <section class="after">
    <h2>No requests yet</h2>
    <p>This key was not used in the last {WINDOW_NAMES[window]}. Try it:</p>
    <pre tabindex={0}>
      <code>{`curl -H "Authorization: Bearer $SIDEREAL_KEY" "${baseUrl}/api/repos?window=7d"`}</code>
    </pre>
    <p class="soft">Requests show up here within five seconds.</p>
  </section>
);

const Used: FC<{ usage: UsageView; window: UsageWindow }> = ({ usage, window }) => {
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
        title={`Requests in the last ${WINDOW_NAMES[window]}`}
        stepName={
          stepMs === HOUR_MS ? "Hour (UTC)" : stepMs < 24 * HOUR_MS ? "Six hours from (UTC)" : "Day (UTC)"
        }
        kinds={[
          { name: "successful", look: "plain" },
          { name: "errors", look: "striped" },
          { name: "blocked", look: "crossed" },
        ]}
        bars={usage.series.map(({ at, requests, errors, blocked }) => ({
          label: stepMs < 24 * HOUR_MS ? isoTime(at).slice(0, 16).replace("T", " ") : formatDate(at),
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
