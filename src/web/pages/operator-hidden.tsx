import type { FunctionComponent as FC } from "preact";
import { addressesOf } from "../../accounts/accounts.js";
import { DAY_MS, readDays } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { shellCommand } from "../../lib/shell-words.js";
import {
  HIDING_FORMS,
  type HidingPreview,
  type HidingRule,
  type HidingTarget,
  hiddenWords,
  MAX_NOTE,
  MAX_REASON,
  readHidingTarget,
} from "../../repositories/repositories.js";
import { Field, MainButton } from "../components/elements.js";
import { formatCount, Time } from "../components/numbers.js";
import { ACTIONS, Table } from "../components/table.js";
import type { OperatorRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

const HIDDEN_PAGE = "/operator/hidden";
const SHOW_AGAIN = `${HIDDEN_PAGE}/remove`;

/** What is hidden, and the form that hides more after it has said what. */
export async function showHidden({ url, modules }: OperatorRequest): Promise<Page> {
  const { catalog, database } = modules;
  const text = url.searchParams.get("target") ?? "";
  const target = readHidingTarget(text);
  const rules = await catalog.hiding.rules();
  const known = rules.some((rule) => rule.text === target?.text);
  const preview = target === undefined || known ? undefined : await catalog.hiding.preview(target);
  const addresses = await addressesOf(
    database,
    rules.map(({ by }) => by),
  );
  const isWrong = text !== "" && target === undefined;
  return {
    title: "Hidden repositories",
    status: isWrong ? 400 : 200,
    body: (
      <>
        <h1>Hidden repositories</h1>
        <p class="lead">
          Nobody finds a hidden repository, on no page and in no list, and nothing is read about it. Its
          history stays stored.
        </p>
        <form action={HIDDEN_PAGE} class="row-form">
          <Field
            name="target"
            label="Name, owner or beginning of names"
            value={known ? "" : text}
            problem={isWrong ? `It must be ${HIDING_FORMS}.` : undefined}
            placeholder="github:owner/name"
            required
            isLiteral
          />
          <button type="submit">Look up</button>
        </form>
        {target && preview ? <HideForm target={target} preview={preview} /> : null}
        {rules.length === 0 ? null : <Rules rules={rules} addresses={addresses} />}
      </>
    ),
  };
}

const HideForm: FC<{ target: HidingTarget; preview: HidingPreview }> = ({ target, preview }) => (
  <form method="post" action={HIDDEN_PAGE} class="box narrow">
    <h2>
      <bdi>{target.text}</bdi>
    </h2>
    <p>{hiddenWords(preview)}, and those that take such a name later.</p>
    <input type="hidden" name="target" value={target.text} />
    <Field name="reason" label="Reason, for operators" maxlength={MAX_REASON} problem={undefined} required />
    <Field name="note" label="Note, for operators" maxlength={MAX_NOTE} problem={undefined} />
    <Field name="days" label="Days, if it ends" inputmode="numeric" maxlength={4} problem={undefined} />
    <MainButton>Hide</MainButton>
  </form>
);

const Rules: FC<{ rules: readonly HidingRule[]; addresses: ReadonlyMap<string, string> }> = ({
  rules,
  addresses,
}) => (
  <Table
    label="What is hidden, latest first"
    columns={[
      { head: "What", isName: true, cell: ({ text }) => <bdi>{text}</bdi> },
      { head: "Repositories", isNumber: true, cell: ({ repositories }) => formatCount(repositories) },
      {
        head: "Reason",
        cell: ({ reason, note }) => (
          <>
            {reason} {note === null ? null : <span class="soft">{note}</span>}
          </>
        ),
      },
      { head: "Who", cell: ({ by }) => addresses.get(by) ?? (by || "operator") },
      { head: "Since", class: "nowrap", cell: ({ hiddenAt }) => <Time at={hiddenAt} /> },
      {
        head: "Until",
        class: "nowrap",
        cell: ({ endsAt }) => (endsAt === null ? "–" : <Time at={endsAt} />),
      },
      {
        ...ACTIONS,
        cell: ({ text }) => (
          <form method="post" action={SHOW_AGAIN}>
            <input type="hidden" name="target" value={text} />
            <button type="submit">Show again</button>
          </form>
        ),
      },
    ]}
    rows={rules}
  />
);

/** Hides what a target matches. */
export async function submitHidden(request: OperatorRequest, form: URLSearchParams): Promise<Redirect> {
  const { operator, modules, members, now } = request;
  const target = targetOf(form);
  const path = `${HIDDEN_PAGE}?${new URLSearchParams({ target: target.text })}`;
  if (!operator.isRecent) return toSignInAgain(path);
  const [reason = "", note = "", length = ""] = ["reason", "note", "days"].map((name) =>
    form.get(name)?.trim(),
  );
  const days = length === "" ? null : readDays(length);
  if (reason === "" || reason.length > MAX_REASON || note.length > MAX_NOTE || days === undefined)
    throw new AppError(
      "VALIDATION_FAILED",
      `Give a reason in at most ${MAX_REASON} characters, and days from 1 to 3,650 or none.`,
    );
  await modules.catalog.hiding.hide({
    ...{ target, reason, note: note || null, by: operator.accountId ?? "" },
    endsAt: days === null ? null : now + days * DAY_MS,
  });
  const undo = shellCommand("sidereal", "unhide", target.text);
  members.events.record("hidden", request.http, { target: target.text, reason, undo });
  return { location: HIDDEN_PAGE, status: 303 };
}

/** Takes a rule back. */
export async function submitShown(request: OperatorRequest, form: URLSearchParams): Promise<Redirect> {
  const { operator, modules, members } = request;
  const target = targetOf(form);
  if (!operator.isRecent) return toSignInAgain(HIDDEN_PAGE);
  const shown = await modules.catalog.hiding.unhide(target);
  if (shown !== undefined) members.events.record("unhidden", request.http, { target: target.text });
  return { location: HIDDEN_PAGE, status: 303 };
}

function targetOf(form: URLSearchParams): HidingTarget {
  const target = readHidingTarget(form.get("target") ?? "");
  if (target === undefined) throw new AppError("VALIDATION_FAILED", `target: must be ${HIDING_FORMS}`);
  return target;
}
