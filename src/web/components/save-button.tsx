import type { FC } from "hono/jsx";

export interface SaveButtonProps {
  repositoryId: number;
  /** Whether it is in the visitor's list already; then the button takes it out. */
  isSaved: boolean;
  /** Path to come back to. */
  next: string;
  /** Where nothing can be saved. */
  isDisabled?: boolean;
}

/** Puts a repository into the visitor's watchlist, or takes it out. */
export const SaveButton: FC<SaveButtonProps> = ({ repositoryId, isSaved, next, isDisabled = false }) => (
  <form method="post" action={isSaved ? "/watchlist/items/remove" : "/watchlist/items"} class="inline">
    <input type="hidden" name="repositoryId" value={String(repositoryId)} />
    <input type="hidden" name="next" value={next} />
    <button type="submit" class={isSaved ? undefined : "press"} disabled={isDisabled}>
      {isSaved ? "Saved" : "Save"}
      <span class="hidden">{isSaved ? ": take out of my watchlist" : " to my watchlist"}</span>
    </button>
  </form>
);
