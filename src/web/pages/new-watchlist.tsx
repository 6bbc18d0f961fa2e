import type { FunctionComponent as FC } from "preact";
import { nameField } from "../../discovery/discovery.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import { DEFAULT_NAME, MAX_ITEMS } from "../../watchlists/watchlists.js";
import { Field, MainButton, Note, Snippet } from "../components/elements.js";
import { findNamed } from "../naming.js";
import type { Page, PageRequest } from "../page-request.js";
import { pendingRepositories } from "../saving.js";
import { Requested, requestFor } from "../tracking.js";
import { addingOf } from "../watchlist.js";

/** The form that creates a list without an account, with the repositories of one's own list, or those that a visitor has starred. */
export async function showNewWatchlist(request: PageRequest): Promise<Page> {
  const { account, modules } = request;
  const own = account === undefined ? [] : (await modules.watchlists.get({ accountId: account.id })).items;
  const found =
    own.length === 0
      ? await pendingRepositories(request)
      : await modules.catalog.findMany(own.map(({ repositoryId }) => repositoryId));
  return newPage({ repositories: found.map(repositoryKey).join("\n") });
}

/** Creates a list and shows its links, on this page only. */
export async function createTokenWatchlist(request: PageRequest, form: URLSearchParams): Promise<Page> {
  const { modules, site } = request;
  const written = { name: form.get("name") ?? "", repositories: form.get("repositories") ?? "" };
  const name = nameField.safeParse(written.name.trim() === "" ? DEFAULT_NAME : written.name);
  if (!name.success)
    return newPage({
      ...written,
      nameProblem: `The name ${name.error.issues[0]?.message ?? "is not valid"}.`,
    });
  const { ids, unknown } = await findNamed(modules, written.repositories);
  if (ids.length + unknown.length > MAX_ITEMS)
    return newPage({ ...written, problem: `A list holds at most ${MAX_ITEMS} repositories.` });
  const created = await modules.watchlists.create(name.data, ids, addingOf(request));
  const list = await requestFor(request, unknown, () => Promise.resolve(created.watchlist));
  const requested = list === undefined ? undefined : await modules.trackRequests.findList(list);
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
        <Requested list={requested ?? { requests: [], wrong: unknown.slice(0, SHOWN_NAMES) }} />
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
}

/** Names shown that are not on the list. */
const SHOWN_NAMES = 20;

function newPage({ name, repositories, problem, nameProblem }: NewProps): Page {
  const isWrong = problem ?? nameProblem;
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
          <Repositories {...{ repositories, problem }} />
          <MainButton>Create list</MainButton>
        </form>
        <p class="soft">
          Have an account? Use <a href="/watchlist">your watchlist</a> instead.
        </p>
      </div>
    ),
  };
}

const Repositories: FC<Pick<NewProps, "repositories" | "problem">> = ({ repositories, problem }) => (
  <div class="field">
    <label for="repositories">Repositories, one per line (you can add more later)</label>
    <textarea
      id="repositories"
      name="repositories"
      rows={8}
      spellcheck={false}
      placeholder={"owner/name\nhttps://codeberg.org/owner/name"}
      aria-invalid={problem === undefined ? undefined : "true"}
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
      <p class="soft small">
        <code>owner/name</code>, <code>provider:owner/name</code> or any address of a repository. Up to{" "}
        {MAX_ITEMS}.
      </p>
    </div>
  </div>
);
