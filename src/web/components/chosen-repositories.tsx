import type { FunctionComponent as FC } from "preact";
import { MAX_SERIES } from "../../charts/charts.js";
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

/** The repositories of a comparison with the marks of their lines, each with a link that removes it. */
export const Chosen: FC<ChosenProps> = ({ repositories, here }) =>
  repositories.length === 0 ? null : (
    <ul class="plot-legend chosen" aria-label="Compared repositories">
      {repositories.map((repository, i) => {
        const others = repositories.filter((one) => one !== repository);
        return (
          <li>
            <LineSample class="line-mark" index={i} />
            <a href={repositoryPage(repository)}>{repository.fullName}</a>
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

interface AddFormProps {
  /** The repositories of the comparison, as its address names them. */
  keys: readonly string[];
  /** The other parameters of the page, which the form keeps. */
  state: Readonly<Record<string, string>>;
  /** The first name that was not found, to correct. */
  refused: string;
}

/** The form that adds a repository. */
export const AddForm: FC<AddFormProps> = ({ keys, state, refused }, { isStatic }: RenderContext) => {
  if (isStatic) return null;
  if (keys.length >= MAX_SERIES)
    return <p class="soft">You can compare up to {MAX_SERIES} repositories. Remove one to add another.</p>;
  return (
    <form action="/compare" class="row-form" data-compare="">
      {[...keys.map((key) => ["repo", key] as const), ...Object.entries(state)].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <RepositoryField
        id="add"
        name="repo"
        label={keys.length === 0 ? "Repositories" : "Add repositories"}
        value={refused}
      />
      <MainButton>Add</MainButton>
    </form>
  );
};

interface ExamplesProps {
  examples: readonly Repository[];
  keys: readonly string[];
  here: URL;
}

/** Comparisons to start from, or a second repository to add. */
export const Examples: FC<ExamplesProps> = ({ examples, keys, here }, { isStatic }: RenderContext) => {
  const [first, second, third, fourth] = examples;
  const starters = [
    [first, second],
    [second, third, fourth],
    [first, second, third, fourth],
  ].map((some) => some.filter((one) => one !== undefined));
  const choices =
    keys.length === 0 ? starters.filter((some) => some.length > 1) : examples.map((one) => [one]);
  return (
    <>
      <p class="lead">
        {keys.length === 0
          ? `Put two to six repositories on one chart, by date or by age.${isStatic ? "" : " Add the first one above."}`
          : "Add a second repository to compare."}
      </p>
      {choices.length === 0 ? null : (
        <>
          <h2>{keys.length === 0 ? "Examples" : "Trending"}</h2>
          <ul class="plain">
            {choices.map((some) => (
              <li>
                <a href={withQuery(here, { repo: [...keys, ...some.map(repositoryKey)] })}>
                  {some.map(({ fullName }) => fullName).join(", ")}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
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
