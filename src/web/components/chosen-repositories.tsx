import type { FunctionComponent as FC } from "preact";
import { MAX_SERIES, shortNamesOf } from "../../charts/charts.js";
import { repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { type ComparedNames, MAX_NAMES, type RefusedName } from "../naming.js";
import type { RenderContext } from "../page-request.js";
import { Link, MainButton, RepositoryField, withQuery } from "./elements.js";
import { LineSample } from "./plot.js";

/** Choosing the repositories of a comparison or an embed: those that are chosen, refused names, and fields for more. */

interface ChosenProps {
  repositories: readonly Repository[];
  here: URL;
}

/**
 * The repositories of a comparison with the marks of their lines, each with a link that removes it. The last one takes its place then, so
 * that the others keep their colours.
 */
export const Chosen: FC<ChosenProps> = ({ repositories, here }) => {
  const names = shortNamesOf(repositories);
  return repositories.length === 0 ? null : (
    <ul class="plot-legend chosen" aria-label="Compared repositories">
      {repositories.map((repository, i) => {
        const others = repositories.with(i, repositories.at(-1) ?? repository).slice(0, -1);
        return (
          <li>
            <LineSample class="line-mark" index={i} />
            <a href={repositoryPage(repository)} title={repository.fullName}>
              {names[i]}
            </a>
            <Link
              class="out"
              href={withQuery(here, { repo: others.map(repositoryKey) })}
              title="Remove"
              aria-label={`Remove ${repository.fullName}`}
              isControl
            >
              ×
            </Link>
          </li>
        );
      })}
    </ul>
  );
};

interface AddFormProps {
  /** The page that it leads to. Default: the comparison. */
  action?: string;
  /** The repositories of the comparison, as its address names them. */
  keys: readonly string[];
  /** The other parameters of the page, which the form keeps. */
  state: Readonly<Record<string, string>>;
  /** The first name that was not found, to correct. */
  refused: string;
}

/** The form that adds a repository. */
export const AddForm: FC<AddFormProps> = (
  { action = "/compare", keys, state, refused },
  { isStatic }: RenderContext,
) => {
  if (isStatic || keys.length >= MAX_SERIES) return null;
  return (
    <form action={action} class="row-form" data-compare={action === "/compare" ? "" : undefined}>
      {[...keys.map((key) => ["repo", key] as const), ...Object.entries(state)].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <RepositoryField
        id="add"
        name="repo"
        {...(keys.length === 0
          ? { label: "Repositories" }
          : { label: "Add repositories", placeholder: "Add one" })}
        value={refused}
      />
      {keys.length === 0 ? <MainButton>Add</MainButton> : null}
    </form>
  );
};

interface RefusedNamesProps {
  names: Pick<ComparedNames, "refused" | "isCut">;
  /** The comparison without them. */
  here: URL;
  /** The path of the comparison with them, to which the forges' answers lead back; absent: nothing is sent to forges. */
  askedIn?: string | undefined;
}

/** The names that a comparison leaves out, with reasons and similar names. */
export const RefusedNames: FC<RefusedNamesProps> = ({ names: { refused, isCut }, here, askedIn }) =>
  refused.length === 0 && !isCut ? null : (
    <div class="note wrong" role="alert">
      <ul class="plain">
        {refused.map((name) => (
          <li>
            {name.reason === "bare" ? "Which " : null}
            <strong>
              <bdi>{name.text.length > 100 ? `${name.text.slice(0, 100)}…` : name.text}</bdi>
            </strong>
            {REASON_WORDS[name.reason]}
            <Similar {...{ name, here }} />
            {name.reason !== "bare" || askedIn === undefined ? null : (
              <form method="post" action="/track" class="buttons">
                <input type="hidden" name="repository" value={name.text} />
                <input type="hidden" name="next" value={askedIn} />
                <button type="submit">Look for it on the forges</button>
              </form>
            )}
          </li>
        ))}
        {isCut ? <li>Only the first {MAX_NAMES} names were looked up.</li> : null}
      </ul>
    </div>
  );

const REASON_WORDS: Readonly<Record<RefusedName["reason"], string>> = {
  bare: "? Write it with its owner.",
  invalid: " is not a valid name: use owner/name, provider:owner/name, or a URL.",
  untracked: " is not tracked here.",
  twice: " is already in this comparison.",
  "too-many": ` is left out: a chart has at most ${MAX_SERIES} repositories.`,
};

const Similar: FC<{ name: RefusedName; here: URL }> = ({ name: { similar }, here }) => {
  const keys = here.searchParams.getAll("repo");
  return similar.length === 0 ? null : (
    <>
      {" "}
      Did you mean{" "}
      {similar.map((repository, i) => (
        <>
          {i === 0 ? "" : i === similar.length - 1 ? " or " : ", "}
          <a href={withQuery(here, { repo: [...keys, repositoryKey(repository)] })}>{repository.fullName}</a>
        </>
      ))}
      ?
    </>
  );
};
