import type { FunctionComponent as FC } from "preact";
import {
  type AccountRow,
  type ApiKey,
  type Ban,
  findAccount,
  listAccounts,
  MAX_BAN_REASON,
} from "../../accounts/accounts.js";
import { DAY_MS, readDays } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { overlaps, readNetwork } from "../../lib/host-names.js";
import { Facts, Field, MainButton, Notice } from "../components/elements.js";
import { Ago, formatCount, Time } from "../components/numbers.js";
import { ACTIONS, Table } from "../components/table.js";
import type { OperatorRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** The accounts of others and what operators do to them, and banned networks. */

const ACCOUNTS_PAGE = "/operator/accounts";
const pathOf = (id: string): string => `${ACCOUNTS_PAGE}/${encodeURIComponent(id)}`;
/** Accounts on a page. */
const LISTED = 50;

/** What the last form has done, by the parameter `done`. */
const DONE: Readonly<Record<string, string>> = {
  banned: "The ban is in force.",
  unbanned: "The ban is lifted.",
  ended: "All its sessions have ended.",
  revoked: "The API key is revoked.",
  deleted: "The account is deleted.",
};

/** What was wrong with a form. */
interface Refused {
  field: string;
  problem: string;
  value?: string;
}

export function showAccounts(request: OperatorRequest): Promise<Page> {
  return accountsPage(request);
}

async function accountsPage(request: OperatorRequest, refused?: Refused): Promise<Page> {
  const { url, members, modules, now } = request;
  const text = url.searchParams.get("text") ?? "";
  const found = await listAccounts(modules.database.read, { text, limit: LISTED + 1, now });
  const bans = await members.bans.list();
  const banned = new Map(bans.map((ban) => [ban.accountId, ban]));
  return {
    title: "Accounts",
    status: refused === undefined ? 200 : 400,
    body: (
      <>
        <h1>Accounts</h1>
        <DoneNotice url={url} />
        <form action={ACCOUNTS_PAGE} class="row-form">
          <Field name="text" label="Part of the address, or id" value={text} problem={undefined} isLiteral />
          <button type="submit">Search</button>
        </form>
        {found.length === 0 ? (
          <p>No account has this.</p>
        ) : (
          <AccountTable accounts={found.slice(0, LISTED)} banned={banned} />
        )}
        {found.length > LISTED ? <p>The first {LISTED} are shown: search for others.</p> : null}
        <h2>Banned networks</h2>
        <p>Requests from a banned network get an error that says when the ban ends.</p>
        <BanTable bans={bans.filter(({ network }) => network !== null)} />
        <h3>Ban a network</h3>
        <form method="post" action={ACCOUNTS_PAGE} class="box narrow">
          <Field
            name="network"
            label="Address or network"
            value={refused?.value}
            problem={refused?.field === "network" ? refused.problem : undefined}
            placeholder="203.0.113.0/24"
            required
            isLiteral
          />
          <BanFields refused={refused} />
          <MainButton>Ban</MainButton>
        </form>
      </>
    ),
  };
}

const DoneNotice: FC<{ url: URL }> = ({ url }) => {
  const words = DONE[url.searchParams.get("done") ?? ""];
  return words === undefined ? null : <Notice isDone>{words}</Notice>;
};

const BanFields: FC<{ refused: Refused | undefined }> = ({ refused }) => (
  <>
    <Field
      name="reason"
      label="Reason, for operators"
      maxlength={MAX_BAN_REASON}
      problem={refused?.field === "reason" ? refused.problem : undefined}
    />
    <Field
      name="days"
      label="Days, if it ends"
      inputmode="numeric"
      maxlength={5}
      problem={refused?.field === "days" ? refused.problem : undefined}
    />
  </>
);

const Until: FC<Pick<Ban, "endsAt">> = ({ endsAt }) =>
  endsAt === null ? <>until it is lifted</> : <Time at={endsAt} exact />;

const AccountTable: FC<{ accounts: readonly AccountRow[]; banned: ReadonlyMap<string | null, Ban> }> = ({
  accounts,
  banned,
}) => (
  <Table
    label="Accounts by address"
    columns={[
      { head: "Address", isName: true, cell: ({ id, email }) => <a href={pathOf(id)}>{email}</a> },
      { head: "Since", class: "nowrap", cell: ({ createdAt }) => <Time at={createdAt} /> },
      { head: "Seen", class: "nowrap", cell: ({ seenAt }) => (seenAt === null ? "–" : <Ago at={seenAt} />) },
      { head: "Sessions", isNumber: true, cell: ({ sessions }) => formatCount(sessions) },
      { head: "API keys", isNumber: true, cell: ({ keys }) => formatCount(keys) },
      { head: "Watched", isNumber: true, cell: ({ watched }) => formatCount(watched) },
      {
        head: "Banned",
        class: "nowrap",
        cell: ({ id }) => {
          const ban = banned.get(id);
          return ban === undefined ? "" : <Until endsAt={ban.endsAt} />;
        },
      },
    ]}
    rows={accounts}
  />
);

const BanTable: FC<{ bans: readonly Ban[] }> = ({ bans }) =>
  bans.length === 0 ? null : (
    <Table
      label="Banned networks, latest first"
      columns={[
        { head: "Network", isName: true, cell: ({ network }) => <code class="nowrap">{network}</code> },
        { head: "Reason", cell: ({ reason }) => reason },
        { head: "Since", class: "nowrap", cell: ({ bannedAt }) => <Time at={bannedAt} /> },
        { head: "Until", class: "nowrap", cell: ({ endsAt }) => <Until endsAt={endsAt} /> },
        {
          ...ACTIONS,
          cell: ({ network }) => (
            <form method="post" action={ACCOUNTS_PAGE}>
              <input type="hidden" name="network" value={network ?? ""} />
              <button type="submit" name="do" value="lift" aria-label={`Lift the ban of ${network}`}>
                Lift
              </button>
            </form>
          ),
        },
      ]}
      rows={bans}
    />
  );

/** Bans a network, or lifts its ban. */
export async function submitNetwork(
  request: OperatorRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const { operator, members, http } = request;
  const { bans } = members;
  if (!operator.isRecent) return toSignInAgain(ACCOUNTS_PAGE);
  const value = form.get("network") ?? "";
  try {
    const network = bans.readNetwork(value);
    const target = network.name;
    if (form.get("do") === "lift") {
      if (await bans.lift({ network: target })) members.events.record("unbanned", http, { target });
      return doneAt(ACCOUNTS_PAGE, "unbanned");
    }
    // Only a part of the sender's address is known here.
    if (overlaps(network, readNetwork(http.source().network)))
      throw new AppError(
        "FORBIDDEN",
        "Your own address may be in it. The command sidereal ban bans it all the same.",
      );
    const terms = readTerms(request, form);
    if ("problem" in terms) return accountsPage(request, { ...terms, value });
    await bans.ban({ network: target }, terms);
    recordBan(request, target, terms.reason);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return accountsPage(request, { field: "network", problem: error.message, value });
  }
  return doneAt(ACCOUNTS_PAGE, "banned");
}

function recordBan({ members, http }: OperatorRequest, target: string, reason: string): void {
  const why = reason === "" ? {} : { reason };
  members.events.record("banned", http, { target, ...why, undo: `sidereal unban ${target}` });
}

/** Reason and end of a ban in a form. */
function readTerms(
  { now }: OperatorRequest,
  form: URLSearchParams,
): Pick<Ban, "reason" | "endsAt"> | Refused {
  const reason = (form.get("reason") ?? "").trim();
  if (reason.length > MAX_BAN_REASON)
    return { field: "reason", problem: `It must have at most ${MAX_BAN_REASON} characters.` };
  const length = (form.get("days") ?? "").trim();
  const days = length === "" ? null : readDays(length);
  if (days === undefined) return { field: "days", problem: "It must be from 1 to 3650, or empty." };
  return { reason, endsAt: days === null ? null : now + days * DAY_MS };
}

const doneAt = (path: string, done: string): Redirect => ({ location: `${path}?done=${done}`, status: 303 });

/** One account, with forms that end its sessions, revoke its keys, ban and delete it. */
export function showAccountOf(request: OperatorRequest): Promise<Page> {
  return accountPage(request);
}

async function accountOf({ http, modules, now }: OperatorRequest): Promise<AccountRow> {
  const account = await findAccount(modules.database.read, http.params.id ?? "", now);
  if (account === undefined) throw new AppError("NOT_FOUND", "There is no such account.");
  return account;
}

async function accountPage(request: OperatorRequest, refused?: Refused): Promise<Page> {
  const { url, members } = request;
  const account = await accountOf(request);
  const keys = await members.keys.list(account.id);
  const ban = (await members.bans.list()).find(({ accountId }) => accountId === account.id);
  const { createdAt, seenAt, sessions, passkeys, watched } = account;
  return {
    title: account.email,
    status: refused === undefined ? 200 : 400,
    body: (
      <>
        <p>
          <a href={ACCOUNTS_PAGE}>Accounts</a>
        </p>
        <h1>{account.email}</h1>
        <DoneNotice url={url} />
        <Facts
          facts={[
            { name: "Id", value: <code>{account.id}</code>, isText: true },
            { name: "Since", value: <Time at={createdAt} />, isText: true },
            { name: "Seen", value: seenAt === null ? "–" : <Ago at={seenAt} />, isText: true },
            { name: "Sessions", value: formatCount(sessions) },
            { name: "Passkeys", value: formatCount(passkeys) },
            { name: "Watched repositories", value: formatCount(watched) },
          ]}
        />
        {sessions === 0 ? null : (
          <form method="post" action={pathOf(account.id)}>
            <Act name="end">End all sessions</Act>
          </form>
        )}
        <h2>API keys</h2>
        <KeyTable account={account} keys={keys} />
        <BanForm account={account} ban={ban} refused={refused} />
        <DeleteForm account={account} keys={keys.length} refused={refused} />
      </>
    ),
  };
}

const Act: FC<{ name: string; children: string }> = ({ name, children }) => (
  <button type="submit" name="do" value={name}>
    {children}
  </button>
);

const KeyTable: FC<{ account: AccountRow; keys: readonly ApiKey[] }> = ({ account, keys }) =>
  keys.length === 0 ? (
    <p>None.</p>
  ) : (
    <Table
      label="Active API keys"
      class="keys stacked"
      columns={[
        { head: "Name", isName: true, cell: ({ name }) => name },
        { head: "Id", cell: ({ id }) => id },
        { head: "Ends with", cell: ({ hint }) => <code>…{hint}</code> },
        { head: "Created", cell: ({ createdAt }) => <Ago at={createdAt} /> },
        { head: "Used", cell: ({ lastUsedAt }) => (lastUsedAt === null ? "–" : <Ago at={lastUsedAt} />) },
        {
          ...ACTIONS,
          cell: ({ id }) => (
            <form method="post" action={pathOf(account.id)}>
              <input type="hidden" name="key" value={id} />
              <Act name="revoke">Revoke</Act>
            </form>
          ),
        },
      ]}
      rows={keys}
    />
  );

interface AccountFormProps {
  account: AccountRow;
  refused: Refused | undefined;
}

const BanForm: FC<AccountFormProps & { ban: Ban | undefined }> = ({ account, ban, refused }) => (
  <>
    <h2>Ban</h2>
    {ban === undefined ? (
      <form method="post" action={pathOf(account.id)} class="box narrow">
        <p>Its sessions end, its API keys are refused, and nobody can sign in with it.</p>
        <BanFields refused={refused} />
        <Act name="ban">Ban the account</Act>
      </form>
    ) : (
      <form method="post" action={pathOf(account.id)}>
        <p>
          Banned <Time at={ban.bannedAt} />, <Until endsAt={ban.endsAt} />
          {ban.reason === "" ? "" : `: ${ban.reason}`}
        </p>
        <Act name="lift">Lift the ban</Act>
      </form>
    )}
  </>
);

const DeleteForm: FC<AccountFormProps & { keys: number }> = ({ account, keys, refused }) => (
  <>
    <h2>Delete</h2>
    <form method="post" action={pathOf(account.id)} class="box narrow">
      <p>
        Deletes the account for good with {formatCount(account.sessions)} sessions, {formatCount(keys)} API
        keys, {formatCount(account.passkeys)} passkeys and {formatCount(account.watched)} watched
        repositories. There is no way back but a backup.
      </p>
      <Field
        name="confirmation"
        label={
          <>
            Type <strong>{account.email}</strong> to confirm
          </>
        }
        problem={refused?.field === "confirmation" ? refused.problem : undefined}
        required
        isLiteral
      />
      <button type="submit" name="do" value="delete" class="danger">
        Delete account
      </button>
    </form>
  </>
);

/** Does to an account what the button of a form says. */
export async function submitAccount(
  request: OperatorRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const { operator, members, http } = request;
  const account = await accountOf(request);
  const { id, email } = account;
  if (!operator.isRecent) return toSignInAgain(pathOf(id));
  const { accounts, bans, events, operators } = members;
  const log = (event: Parameters<typeof events.record>[0]) => events.record(event, http, { target: id });
  switch (form.get("do")) {
    case "end":
      noteFor(request, account, "sessions_ended", { sessions: await accounts.sessions.endAll(id) });
      log("account_sessions_ended");
      return doneAt(pathOf(id), "ended");
    case "revoke":
      if (await members.keys.revoke(id, Number(form.get("key")) || 0)) {
        noteFor(request, account, "key_revoked", { key: Number(form.get("key")) });
        log("account_key_revoked");
      }
      return doneAt(pathOf(id), "revoked");
    case "lift":
      if (await bans.lift({ accountId: id })) log("unbanned");
      return doneAt(pathOf(id), "unbanned");
    case "ban":
      return banAccount(request, account, form);
    case "delete":
      if ((form.get("confirmation") ?? "").trim().toLowerCase() !== email)
        return accountPage(request, {
          field: "confirmation",
          problem: "Type the address. Nothing is deleted.",
        });
      operators.refuse(email);
      await accounts.remove(account);
      log("account_removed");
      return doneAt(ACCOUNTS_PAGE, "deleted");
    default:
      throw new AppError("VALIDATION_FAILED", "do: must be end, revoke, ban, lift or delete.");
  }
}

async function banAccount(
  request: OperatorRequest,
  { id, email }: AccountRow,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const terms = readTerms(request, form);
  if ("problem" in terms) return accountPage(request, terms);
  await request.members.bans.ban({ accountId: id, email }, terms);
  recordBan(request, id, terms.reason);
  return doneAt(pathOf(id), "banned");
}

/** Adds to the owner's own log what an operator has done. */
function noteFor(
  { members }: OperatorRequest,
  account: AccountRow,
  event: "sessions_ended" | "key_revoked",
  detail: Record<string, number>,
): void {
  const actor = { account, source: () => ({ network: "local", agent: "" }) };
  members.events.record(event, actor, { ...detail, by: "operator" });
}
