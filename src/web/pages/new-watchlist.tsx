import type { FunctionComponent as FC } from "preact";
import { nameField } from "../../discovery/discovery.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import { DEFAULT_NAME, MAX_ITEMS } from "../../watchlists/watchlists.js";
import { Field, MainButton, Note, Snippet } from "../components/elements.js";
import { findByLines } from "../naming.js";
import type { Page, PageRequest } from "../page-request.js";
import { pendingRepositories } from "../saving.js";
import { addingOf } from "../watchlist.js";

/** The form that creates a list without an account, with the repositories that a visitor has starred. */
export async function showNewWatchlist(request: PageRequest): Promise<Page> {
  const starred = await pendingRepositories(request);
  return newPage({ repositories: starred.map(repositoryKey).join("\n") });
}

/** Creates a list and shows its links, on this page only. */
export async function createTokenWatchlist(request: PageRequest, form: URLSearchParams): Promise<Page> {
  const { modules, site } = request;
  const written = { name: form.get("name") ?? "", repositories: form.get("repositories") ?? "" };
  const name = nameField.safeParse(written.name.trim() === "" ? DEFAULT_NAME : written.name);
  const lines = written.repositories.split(/\r?\n/);
  if (lines.length > MAX_ITEMS)
    return newPage({ ...written, problem: `A list holds at most ${MAX_ITEMS} repositories.` });
  const { ids, unknown } = await findByLines(modules, lines);
  if (!name.success || unknown.length > 0) {
    const nameProblem = name.success
      ? undefined
      : `The name ${name.error.issues[0]?.message ?? "is not valid"}.`;
    return newPage({ ...written, nameProblem, unknown });
  }
  const created = await modules.watchlists.create(name.data, ids, addingOf(request));
  const [edit, share] = [created.token, created.shareToken].map(
    (token) => `${site.baseUrl}/watchlists/${token}`,
  );
  return {
    title: "List created",
    scripts: ["copy.js"],
    body: (
      <>
        <h1>{created.watchlist.name} is ready</h1>
        <Note>
          <strong>Copy both links now.</strong> They are shown only here, and we cannot show them again.
        </Note>
        <Snippet id="edit-link" label="Edit link (keep it private)" text={edit ?? ""} />
        <Snippet id="share-link" label="Share link (read only)" text={share ?? ""} />
        <p>
          <a class="button press" href={edit}>
            Open the list
          </a>
        </p>
      </>
    ),
  };
}

interface NewProps {
  name?: string;
  repositories?: string | undefined;
  problem?: string | undefined;
  nameProblem?: string | undefined;
  /** Lines that name no tracked repository. */
  unknown?: readonly string[];
}

/** Unknown lines shown; further ones are counted. */
const SHOWN_LINES = 20;

function newPage({ name, repositories, problem, nameProblem, unknown = [] }: NewProps): Page {
  const isWrong = problem ?? nameProblem ?? unknown[0];
  return {
    title: "Create a shared list",
    description:
      "Create a list of repositories without an account, with one link to edit it and one to share it.",
    status: isWrong === undefined ? 200 : 400,
    body: (
      <div class="narrow">
        <h1>Create a shared list</h1>
        <p class="lead">For a team, a talk or a README. No account needed.</p>
        <p>
          You get two links: one to <strong>edit</strong> the list, which you keep private, and one to{" "}
          <strong>view</strong> it, which you can share. Both are shown only once. Search engines do not index
          the list. It is deleted when nobody has opened it for a year.
        </p>
        <form method="post" action="/watchlists" class="box">
          <Field
            name="name"
            label="Name"
            problem={nameProblem}
            value={name}
            maxlength={200}
            placeholder={DEFAULT_NAME}
          />
          <Repositories {...{ repositories, problem, unknown }} />
          <MainButton>Create list</MainButton>
        </form>
        <p class="soft">
          Have an account? Use <a href="/watchlist">your watchlist</a> instead.
        </p>
      </div>
    ),
  };
}

/** The field for repositories, with the lines of it that cannot be used. */
const Repositories: FC<Pick<NewProps, "repositories" | "problem" | "unknown">> = ({
  repositories,
  problem,
  unknown = [],
}) => (
  <div class="field">
    <label for="repositories">Repositories, one per line (you can add more later)</label>
    <textarea
      id="repositories"
      name="repositories"
      rows={8}
      spellcheck={false}
      placeholder={"owner/name\nhttps://codeberg.org/owner/name"}
      aria-invalid={unknown.length === 0 && problem === undefined ? undefined : "true"}
      aria-describedby="repositories-note"
    >
      {repositories ?? ""}
    </textarea>
    <div id="repositories-note">
      {problem === undefined ? null : (
        <p class="wrong" role="alert">
          {problem}
        </p>
      )}
      {unknown.length === 0 ? null : (
        <div class="wrong" role="alert">
          <p>These are not tracked here. Correct or remove them:</p>
          <ul>
            {unknown.slice(0, SHOWN_LINES).map((line) => (
              <li>
                <code>{line.slice(0, 200)}</code>
              </li>
            ))}
          </ul>
          {unknown.length > SHOWN_LINES ? <p>and {unknown.length - SHOWN_LINES} more</p> : null}
        </div>
      )}
      <p class="soft small">
        <code>owner/name</code>, <code>provider:owner/name</code> or a URL. Up to {MAX_ITEMS} repositories
        that are tracked here.
      </p>
    </div>
  </div>
);
