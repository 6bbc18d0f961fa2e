import type { FC } from "hono/jsx";
import { nameField } from "../../lists/lists.js";
import { DEFAULT_NAME, MAX_ITEMS } from "../../watchlists/watchlists.js";
import { Field } from "../components/field.js";
import { Snippet } from "../components/snippet.js";
import { findByLines } from "../naming.js";
import type { Page, PageRequest } from "../page-request.js";

/** The form that creates a list without an account. */
export function showNewWatchlist(): Page {
  return newPage({});
}

/** Creates a list and shows its links, on this page only. */
export async function createTokenWatchlist(request: PageRequest, form: URLSearchParams): Promise<Page> {
  const { modules, baseUrl } = request;
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
  const created = await modules.watchlists.create(name.data, ids);
  const link = (token: string) => `${baseUrl}/watchlists/${token}`;
  return {
    title: "Your list is made",
    scripts: ["copy.js"],
    body: <Made name={created.watchlist.name} edit={link(created.token)} share={link(created.shareToken)} />,
  };
}

interface NewProps {
  name?: string;
  repositories?: string;
  problem?: string | undefined;
  nameProblem?: string | undefined;
  /** Lines that name no repository known here. */
  unknown?: readonly string[];
}

function newPage(props: NewProps): Page {
  const isWrong = props.problem ?? props.nameProblem ?? props.unknown?.[0];
  return {
    title: "A list for sharing",
    description:
      "Make a list of repositories without an account, with one link to change it and one to share it.",
    status: isWrong === undefined ? 200 : 400,
    body: <NewWatchlist {...props} />,
  };
}

/** Lines that are named as not known; of more, only how many. */
const TOLD_LINES = 20;

const NewWatchlist: FC<NewProps> = ({ name, repositories, problem, nameProblem, unknown = [] }) => (
  <div class="narrow">
    <h1>A list for sharing</h1>
    <p class="lead">A list without an account, for a team, a talk or a README.</p>
    <p>
      It gets two links. One <strong>changes</strong> the list: keep it to yourself. The other only{" "}
      <strong>shows</strong> it: give it to others. Both are shown once, so keep them; who has a link has the
      list. Search engines never see it.
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
      <div class="field">
        <label for="repositories">Repositories, one a line; you can add them later too</label>
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
          {unknown.length === 0 ? null : <Unknown lines={unknown} />}
          <p class="soft small">
            As <code>owner/name</code>, <code>provider:owner/name</code> or an address. They must be known
            here; at most {MAX_ITEMS}.
          </p>
        </div>
      </div>
      <button type="submit" class="press">
        Make the list
      </button>
    </form>
    <p class="soft">
      A list that follows you through all your browsers is <a href="/watchlist">your own watchlist</a>.
    </p>
  </div>
);

const Unknown: FC<{ lines: readonly string[] }> = ({ lines }) => (
  <div class="wrong" role="alert">
    <p>Not known here. Nothing has been made; change these lines or leave them out:</p>
    <ul>
      {lines.slice(0, TOLD_LINES).map((line) => (
        <li>
          <code>{line.slice(0, 200)}</code>
        </li>
      ))}
    </ul>
    {lines.length > TOLD_LINES ? <p>and {lines.length - TOLD_LINES} more.</p> : null}
  </div>
);

const Made: FC<{ name: string; edit: string; share: string }> = ({ name, edit, share }) => (
  <>
    <h1>{name} is made</h1>
    <div class="note" role="note">
      <p>
        <strong>Keep both links now.</strong> They are shown only here, and we cannot show them again.
      </p>
    </div>
    <Snippet id="edit-link" label="Changes the list: keep it to yourself" text={edit} />
    <Snippet id="share-link" label="Only shows it: give it to others" text={share} />
    <p>
      <a class="button press" href={edit}>
        Open the list
      </a>
    </p>
  </>
);
