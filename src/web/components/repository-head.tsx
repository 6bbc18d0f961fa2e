import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryKey, topicPage } from "../../page-addresses.js";
import { Language } from "./language.js";
import { formatDay, Time } from "./numbers.js";
import { SaveButton } from "./save-button.js";

/** A safe http(s) URL with its host; undefined for anything else. */
function webAddress(text: string | null): { href: string; host: string } | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const { protocol, href, host } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? { href, host } : undefined;
}

const ABSENT = {
  GONE: {
    title: "This repository no longer exists.",
    text: "The forge reports that it was deleted or moved.",
  },
  PRIVATE: {
    title: "This repository is private.",
    text: "The forge no longer shows it to the public.",
  },
  BLOCKED: { title: "This repository is blocked.", text: "The forge has disabled access to it." },
  RENAMED: {
    title: "This repository seems to have a new name.",
    text: "Its counts continue under another one.",
  },
} as const;

export interface RepositoryHeadProps {
  repository: Repository;
  /** Time of its newest snapshot. */
  lastSnapshotAt: number | null;
  isSaved: boolean;
  /** Path of this page. */
  next: string;
}

/** Name, actions, description and facts of a repository. */
export const RepositoryHead: FC<RepositoryHeadProps> = ({ repository, lastSnapshotAt, isSaved, next }) => {
  const { owner, name, provider, description, availability } = repository;
  return (
    <>
      <div class="apart repository-head">
        <h1>
          <span class="owner">{owner}/</span>
          <wbr />
          <span>{name}</span>
        </h1>
        <div class="row">
          <a class="button" href={`/compare?${new URLSearchParams({ repo: repositoryKey(repository) })}`}>
            Compare with…
          </a>
          <SaveButton repositoryId={repository.id} isSaved={isSaved} next={next} />
        </div>
      </div>
      {description === null || description === "" ? null : <p class="lead">{description}</p>}
      {availability === "AVAILABLE" ? null : (
        <div class="note" role="note">
          <p>
            <strong>{ABSENT[availability].title}</strong> {ABSENT[availability].text} Last snapshot:{" "}
            <Time at={lastSnapshotAt} />. Last checked: <Time at={repository.refreshedAt} />. Its history
            stays here, but it is no longer listed.
          </p>
        </div>
      )}
      <ul class="row facts-line">
        <li>
          <ForgeLink repository={repository} provider={provider} />
        </li>
        <Homepage homepage={repository.homepage} />
        {repository.language === null ? null : (
          <li>
            <Language name={repository.language} />
          </li>
        )}
        {repository.license === null ? null : <li>{repository.license}</li>}
        {repository.archived ? <li class="badge">archived</li> : null}
        {repository.fork ? <li class="badge">fork</li> : null}
      </ul>
      {repository.topics.length === 0 ? null : (
        <ul class="tags" aria-label="Topics">
          {repository.topics.map((topic) => (
            <li>
              <a href={topicPage(topic)}>{topic}</a>
            </li>
          ))}
        </ul>
      )}
      <ul class="row facts-line soft small">
        <li>Created {formatDay(repository.createdAt)}</li>
        <li>
          Last push <Time at={repository.pushedAt} />
        </li>
        <li>First seen {formatDay(repository.discoveredAt)}</li>
        <li>
          Refreshed <Time at={repository.refreshedAt} />
        </li>
        {repository.nextRefreshAt === null ? null : (
          <li>
            Next refresh <Time at={repository.nextRefreshAt} />
          </li>
        )}
      </ul>
    </>
  );
};

const ForgeLink: FC<{ repository: Repository; provider: string }> = ({
  repository: { url, fullName },
  provider,
}) => {
  const address = webAddress(url);
  if (address === undefined) return <span>{forgeName(provider)}</span>;
  return (
    <a href={address.href} rel="noopener nofollow" title={fullName}>
      {forgeName(provider)} <span class="soft">({address.host})</span>
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
