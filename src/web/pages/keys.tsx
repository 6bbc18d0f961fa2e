import type { FunctionComponent as FC } from "preact";
import { type Account, type ApiKey, isRecentSignIn, MAX_KEYS } from "../../accounts/accounts.js";
import { nameField } from "../../discovery/discovery.js";
import { AppError } from "../../lib/errors.js";
import { repositoryId } from "../../repositories/repositories.js";
import { Field, Note, Notice, OwnTable, Snippet } from "../components/elements.js";
import { formatDate, Time } from "../components/numbers.js";
import type { MemberRequest, Page, PageRequest, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** The API keys of an account. */
export async function showKeys(request: MemberRequest): Promise<Page> {
  const { account, url } = request;
  const name = url.searchParams.get("name");
  const isRevoked = url.searchParams.has("revoked");
  return keysPage(request, account, { isRevoked, ...(name === null ? {} : { name }) });
}

/** Creates a key and shows its secret, on this page only. */
export async function createKey(request: MemberRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const { account, members, baseUrl } = request;
  const name = nameField.safeParse(form.get("name") ?? "");
  if (!name.success) {
    const problem = `The name ${name.error.issues[0]?.message ?? "is not valid"}.`;
    return keysPage(request, account, { problem, name: form.get("name") ?? "" });
  }
  if (!isRecentSignIn(account))
    return toSignInAgain(`/account/keys?${new URLSearchParams({ name: name.data })}`);
  try {
    const { key, secret } = await members.keys.create(account.id, name.data);
    members.events.record("key_created", request, { key: String(key.id) });
    const body = <NewKey {...{ apiKey: key, secret, baseUrl }} />;
    return { title: "New API key", scripts: ["copy.js"], body };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "LIMIT_REACHED") throw error;
    return { ...(await keysPage(request, account, { problem: error.message })), status: 409 };
  }
}

export async function revokeKey(request: MemberRequest): Promise<Redirect> {
  const { account, members, params } = request;
  const keyId = repositoryId(params.id ?? "") ?? 0;
  if (await members.keys.revoke(account.id, keyId))
    members.events.record("key_revoked", request, { key: String(keyId) });
  return { location: "/account/keys?revoked", status: 303 };
}

interface Messages {
  problem?: string;
  name?: string;
  isRevoked?: boolean;
}

async function keysPage({ members }: PageRequest, account: Account, messages: Messages): Promise<Page> {
  const keys = await members.keys.list(account.id);
  return {
    title: "API keys",
    status: messages.problem === undefined ? 200 : 400,
    body: <Keys keys={keys} messages={messages} isRecent={isRecentSignIn(account)} />,
  };
}

const COLUMNS = ["Name", "Ends in", "Created", "Last used"];

const Keys: FC<{ keys: readonly ApiKey[]; messages: Messages; isRecent: boolean }> = ({
  keys,
  messages,
  isRecent,
}) => (
  <>
    <h1>API keys</h1>
    <p class="lead">
      A key raises your <a href="/docs#limits">rate limits</a> and reports its usage. Public data needs no
      key.
    </p>
    {messages.isRevoked ? (
      <Notice isDone>The key is revoked. It stops working within five seconds.</Notice>
    ) : null}
    {keys.length === 0 ? null : (
      <OwnTable label="Active keys" columns={COLUMNS}>
        {keys.map((key) => (
          <KeyRow apiKey={key} />
        ))}
      </OwnTable>
    )}
    <h2>{keys.length === 0 ? "Create your first key" : "Create another key"}</h2>
    {keys.length < MAX_KEYS ? (
      <KeyForm messages={messages} isRecent={isRecent} />
    ) : (
      <p class="note" role="note">
        You have {MAX_KEYS} active keys, which is the limit. Revoke one to create another.
      </p>
    )}
  </>
);

const KeyRow: FC<{ apiKey: ApiKey }> = ({ apiKey: { id, name, hint, createdAt, lastUsedAt } }) => (
  <tr>
    <th scope="row">
      <a href={`/account/keys/${id}`}>{name}</a>
    </th>
    <td class="nowrap" data-label="Ends in">
      <code>…{hint}</code>
    </td>
    <td class="nowrap" data-label="Created">
      {formatDate(createdAt)}
    </td>
    <td class="nowrap" data-label="Last used">
      {lastUsedAt === null ? <span class="soft">never</span> : <Time at={lastUsedAt} />}
    </td>
    <td class="actions">
      <a href={`/account/keys/${id}`} aria-label={`Usage of ${name}`}>
        Usage
      </a>
      <Revocation id={id} name={name} />
    </td>
  </tr>
);

/** Asks for confirmation, since revoking cannot be undone. */
export const Revocation: FC<{ id: number; name: string }> = ({ id, name }) => (
  <details class="confirm">
    <summary aria-label={`Revoke ${name}`}>Revoke</summary>
    <form method="post" action={`/account/keys/${id}/revoke`}>
      <p>Programs that use this key stop working immediately. This cannot be undone.</p>
      <button type="submit" class="danger">
        Revoke <bdi>{name}</bdi>
      </button>
    </form>
  </details>
);

const KeyForm: FC<{ messages: Messages; isRecent: boolean }> = ({
  messages: { problem, name },
  isRecent,
}) => (
  <form method="post" action="/account/keys" class="box narrow">
    <Field
      name="name"
      label="Name, e.g. &quot;laptop&quot;"
      problem={problem}
      value={name}
      required
      maxlength={200}
    />
    <button type="submit" class="press">
      Create key
    </button>
    <p class="soft small">
      The key is shown once. An account can have {MAX_KEYS} active keys.
      {isRecent ? null : " You will be asked to sign in again first."}
    </p>
  </form>
);

const NewKey: FC<{ apiKey: ApiKey; secret: string; baseUrl: string }> = ({ apiKey, secret, baseUrl }) => (
  <>
    <h1>Your key {apiKey.name}</h1>
    <Note>
      <strong>Copy it now.</strong> It is shown only here, and we cannot show it again. If you lose it, revoke
      it and create another.
    </Note>
    <Snippet id="key" label="Key" text={secret} />
    <h2>How to use it</h2>
    <Snippet
      id="example"
      label="As a bearer token"
      text={`curl -H "Authorization: Bearer ${secret}" "${baseUrl}/api/repos?window=7d"`}
    />
    <p>
      Or send it in the <code>X-API-Key</code> header. Keep it out of URLs and public code.
    </p>
    <p>
      <a class="button" href="/account/keys">
        Done
      </a>
    </p>
  </>
);
