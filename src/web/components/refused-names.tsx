import type { FC } from "hono/jsx";
import { MAX_SERIES } from "../../embeds/embeds.js";
import { forgeName } from "../../forges.js";
import { repositoryKey } from "../../page-addresses.js";
import { type ComparedNames, MAX_NAMES, type RefusedName } from "../compared-names.js";
import { withQuery } from "./addresses.js";

interface RefusedNamesProps {
  names: Pick<ComparedNames, "refused" | "isCut">;
  /** The comparison without them. */
  here: URL;
}

/** The names that a comparison leaves out: why, and what may be meant. */
export const RefusedNames: FC<RefusedNamesProps> = ({ names: { refused, isCut }, here }) =>
  refused.length === 0 && !isCut ? null : (
    <div class="note wrong" role="alert">
      <ul class="plain">
        {refused.map((name) => (
          <li>
            <strong>
              <bdi>{name.text.length > 100 ? `${name.text.slice(0, 100)}…` : name.text}</bdi>
            </strong>{" "}
            {WORDS[name.reason]}
            <Similar {...{ name, here }} />
          </li>
        ))}
        {isCut ? <li>Only the first {MAX_NAMES} names were looked up.</li> : null}
      </ul>
    </div>
  );

const WORDS: Readonly<Record<RefusedName["reason"], string>> = {
  invalid: "is not a valid name: use owner/name, provider:owner/name, or a URL.",
  untracked: "is not tracked here.",
  twice: "is already in this comparison.",
  "too-many": `is left out: a chart has at most ${MAX_SERIES} repositories.`,
};

const Similar: FC<{ name: RefusedName; here: URL }> = ({ name: { similar, forgePage }, here }) => {
  const keys = here.searchParams.getAll("repo");
  return (
    <>
      {similar.length === 0 ? null : (
        <>
          {" "}
          Did you mean{" "}
          {similar.map((repository, i) => (
            <>
              {i === 0 ? "" : i === similar.length - 1 ? " or " : ", "}
              <a href={withQuery(here, { repo: [...keys, repositoryKey(repository)] })}>
                {repository.fullName}
              </a>
            </>
          ))}
          ?
        </>
      )}
      {forgePage === undefined ? null : (
        <>
          {" "}
          <a href={forgePage.url} rel="noopener nofollow">
            Look for it on {forgeName(forgePage.provider)}
          </a>
        </>
      )}
    </>
  );
};
