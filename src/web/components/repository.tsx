import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { historyWords, type Milestone } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { RenamedName } from "../../discovery/discovery.js";
import {
  type Anomaly,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
  windowMs,
} from "../../growth/growth.js";
import { DAY_MS, HOUR_MS, isoTime } from "../../lib/clock.js";
import { repositoryKey, repositoryPage, topicPage } from "../../lib/page-addresses.js";
import {
  type HistoryState,
  hidesTexts,
  type PreviousName,
  type Recency,
  type Repository,
  type SnapshotRange,
} from "../../repositories/repositories.js";
import { SaveButton } from "../saving.js";
import { ABSENCE_REASONS, type Badge, Badges, OwnerImage } from "./badges.js";
import { Facts, Language, Link, Note, Tags } from "./elements.js";
import { bestDay, type DayGain } from "./growth.js";
import { formatCount, formatDate, formatDelta, Time, withEmoji } from "./numbers.js";

/** The facts of a repository besides its growth: the head of its page, and the quality of its data at the foot. */

interface RepositoryHeadProps {
  repository: Repository;
  badges: readonly Badge[];
  isSaved: boolean;
  /** Path of this page. */
  next: string;
}

/** Name, badges, actions, description and facts of a repository. */
export const RepositoryHead: FC<RepositoryHeadProps> = ({ repository, badges, isSaved, next }) => {
  const { owner, name, provider, description } = repository;
  return (
    <>
      <div class="repository-top">
        <div class="repository-head">
          <OwnerImage owner={owner} provider={provider} size={64} isFirst />
          <div class="titled">
            <h1>
              <bdi class="owner">{owner}</bdi>/<wbr />
              <bdi>{name}</bdi>
            </h1>
            <Badges badges={badges} />
          </div>
        </div>
        <div class="row repository-actions">
          <SaveButton repositoryId={repository.id} isSaved={isSaved} next={next} />
          <Link
            class="button"
            href={`/compare?${new URLSearchParams({ repo: repositoryKey(repository) })}`}
            data-command=""
            data-compare={repository.fullName}
            isControl
          >
            Compare with…
          </Link>
          <ForgeLink repository={repository} />
        </div>
      </div>
      {description === null || description === "" ? null : (
        <p class="lead" dir="auto">
          {withEmoji(description)}
        </p>
      )}
      <ul class="row facts-line small">
        {repository.language === null ? null : (
          <li>
            <Language name={repository.language} />
          </li>
        )}
        {repository.license === null ? null : <li>{repository.license}</li>}
        {repository.fork ? <li class="badge">fork</li> : null}
        <Homepage homepage={repository.homepage} />
        {repository.createdAt === null ? null : (
          <li class="soft">Created {formatDate(repository.createdAt)}</li>
        )}
        {repository.pushedAt === null ? null : (
          <li class="soft">
            Last push <Time at={repository.pushedAt} />
          </li>
        )}
      </ul>
      <Tags label="Topics" tags={repository.topics.map((topic) => [topic, topicPage(topic)])} />
    </>
  );
};

/** A safe http(s) URL with its host; undefined for anything else. */
function webAddress(text: string | null): { href: string; host: string } | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const { protocol, href, host } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? { href, host } : undefined;
}

const ForgeLink: FC<{ repository: Repository }> = ({ repository: { url, fullName, provider } }) => {
  const address = webAddress(url);
  if (address === undefined) return <span class="soft">{forgeName(provider)}</span>;
  return (
    <a class="button" href={address.href} rel="noopener nofollow" title={`${fullName} on ${address.host}`}>
      {forgeName(provider)} <span aria-hidden="true">↗</span>
    </a>
  );
};

const Homepage: FC<{ homepage: string | null }> = ({ homepage }) => {
  const address = webAddress(homepage);
  if (address === undefined) return homepage ? <li class="soft">{homepage}</li> : null;
  return (
    <li>
      <a href={address.href} rel="noopener nofollow ugc">
        {address.host}
      </a>
    </li>
  );
};

interface DataQualityProps {
  repository: Repository;
  stored: SnapshotRange;
  names: readonly PreviousName[];
  trends: Readonly<Record<Window, Trend | null>>;
  /** Gaps in the time range of the chart. */
  gaps: number;
}

/** The snapshots behind the numbers of a repository, the times of its refreshes, and its previous names. */
export const DataQuality: FC<DataQualityProps> = ({ repository, stored, names, trends, gaps }) => (
  <details class="part">
    <summary>
      <h2>Data quality</h2>
    </summary>
    <Facts
      facts={[
        { name: "Snapshots", value: formatCount(stored.snapshots) },
        { name: "First", value: formatDate(stored.firstSnapshotAt) },
        { name: "Last", value: formatDate(stored.lastSnapshotAt) },
        { name: "Gaps in this time range", value: formatCount(gaps) },
        {
          name: "Window coverage",
          value: WINDOWS.map((window) => `${WINDOW_LABELS[window]}: ${coverage(trends[window])}`).join(", "),
          isText: true,
        },
      ]}
    />
    <ul class="row facts-line soft small">
      <li>First seen {formatDate(repository.discoveredAt)}</li>
      <li>
        Refreshed <Time at={repository.refreshedAt} />
      </li>
      {repository.nextRefreshAt === null ? null : (
        <li>
          Next refresh <Time at={repository.nextRefreshAt} />
        </li>
      )}
    </ul>
    {names.length === 0 ? null : (
      <p>
        Previous names:{" "}
        {names.map(({ fullName, until }, i) => (
          <>
            {i === 0 ? "" : ", "}
            <bdi>{fullName}</bdi> (until {formatDate(until)})
          </>
        ))}
      </p>
    )}
  </details>
);

/** How much of a window is between the two snapshots compared. */
function coverage(trend: Trend | null): string {
  if (trend === null) return "none";
  return `${Math.min(100, Math.round((100 * (trend.to - trend.from)) / windowMs(trend.window)))}%`;
}

/** The notes at the top of the page of a repository, that it is gone or stale, and its events. */

const ABSENT = {
  GONE: { title: "This repository no longer exists", reason: ABSENCE_REASONS.GONE },
  PRIVATE: { title: "This repository is private", reason: ABSENCE_REASONS.PRIVATE },
  BLOCKED: { title: "This repository is blocked", reason: ABSENCE_REASONS.BLOCKED },
  RENAMED: { title: "This repository has a new name", reason: "its history continues there" },
} as const;

/** Why the forge does not show a repository any more; nothing for one that it shows. */
export const AbsentNote: FC<{ repository: Repository; lastSnapshotAt: number | null }> = ({
  repository: { availability, refreshedAt },
  lastSnapshotAt,
}) =>
  availability === "AVAILABLE" ? null : (
    <Note>
      <strong>{ABSENT[availability].title}:</strong> {ABSENT[availability].reason}. Last snapshot:{" "}
      <Time at={lastSnapshotAt} exact />. Last checked: <Time at={refreshedAt} />. Its history stays here, but
      it is no longer listed{hidesTexts({ availability }) ? ", and its description is not shown" : ""}.
    </Note>
  );

/** The present name of a repository that was searched for by an earlier one. */
export const RenamedHint: FC<{ renamed: RenamedName }> = ({ renamed: { fullName, to } }) => (
  <p>
    <bdi>{fullName}</bdi> is now{" "}
    <a href={repositoryPage(to)}>
      <bdi>{to.fullName}</bdi>
    </a>
    .
  </p>
);

/** Why the star history of a repository is not whole; nothing if it is, or if nothing more of it will be read. */
export const HistoryNote: FC<{ repository: Repository; history: HistoryState; now: number }> = ({
  repository: { availability, provider },
  history,
  now,
}) => {
  const words = availability === "AVAILABLE" ? historyWords(history, provider, now) : undefined;
  return words === undefined ? null : <p class="soft">{words}</p>;
};

/** Why a repository is stale, and so has no growth. */
export const StaleNote: FC<{ repository: Repository; recency: Recency }> = ({ repository, recency }) => (
  <Note>
    <strong>
      Not seen since {formatDate(repository.countedAt)} (<Time at={repository.countedAt} />
      ).
    </strong>{" "}
    {reasonOf(repository, recency)} Its counts are kept, but it is in no ranking by growth until it is seen
    again.
  </Note>
);

function reasonOf({ refreshInterval, importSource }: Repository, { newestFiles }: Recency): string {
  if (refreshInterval !== null && refreshInterval > 0)
    return `It is refreshed every ${durationText(refreshInterval)}, and that has failed since.`;
  const newest = importSource === null ? undefined : newestFiles.get(importSource);
  if (newest !== undefined)
    return `The newest file of ${importSource}, of ${formatDate(newest)}, does not have it.`;
  if (refreshInterval === 0) return "Its forge is no longer tracked.";
  return "No source has had it for 15 days.";
}

function durationText(ms: number): string {
  const [count, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, "hour"] : [ms / DAY_MS, "day"];
  const rounded = Math.max(1, Math.round(count));
  return rounded === 1 ? unit : `${formatCount(rounded)} ${unit}s`;
}

/** The name of each kind of anomaly, and its effect on the scores. */
const ANOMALY_TEXTS: Readonly<Record<Anomaly["kind"], { title: string; effect: string }>> = {
  FAILED_READING: { title: "Failed reading", effect: "Ignored." },
  UNCONFIRMED: {
    title: "Unconfirmed reading",
    effect: "Until it is confirmed, the reading before it is used.",
  },
  RETURN: { title: "Dropped and recovered", effect: "Not counted." },
  BURST: { title: "Burst", effect: "Only the usual part counts." },
  PURGE: { title: "Purge", effect: "The loss counts in full." },
};

/** An anomaly of stars, and those of other counts at the same time. */
interface Event {
  kind: Anomaly["kind"];
  anomalies: readonly Anomaly[];
  at: number;
  until: number;
  /** The windows whose growth contains it. */
  windows: readonly Window[];
}

/** The anomalies of all windows, each once, joined if counts moved at the same time; the latest first. */
function eventsOf(trends: Readonly<Record<Window, Trend | null>>): Event[] {
  const found = WINDOWS.flatMap((window) =>
    (trends[window]?.anomalies ?? []).map((anomaly) => ({ window, anomaly })),
  );
  const together = Map.groupBy(found, ({ anomaly: { kind, at } }) => `${kind} ${at}`);
  return [...together.values()]
    .flatMap((same): Event[] => {
      const [first] = same;
      if (first === undefined) return [];
      const byMeasure = new Map(same.map(({ anomaly }) => [anomaly.measure, anomaly]));
      const anomalies = [...byMeasure.values()];
      return [
        {
          kind: first.anomaly.kind,
          anomalies,
          at: first.anomaly.at,
          until: Math.max(...anomalies.map(({ until }) => until)),
          windows: WINDOWS.filter((window) => same.some((one) => one.window === window)),
        },
      ];
    })
    .sort((a, b) => b.at - a.at);
}

/** Events shown before the others are folded. */
const SHOWN = 6;

interface EventsProps {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | null>>;
  days: readonly DayGain[];
  milestones: readonly Milestone[];
  names: readonly PreviousName[];
}

/** The known events of a repository, newest first: unusual changes, records, round numbers, names. */
export const Events: FC<EventsProps> = ({ repository, trends, days, milestones, names }) => {
  const unusual = eventsOf(trends);
  const best = bestDay(days);
  const events: { at: number; words: Child }[] = [
    ...unusual.map((event) => ({ at: event.at, words: <EventText event={event} /> })),
    ...(best === undefined ? [] : [{ at: best.at, words: `Best day: ${formatDelta(best.change)} stars` }]),
    ...milestones.map((one) => ({ at: one.point.at, words: `Passed ${formatCount(one.value)} stars` })),
    ...names.map(({ fullName, until }) => ({
      at: until,
      words: (
        <>
          Renamed from <bdi>{fullName}</bdi>
        </>
      ),
    })),
    ...(repository.createdAt === null ? [] : [{ at: repository.createdAt, words: "Created" }]),
    { at: repository.discoveredAt, words: "First seen here" },
  ];
  events.sort((a, b) => b.at - a.at);
  const list = (some: typeof events) => (
    <ul class="plain events">
      {some.map(({ at, words }) => (
        <li>
          <time datetime={isoTime(at)} class="soft small">
            {formatDate(at)}
          </time>{" "}
          <span>{words}</span>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {list(events.slice(0, SHOWN))}
      {events.length <= SHOWN ? null : (
        <details>
          <summary>{formatCount(events.length - SHOWN)} more</summary>
          {list(events.slice(SHOWN))}
        </details>
      )}
    </>
  );
};

const EventText: FC<{ event: Event }> = ({ event: { kind, anomalies, at, until, windows } }) => {
  const [from, to] = [formatDate(at), formatDate(until)];
  return (
    <>
      <strong>{ANOMALY_TEXTS[kind].title}</strong>
      {from === to ? "" : `, until ${to}`}: {anomalies.map(({ reason }) => reason).join("; ")}.{" "}
      {ANOMALY_TEXTS[kind].effect}{" "}
      {`Affects growth over ${windows.map((window) => WINDOW_LABELS[window]).join(", ")}.`}
    </>
  );
};
