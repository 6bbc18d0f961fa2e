import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { repositoryKey } from "../../page-addresses.js";
import type { TrackingOffer } from "../tracking-offer.js";
import { Field } from "./field.js";
import { TrackForms } from "./track-forms.js";

/** A name that is not tracked, and what may be meant. */
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
        />
        <button type="submit" class="press">
          Add
        </button>
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
      {notAdded === undefined ? null : <TrackForms offers={notAdded.offers} />}
    </>
  );
};
