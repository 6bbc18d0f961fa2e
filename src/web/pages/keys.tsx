import type { FunctionComponent as FC } from "preact";
import { type Account, type ApiKey, isRecentSignIn, MAX_KEYS } from "../../accounts/accounts.js";
import { nameField, timeParameter } from "../../discovery/discovery.js";
import { AppError } from "../../lib/errors.js";
import { repositoryId } from "../../repositories/repositories.js";
import { Confirm, Field, MainButton, Note, Notice, Snippet } from "../components/elements.js";
import { Ago, formatDate } from "../components/numbers.js";
import { ACTIONS, Table } from "../components/table.js";
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
  const { account, members, site } = request;
  const name = nameField.safeParse(form.get("name") ?? "");
  if (!name.success) {
    const problem = `The name ${name.error.issues[0]?.message ?? "is not valid"}.`;
    return keysPage(request, account, { problem, name: form.get("name") ?? "" });
  }
  const expiry = timeParameter.optional().safeParse(form.get("expiresAt") || undefined);
  if (!expiry.success)
    return keysPage(request, account, { problem: "The day is not valid.", name: name.data });
  if (!isRecentSignIn(account))
    return toSignInAgain(`/account/keys?${new URLSearchParams({ name: name.data })}`);
  try {
    const { key, secret } = await members.keys.create(account.id, name.data, expiry.data);
    members.events.record("key_created", request.http, { key: String(key.id) });
    return {
      title: "New API key",
      scripts: ["copy.js"],
      body: (
        <>
          <h1>Your key {key.name}</h1>
          <Note>
            <strong>Copy it now.</strong> It is shown only here, and we cannot show it again. If you lose it,
            revoke it and create another.
          </Note>
          <Snippet id="key" label="Key" text={secret} />
          <h2>How to use it</h2>
          <Snippet
            id="example"
            label="As a bearer token"
            text={`curl -H "Authorization: Bearer ${secret}" "${site.baseUrl}/api/repos?window=7d"`}
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
      ),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const page = await keysPage(request, account, { problem: error.message, name: name.data });
    return { ...page, status: error.status };
  }
}

export async function revokeKey(request: MemberRequest): Promise<Redirect> {
  const { account, http, members } = request;
  const keyId = repositoryId(http.params.id ?? "") ?? 0;
  if (await members.keys.revoke(account.id, keyId))
    members.events.record("key_revoked", request.http, { key: String(keyId) });
  return { location: "/account/keys?revoked", status: 303 };
}

interface Messages {
  problem?: string;
  name?: string;
  isRevoked?: boolean;
}

async function keysPage(
  { members }: PageRequest,
  account: Account,
  { problem, name, isRevoked }: Messages,
): Promise<Page> {
  const keys = await members.keys.list(account.id);
  return {
    title: "API keys",
    status: problem === undefined ? 200 : 400,
    body: (
      <>
        <h1>API keys</h1>
        <p class="lead">
          A key raises your <a href="/docs#limits">rate limits</a> and reports its usage. Public data needs no
          key.
        </p>
        {isRevoked ? <Notice isDone>The key is revoked. It stops working within five seconds.</Notice> : null}
        {keys.length === 0 ? null : <KeyTable keys={keys} />}
        <h2>{keys.length === 0 ? "Create your first key" : "Create another key"}</h2>
        {keys.length < MAX_KEYS ? (
          <form method="post" action="/account/keys" class="box narrow">
            <Field
              name="name"
              label="Name, e.g. &quot;laptop&quot;"
              problem={problem}
              value={name}
              required
              maxlength={200}
            />
            <Field name="expiresAt" label="Expires on (optional)" type="date" problem={undefined} />
            <MainButton>Create key</MainButton>
            <p class="soft small">
              The key is shown once. An account can have {MAX_KEYS} active keys.
              {isRecentSignIn(account) ? null : " You will be asked to sign in again first."}
            </p>
          </form>
        ) : (
          <Note>You have {MAX_KEYS} active keys, which is the limit. Revoke one to create another.</Note>
        )}
      </>
    ),
  };
}

const KeyTable: FC<{ keys: readonly ApiKey[] }> = ({ keys }) => (
  <Table
    label="Active keys"
    class="keys stacked"
    columns={[
      { head: "Name", cell: ({ id, name }) => <a href={`/account/keys/${id}`}>{name}</a> },
      { head: "Ends in", class: "nowrap", cell: ({ hint }) => <code>…{hint}</code> },
      { head: "Created", class: "nowrap", cell: ({ createdAt }) => formatDate(createdAt) },
      { head: "Last used", cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
      {
        head: "Expires",
        class: "nowrap",
        cell: ({ endsAt }) => (endsAt === null ? <span class="soft">never</span> : formatDate(endsAt)),
      },
      {
        ...ACTIONS,
        cell: ({ id, name }) => (
          <>
            <a href={`/account/keys/${id}`} aria-label={`Usage of ${name}`}>
              Usage
            </a>
            <Revocation id={id} name={name} />
          </>
        ),
      },
    ]}
    rows={keys}
  />
);

/** Requires confirmation, since revoking cannot be undone. */
export const Revocation: FC<{ id: number; name: string }> = ({ id, name }) => (
  <Confirm verb="Revoke" name={name} action={`/account/keys/${id}/revoke`}>
    Programs that use this key stop working immediately. This cannot be undone.
  </Confirm>
);
