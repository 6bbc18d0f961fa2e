import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";

const actionOf = (isSaved: boolean): string => (isSaved ? "/watchlist/items/remove" : "/watchlist/items");

/** A star, filled once saved. */
const Star: FC = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path
      d="M12 3 14.6 9 21 9.6 16.2 13.9 17.6 20.2 12 16.9 6.4 20.2 7.8 13.9 3 9.6 9.4 9Z"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linejoin="round"
    />
  </svg>
);

export interface SaveButtonProps {
  repositoryId: number;
  /** Its name, where the page has several such buttons. */
  fullName?: string;
  isSaved: boolean;
  /** Path to return to without scripts. */
  next: string;
}

/** Saves a repository to the user's watchlist or removes it. The script save.js does so without leaving the page. */
export const SaveButton: FC<SaveButtonProps> = ({ repositoryId, fullName, isSaved, next }) => (
  <form method="post" action="/watchlist/items" class="inline">
    <input type="hidden" name="repositoryId" value={repositoryId} />
    <input type="hidden" name="next" value={next} />
    <button
      type="submit"
      class={isSaved ? "save saved" : "save"}
      formaction={actionOf(isSaved)}
      data-save={repositoryId}
      data-name={fullName}
      data-command={fullName === undefined ? "" : undefined}
      aria-label={fullName === undefined ? undefined : `Save ${fullName}`}
    >
      <Star />
      <span>{isSaved ? "Saved" : "Save"}</span>
    </button>
  </form>
);

/** A star without text for the rows of a list; a button of the form of the list. */
export const SaveStar: FC<{
  repository: Pick<Repository, "id" | "fullName">;
  form: string;
  isSaved: boolean;
}> = ({ repository: { id, fullName }, form, isSaved }) => (
  <button
    type="submit"
    class={isSaved ? "star saved" : "star"}
    form={form}
    name="repositoryId"
    value={id}
    formaction={actionOf(isSaved)}
    data-save={id}
    data-name={fullName}
    aria-label={isSaved ? `Remove ${fullName} from your watchlist` : `Save ${fullName}`}
  >
    <Star />
  </button>
);
