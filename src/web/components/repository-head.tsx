import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryKey, topicPage } from "../../page-addresses.js";
import { withEmoji } from "../emoji.js";
import { ABSENCE_REASONS, type BadgeFacts, Badges } from "./badges.js";
import { Language } from "./language.js";
import { formatDate, Time } from "./numbers.js";
import { OwnerImage } from "./owner-image.js";
import { SaveButton } from "./save-button.js";

/** A safe http(s) URL with its host; undefined for anything else. */
function webAddress(text: string | null): { href: string; host: string } | undefined {
  if (text === null || !URL.canParse(text)) return undefined;
  const { protocol, href, host } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? { href, host } : undefined;
}

const ABSENT = {
  GONE: { title: "This repository no longer exists", reason: ABSENCE_REASONS.GONE },
  PRIVATE: { title: "This repository is private", reason: ABSENCE_REASONS.PRIVATE },
  BLOCKED: { title: "This repository is blocked", reason: ABSENCE_REASONS.BLOCKED },
  RENAMED: {
    title: "This repository seems to have a new name",
    reason: "its counts continue under another one",
  },
} as const;

/** Why a repository is no longer shown by its forge; nothing for one that is. */
export const AbsentNote: FC<{ repository: Repository; lastSnapshotAt: number | null }> = ({
  repository: { availability, refreshedAt },
  lastSnapshotAt,
}) =>
  availability === "AVAILABLE" ? null : (
    <div class="note" role="note">
      <p>
        <strong>{ABSENT[availability].title}:</strong> {ABSENT[availability].reason}. Last snapshot:{" "}
        <Time at={lastSnapshotAt} exact />. Last checked: <Time at={refreshedAt} />. Its history stays here,
        but it is no longer listed.
      </p>
    </div>
  );

export interface RepositoryHeadProps {
  repository: Repository;
  badges: BadgeFacts;
  isSaved: boolean;
  /** Path of this page. */
  next: string;
}

/** Name, badges, actions, description and facts of a repository. */
export const RepositoryHead: FC<RepositoryHeadProps> = ({ repository, badges, isSaved, next }) => {
  const { owner, name, provider, description } = repository;
  return (
    <>
      <div class="repository-head">
        <OwnerImage owner={owner} provider={provider} size={40} isFirst />
        <div class="titled">
          <h1>
            <bdi class="owner">{owner}</bdi>/<wbr />
            <bdi>{name}</bdi>
          </h1>
          <Badges {...badges} />
        </div>
        <div class="row actions-row">
          <SaveButton repositoryId={repository.id} isSaved={isSaved} next={next} />
          <a
            class="button"
            href={`/compare?${new URLSearchParams({ repo: repositoryKey(repository) })}`}
            data-command=""
            data-compare={repository.fullName}
          >
            Compare with…
          </a>
          <a class="button" href="#embed">
            Embed
          </a>
          <ForgeLink repository={repository} provider={provider} />
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
      {repository.topics.length === 0 ? null : (
        <ul class="tags" aria-label="Topics">
          {repository.topics.map((topic) => (
            <li>
              <a href={topicPage(topic)}>
                <bdi>{topic}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

const ForgeLink: FC<{ repository: Repository; provider: string }> = ({
  repository: { url, fullName },
  provider,
}) => {
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
