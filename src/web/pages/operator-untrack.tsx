import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { findMeant, readName } from "../../discovery/discovery.js";
import { AppError } from "../../lib/errors.js";
import { repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import { shellCommand } from "../../lib/shell-words.js";
import { findAny, type Holding, readHolding, untrack } from "../../tracking/tracking.js";
import { Field, MainButton, Note } from "../components/elements.js";
import { formatCount, Time } from "../components/numbers.js";
import type { OperatorRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

const UNTRACK_PAGE = "/operator/untrack";

/** The data of a repository, and the forms that stop reading it, or delete it. */
export async function showUntrack(request: OperatorRequest): Promise<Page> {
  const { searchParams } = request.url;
  const text = searchParams.get("repository") ?? "";
  const held = await holdingOf(request, text);
  const isUnknown = text !== "" && held === undefined && !searchParams.has("deleted");
  return {
    title: "Untrack a repository",
    status: isUnknown ? 404 : 200,
    body: (
      <>
        <h1>Untrack a repository</h1>
        {searchParams.has("deleted") && held === undefined ? <Note>{text} is deleted.</Note> : null}
        <form action={UNTRACK_PAGE} class="row-form">
          <Field
            name="repository"
            label="Repository"
            value={isUnknown ? text : ""}
            problem={isUnknown ? "It is not known here." : undefined}
            required
            isLiteral
          />
          <button type="submit">Look up</button>
        </form>
        {held === undefined ? null : <Held {...held} />}
      </>
    ),
  };
}

/** Stops reading a repository, or with `deletes` deletes it. */
export async function submitUntrack(request: OperatorRequest, form: URLSearchParams): Promise<Redirect> {
  const { operator, modules, members } = request;
  const text = form.get("repository") ?? "";
  const deletes = form.get("deletes") === "yes";
  const path = `${UNTRACK_PAGE}?${new URLSearchParams({ repository: text })}`;
  if (!operator.isRecent) return toSignInAgain(path);
  const held = await holdingOf(request, text);
  if (held === undefined) throw new AppError("NOT_FOUND", "This repository is not known here.");
  const { repository } = held;
  await untrack(modules, repository, { deletes });
  const target = repositoryKey(repository);
  if (deletes) members.events.record("repository_deleted", request.http, { target });
  else
    members.events.record("repository_untracked", request.http, {
      target,
      undo: shellCommand("sidereal", "track", target),
    });
  return { location: deletes ? `${path}&deleted` : path, status: 303 };
}

async function holdingOf({ modules }: OperatorRequest, text: string): Promise<Holding | undefined> {
  const name = readName(text);
  const [meant] = await findMeant(modules, [name]);
  const repository = await findAny(modules, name, meant?.id);
  return repository && readHolding(modules, repository);
}

const Held: FC<Holding> = ({ repository, isRead, snapshots, since, watchlists, isWhole }) => {
  const forge = forgeName(repository.provider);
  const key = repositoryKey(repository);
  return (
    <section>
      <h2>
        <a href={repositoryPage(repository)}>
          <bdi>{repository.fullName}</bdi>
        </a>{" "}
        <small class="soft">{forge}</small>
      </h2>
      <p>
        {isRead ? "Read on a schedule." : "Not read."} {formatCount(snapshots)} snapshots
        {since === null ? "" : " since "}
        {since === null ? null : <Time at={since} />}, on {formatCount(watchlists)} watchlists.
      </p>
      {isWhole ? (
        <p>{forge} is read as a whole: what is stopped or deleted may be found again.</p>
      ) : isRead ? (
        <form method="post" action={UNTRACK_PAGE} class="buttons">
          <input type="hidden" name="repository" value={key} />
          <MainButton>Stop reading</MainButton>
          <span class="soft small">Its page, chart and snapshots stay.</span>
        </form>
      ) : null}
      <form method="post" action={UNTRACK_PAGE} class="box narrow">
        <input type="hidden" name="repository" value={key} />
        <label>
          <input type="checkbox" name="deletes" value="yes" required /> Delete {formatCount(snapshots)}{" "}
          snapshots
          {watchlists === 0 ? "" : ` and its place on ${formatCount(watchlists)} watchlists`} for good
        </label>
        <button type="submit">Delete the repository</button>
      </form>
    </section>
  );
};
