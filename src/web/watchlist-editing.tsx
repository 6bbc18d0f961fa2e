import type { FunctionComponent as FC } from "preact";
import { readName } from "../discovery/discovery.js";
import { queryOf, repositoryKey } from "../lib/page-addresses.js";
import type { Repository } from "../repositories/repositories.js";
import { Field, MainButton } from "./components/elements.js";
import type { MoreColumn } from "./components/repository-list.js";
import { ACTIONS } from "./components/table.js";
import { similarTo } from "./naming.js";
import type { PageRequest } from "./page-request.js";
import { offerTracking, TrackButton, type TrackingOffer } from "./tracking.js";

/** Changing a watchlist: the field that adds repositories, and the actions of its rows. */

/** A name that is not tracked, with suggestions. */
export interface NotAdded {
  written: string;
  similar: readonly Repository[];
  offers: readonly TrackingOffer[];
}

interface AddRepositoryProps {
  /** Path that takes the field `repository`. */
  action: string;
  /** Other fields of the form. */
  kept?: Readonly<Record<string, string>>;
  notAdded: NotAdded | undefined;
}

/** The field that adds a repository to a list; after a name that is not tracked, with similar ones. */
export const AddRepository: FC<AddRepositoryProps> = ({ action, kept = {}, notAdded }) => {
  const hidden = Object.entries(kept).map(([name, value]) => (
    <input type="hidden" name={name} value={value} />
  ));
  return (
    <>
      <form method="post" action={action} class="row-form">
        {hidden}
        <Field
          name="repository"
          label="Add a repository"
          problem={notAdded === undefined ? undefined : "This repository is not tracked here."}
          value={notAdded?.written}
          required
          maxlength={500}
          placeholder="owner/name or URL"
          isLiteral
          isRepository
        />
        <MainButton>Add</MainButton>
      </form>
      {notAdded === undefined || notAdded.similar.length === 0 ? null : (
        <form method="post" action={action} class="buttons">
          {hidden}
          <span>Did you mean</span>
          {notAdded.similar.map((repository) => (
            <button type="submit" name="repository" value={repositoryKey(repository)}>
              {repository.fullName}
            </button>
          ))}
        </form>
      )}
      {notAdded === undefined ? null : <TrackButton offers={notAdded.offers} />}
    </>
  );
};

/** Suggestions for a name that is not tracked. */
export async function notAdded(request: PageRequest, written: string): Promise<NotAdded> {
  const [similar, { offers }] = await Promise.all([
    written.trim() === "" ? [] : similarTo(request.modules, readName(written)?.fullNames[0] ?? written),
    offerTracking(request, [written]),
  ]);
  return { written, similar, offers };
}

/** The form that removes a row: its path, and fields besides `repositoryId`. */
interface Removal {
  action: string;
  kept: Readonly<Record<string, string>>;
}

/** The actions of a row: compare it, and remove it where that is possible. */
export function rowActions(removal?: Removal): MoreColumn {
  return {
    ...ACTIONS,
    cell: ({ repository }) => (
      <span class="row-actions">
        <a
          class="star quiet"
          href={`/compare?${queryOf([["repo", repositoryKey(repository)]])}`}
          title="Compare with…"
        >
          <span class="hidden">Compare {repository.fullName} with…</span>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4 17l5-6 4 3 7-8M4 20h16" stroke="currentColor" stroke-width="1.75" />
          </svg>
        </a>
        {removal === undefined ? null : <RemoveForm {...removal} {...repository} />}
      </span>
    ),
  };
}

const RemoveForm: FC<Removal & Pick<Repository, "id" | "fullName">> = ({ action, kept, id, fullName }) => (
  <form method="post" action={action} class="inline">
    <input type="hidden" name="repositoryId" value={id} />
    {Object.entries(kept).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" class="star quiet" aria-label={`Remove ${fullName}`} title="Remove">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path
          d="M6.5 6.5l11 11m0-11l-11 11"
          stroke="currentColor"
          stroke-width="1.75"
          stroke-linecap="round"
        />
      </svg>
    </button>
  </form>
);
