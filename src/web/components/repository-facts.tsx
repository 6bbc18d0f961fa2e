import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { type Trend, WINDOW_LABELS, WINDOWS, type Window, windowMs } from "../../growth/growth.js";
import { repositoryKey, topicPage } from "../../lib/page-addresses.js";
import type { PreviousName, Repository, SnapshotRange } from "../../repositories/repositories.js";
import { OwnerImage } from "../avatars.js";
import { withEmoji } from "../emoji.js";
import { SaveButton } from "../saving.js";
import { type Badge, Badges } from "./badges.js";
import { Facts, Link } from "./elements.js";
import { Language } from "./language.js";
import { Tags } from "./links.js";
import { formatCount, formatDate, Time } from "./numbers.js";

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
          <OwnerImage owner={owner} provider={provider} size={40} isFirst />
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
