import type { FunctionComponent as FC } from "preact";
import { isRecentSignIn, MAX_PASSKEYS, type Passkey } from "../../accounts/accounts.js";
import { Confirm, Field, MainButton, Note, Notice } from "../components/elements.js";
import { formatDate } from "../components/numbers.js";
import { ACTIONS, Table } from "../components/table.js";
import type { MemberRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

const PATH = "/account/passkeys";

/** The passkeys of an account, and a form to add one. */
export async function showPasskeys({ account, url, members, site }: MemberRequest): Promise<Page> {
  const { searchParams } = url;
  const { isOffered } = members.accounts.passkeys;
  const passkeys = await members.accounts.passkeys.list(account.id);
  const isRecent = isRecentSignIn(account);
  const { origin } = new URL(site.baseUrl);
  const notice = searchParams.has("added")
    ? "The passkey is added."
    : searchParams.has("removed")
      ? "The passkey is removed. It cannot sign in any more."
      : undefined;
  return {
    title: "Passkeys",
    scripts: ["passkey.js"],
    body: (
      <>
        <h1>Passkeys</h1>
        <p class="lead">
          Sign in with a fingerprint, a face or a PIN instead of a mail. Your devices keep the secret; this
          service cannot read it.
        </p>
        {notice === undefined ? null : <Notice isDone>{notice}</Notice>}
        {passkeys.length === 0 ? null : <PasskeyTable passkeys={passkeys} isRecent={isRecent} />}
        <h2>{passkeys.length === 0 ? "Add your first passkey" : "Add another passkey"}</h2>
        {!isOffered ? (
          <Note>Passkeys need https and a domain name.</Note>
        ) : passkeys.length >= MAX_PASSKEYS ? (
          <Note>You have {MAX_PASSKEYS} passkeys, which is the limit. Remove one to add another.</Note>
        ) : (
          <AddPasskey name={searchParams.get("name") ?? ""} {...{ origin, isRecent }} />
        )}
      </>
    ),
  };
}

const PasskeyTable: FC<{ passkeys: readonly Passkey[]; isRecent: boolean }> = ({ passkeys, isRecent }) => (
  <Table
    label="Your passkeys"
    class="keys stacked"
    columns={[
      { head: "Name", cell: ({ name }) => <bdi>{name}</bdi> },
      { head: "Added", class: "nowrap", cell: ({ createdAt }) => formatDate(createdAt) },
      {
        head: "Synced",
        class: "nowrap",
        cell: ({ isSynced }) => (isSynced ? "Yes" : "No, on one device"),
      },
      {
        ...ACTIONS,
        cell: ({ id, name }) => (
          <Confirm verb="Remove" name={name} action={`${PATH}/${id}/remove`}>
            It cannot sign in any more. Your device lists it until you delete it there.
            {isRecent ? null : " You will be asked to sign in again first."}
          </Confirm>
        ),
      },
    ]}
    rows={passkeys}
  />
);

const AddPasskey: FC<{ name: string; origin: string; isRecent: boolean }> = ({ name, origin, isRecent }) => (
  <>
    <p class="note" role="note" data-no-passkey>
      Adding a passkey needs scripts, and a browser that has passkeys for <code>{origin}</code>.
    </p>
    <form class="box narrow" data-passkey="add" data-origin={origin} hidden>
      <Field
        name="name"
        label="Name, e.g. &quot;phone&quot;"
        problem={undefined}
        value={name}
        required
        maxlength={100}
      />
      <p class="note wrong" data-problem hidden></p>
      <MainButton>Add passkey</MainButton>
      <p class="soft small">
        Your browser asks you to confirm.
        {isRecent ? null : " You will be asked to sign in again first."}
      </p>
    </form>
  </>
);

export async function removePasskey(request: MemberRequest): Promise<Redirect> {
  const { account, members } = request;
  const { id = "" } = request.http.params;
  if (!isRecentSignIn(account)) return toSignInAgain(PATH);
  await members.accounts.passkeys.remove(account.id, id);
  members.events.record("passkey_removed", request.http, { passkey: id });
  return { location: `${PATH}?removed`, status: 303 };
}
