import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { MAX_SERIES } from "../../embeds/embeds.js";
import { repositoryKey, repositoryPage } from "../../page-addresses.js";
import { AddField } from "./add-field.js";
import { withQuery } from "./addresses.js";
import { LineMark } from "./shown-gains.js";

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
            <LineMark index={i} />
            <a href={repositoryPage(repository)}>{repository.fullName}</a>
            <a
              class="out"
              href={withQuery(here, { repo: others.map(repositoryKey) })}
              title="Remove"
              aria-label={`Remove ${repository.fullName}`}
            >
              ×
            </a>
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
export const AddForm: FC<AddFormProps> = ({ keys, state, refused }) => {
  if (keys.length >= MAX_SERIES)
    return <p class="soft">You can compare up to {MAX_SERIES} repositories. Remove one to add another.</p>;
  return (
    <form action="/compare" class="row-form" data-compare="">
      {[...keys.map((key) => ["repo", key] as const), ...Object.entries(state)].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <AddField label={keys.length === 0 ? "First repository" : "Add a repository"} refused={refused} />
      <button type="submit" class="press">
        Add
      </button>
    </form>
  );
};

interface ExamplesProps {
  examples: readonly Repository[];
  keys: readonly string[];
  here: URL;
}

/** Comparisons to start from, or a second repository to add. */
export const Examples: FC<ExamplesProps> = ({ examples, keys, here }) => {
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
          ? "Put two to six repositories on one chart, by date or by age. Add the first one above."
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
