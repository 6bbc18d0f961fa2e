import type { FC } from "hono/jsx";
import { MAX_ADDRESS } from "../../repository-addresses/repository-addresses.js";
import { MAX_PASTED } from "../../track-requests/track-requests.js";

export interface TrackFormProps {
  /** What was submitted. */
  text?: string;
  problem?: string | undefined;
  /** Whether visitors sign in first. */
  needsSignIn: boolean;
  /** Whether what a README links to may be requested. */
  mayReadLists: boolean;
}

/** Longest text that is shown again. */
const MAX_SHOWN = 20_000;

/** One field for a repository, several, or a text with links. */
export const TrackForm: FC<TrackFormProps> = ({ text = "", problem, needsSignIn, mayReadLists }) => (
  <form method="post" action="/track" class="box track-form">
    <div class="field">
      <label for="repository">Repositories: names, addresses, or a text with links to them</label>
      <textarea
        id="repository"
        name="repository"
        rows={3}
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        placeholder="owner/name, or paste a list"
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={problem === undefined ? undefined : "repository-problem"}
      >
        {text.slice(0, text.length > MAX_ADDRESS ? MAX_SHOWN : MAX_ADDRESS)}
      </textarea>
      {problem === undefined ? null : (
        <p class="wrong" id="repository-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
    {mayReadLists ? (
      <p>
        <label>
          <input type="checkbox" name="readme" value="1" />
          It is an awesome list: track what its README links to
        </label>
      </p>
    ) : null}
    <button type="submit" class="press">
      Track
    </button>
    <p class="soft small">
      Up to {MAX_PASTED} at a time.{needsSignIn ? " You sign in first, and come back here afterwards." : ""}
    </p>
  </form>
);
