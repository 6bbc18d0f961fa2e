import type { FunctionComponent as FC } from "preact";
import { type ChartSpan, type DayGain, dayOf, type Milestone, noteOfSpan } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { RenamedName } from "../../discovery/discovery.js";
import { DAY_MS, HOUR_MS, isoTime } from "../../lib/clock.js";
import { repositoryKey, repositoryPage, topicPage } from "../../lib/page-addresses.js";
import {
  hidesTexts,
  type PreviousName,
  type Recency,
  type Repository,
  type SnapshotRange,
} from "../../repositories/repositories.js";
import { SaveButton } from "../saving.js";
import { ABSENCE_REASONS, type Badge, Badges, OwnerImage } from "./badges.js";
import { Language, Link, Note, Tags } from "./elements.js";
import { formatCount, formatDate, formatDelta, isolated, Time, withEmoji } from "./numbers.js";

/** The facts of a repository besides its growth: the head of its page, and the quality of its data at the foot. */

interface RepositoryHeadProps {
  repository: Repository;
  badges: readonly Badge[];
  isSaved: boolean;
  /** Path of this page. */
  next: string;
}

/** The image of the owner, the name with its badges, the description, and actions. */
export const RepositoryHead: FC<RepositoryHeadProps> = ({ repository, badges, isSaved, next }) => {
  const { owner, provider, description } = repository;
  return (
    <div class="repository-head">
      <OwnerImage owner={owner} provider={provider} size={64} isFirst />
      <div class="titled">
        <h1>
          <FullName of={repository} />
        </h1>{" "}
        <Badges badges={badges} />
        <p class="about" dir="auto">
          {withEmoji(description ?? "")}
        </p>
      </div>
      <div class="repository-actions">
        <SaveButton repositoryId={repository.id} isSaved={isSaved} next={next} />
        <Link
          class="button"
          href={`/compare?${new URLSearchParams({ repo: repositoryKey(repository) })}`}
          data-command="Compare with…"
          data-compare={repository.fullName}
          isControl
        >
          Compare
        </Link>
        <ForgeLink repository={repository} />
      </div>
    </div>
  );
};

/** A full name whose owner is quiet, and which may break after it. */
export const FullName: FC<{ of: Pick<Repository, "owner" | "name"> }> = ({ of: { owner, name } }) => (
  <>
    <bdi class="owner">{owner}</bdi>/<wbr />
    <bdi class="title">{name}</bdi>
  </>
);

/** The facts that a forge gives about a repository, and its topics. */
export const RepositoryFacts: FC<{ repository: Repository }> = ({ repository }) => (
  <div class="row small repository-facts">
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
  </div>
);

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
  /** Gaps in the time range of the chart. */
  gaps: number;
}

/** The snapshots behind the numbers of a repository, the times of its refreshes, and its previous names. */
export const DataQuality: FC<DataQualityProps> = ({ repository, stored, names, gaps }) => (
  <section>
    <h3>Data quality</h3>
    <p>
      {formatCount(stored.snapshots)} snapshots, {formatDate(stored.firstSnapshotAt)} to{" "}
      {formatDate(stored.lastSnapshotAt)}; {formatCount(gaps)} gaps in the time of the chart. First seen{" "}
      {formatDate(repository.discoveredAt)}, refreshed <Time at={repository.refreshedAt} />
      {repository.nextRefreshAt === null ? null : (
        <>
          , next <Time at={repository.nextRefreshAt} />
        </>
      )}
      .
    </p>
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
  </section>
);

/** The notes at the top of the page of a repository, that it is gone or stale, and its events. */

const ABSENT = {
  GONE: { title: "This repository no longer exists", reason: ABSENCE_REASONS.GONE },
  PRIVATE: { title: "This repository is private", reason: ABSENCE_REASONS.PRIVATE },
  BLOCKED: { title: "This repository is blocked", reason: ABSENCE_REASONS.BLOCKED },
  RENAMED: { title: "This repository has a new name", reason: "its history continues there" },
  HIDDEN: { title: "This repository is hidden", reason: ABSENCE_REASONS.HIDDEN },
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

/** Something that happened to a repository. `isNow`: a record; `isQuiet`: somebody else's success. */
export interface Happening {
  at: number;
  /** Without the day. */
  words: string;
  /** The other repository in it, after the words or, in a quiet one, before them. */
  other?: Repository;
  look?: "now" | "quiet";
}

/** Events shown, and how many of a kind at most. */
const SHOWN = 5;
const OF_A_KIND = 2;

interface HappeningsOf {
  repository: Repository;
  best: DayGain | undefined;
  milestones: readonly Milestone[];
  crossings: readonly Crossing[];
  names: readonly PreviousName[];
}

/** When a repository passed another one, or was passed by it. */
export interface Crossing {
  at: number;
  value: number;
  isAbove: boolean;
  other: Repository;
}

/** What says most about a repository, newest first: its best day, round numbers, others it passed, names, its beginning. */
export function happeningsOf({ repository, best, milestones, crossings, names }: HappeningsOf): Happening[] {
  const isWith = ({ at }: Crossing, { before, point }: Milestone) => at > before.at && at <= point.at;
  const rounds = milestones.map((milestone): Happening => {
    const { value, point } = milestone;
    const passed = crossings.find((one) => one.isAbove && isWith(one, milestone));
    const words = `Passed ${formatCount(value)} stars`;
    return passed === undefined
      ? { at: point.at, words }
      : { at: point.at, words: `${words} and`, other: passed.other };
  });
  const others = crossings
    .filter((one) => !milestones.some((milestone) => isWith(one, milestone)))
    .map(
      ({ at, value, isAbove, other }): Happening =>
        isAbove
          ? { at, words: `At ${formatCount(value)} passed`, other }
          : { at, words: `passed it at ${formatCount(value)}`, other, look: "quiet" },
    );
  const newest = (some: readonly Happening[]) => some.toSorted((a, b) => b.at - a.at).slice(0, OF_A_KIND);
  const kinds: Happening[] = [
    ...(best === undefined
      ? []
      : [{ at: best.at, words: `Best day: ${formatDelta(best.change)} stars`, look: "now" as const }]),
    ...newest(rounds),
    ...newest(others),
    ...newest(
      names.map(({ fullName, until }) => ({ at: until, words: `Renamed from ${isolated(fullName)}` })),
    ),
    repository.createdAt === null
      ? { at: repository.discoveredAt, words: "First seen here" }
      : { at: repository.createdAt, words: "Created" },
  ];
  return kinds.slice(0, SHOWN).sort((a, b) => b.at - a.at);
}

interface EventsProps {
  happenings: readonly Happening[];
  /** The times in which its counts are unusual. */
  unusual: readonly ChartSpan[];
}

/** What happened to a repository on a line of time, and in a fold what is wrong with its readings. */
export const Events: FC<EventsProps> = ({ happenings, unusual }) => (
  <>
    <ol class="events">
      {happenings.map(({ at, words, other, look }) => (
        <li class={look}>
          <time datetime={isoTime(at)} class="soft small">
            {formatDate(dayOf(at))}
          </time>{" "}
          <span>
            {look === "quiet" ? null : words}{" "}
            {other === undefined ? null : (
              <a href={repositoryPage(other)}>
                <bdi>{other.name}</bdi>
              </a>
            )}{" "}
            {look === "quiet" ? words : null}
          </span>
        </li>
      ))}
    </ol>
    {unusual.length === 0 ? null : (
      <details class="small soft">
        <summary>{unusual.length === 1 ? "An unusual reading" : "Unusual readings"}</summary>
        <ul class="plain">
          {unusual.map((span) => (
            <li>{noteOfSpan(span)}</li>
          ))}
        </ul>
      </details>
    )}
  </>
);
