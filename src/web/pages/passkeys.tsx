import type { FunctionComponent as FC } from "preact";
import { isRecentSignIn, MAX_PASSKEYS, type Passkey } from "../../accounts/accounts.js";
import { Field, Notice, OwnTable } from "../components/elements.js";
import { formatDate } from "../components/numbers.js";
import type { MemberRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

const PATH = "/account/passkeys";

/** The passkeys of an account, and a form to add one. */
export async function showPasskeys(request: MemberRequest): Promise<Page> {
  const { account, members, url, baseUrl } = request;
  const { passkeys } = members.accounts;
  const { searchParams } = url;
  const props: PasskeysProps = {
    passkeys: await passkeys.list(account.id),
    isOffered: passkeys.isOffered,
    isRecent: isRecentSignIn(account),
    origin: new URL(baseUrl).origin,
    name: searchParams.get("name") ?? "",
    notice: searchParams.has("added")
      ? "The passkey is added."
      : searchParams.has("removed")
        ? "The passkey is removed. It cannot sign in any more."
        : undefined,
  };
  return { title: "Passkeys", scripts: ["passkey.js"], body: <Passkeys {...props} /> };
}

export async function removePasskey(request: MemberRequest): Promise<Redirect> {
  const { account, members } = request;
  const { id = "" } = request.params;
  if (!isRecentSignIn(account)) return toSignInAgain(PATH);
  await members.accounts.passkeys.remove(account.id, id);
  members.events.record("passkey_removed", request, { passkey: id });
  return { location: `${PATH}?removed`, status: 303 };
}

interface PasskeysProps {
  passkeys: readonly Passkey[];
  /** Whether browsers have passkeys at the base URL. */
  isOffered: boolean;
  /** Whether somebody has just signed in, and so may add and remove passkeys. */
  isRecent: boolean;
  /** Where passkeys work. */
  origin: string;
  /** The name typed before signing in again. */
  name: string;
  notice: string | undefined;
}

const COLUMNS = ["Name", "Added", "Synced"];

const Passkeys: FC<PasskeysProps> = ({ passkeys, notice, ...props }) => (
  <>
    <h1>Passkeys</h1>
    <p class="lead">
      Sign in with a fingerprint, a face or a PIN instead of a mail. Your devices keep the secret; this
      service cannot read it.
    </p>
    {notice === undefined ? null : <Notice isDone>{notice}</Notice>}
    {passkeys.length === 0 ? null : (
      <OwnTable label="Your passkeys" columns={COLUMNS}>
        {passkeys.map((passkey) => (
          <PasskeyRow passkey={passkey} isRecent={props.isRecent} />
        ))}
      </OwnTable>
    )}
    <h2>{passkeys.length === 0 ? "Add your first passkey" : "Add another passkey"}</h2>
    <Addition count={passkeys.length} {...props} />
  </>
);

const PasskeyRow: FC<{ passkey: Passkey; isRecent: boolean }> = ({ passkey, isRecent }) => {
  const { id, name, createdAt, isSynced } = passkey;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td class="nowrap" data-label="Added">
        {formatDate(createdAt)}
      </td>
      <td class="nowrap" data-label="Synced">
        {isSynced ? "Yes" : "No, on one device"}
      </td>
      <td class="actions">
        <details class="confirm">
          <summary aria-label={`Remove ${name}`}>Remove</summary>
          <form method="post" action={`${PATH}/${id}/remove`}>
            <p>
              It cannot sign in any more. Your device lists it until you delete it there.
              {isRecent ? null : " You will be asked to sign in again first."}
            </p>
            <button type="submit" class="danger">
              Remove <bdi>{name}</bdi>
            </button>
          </form>
        </details>
      </td>
    </tr>
  );
};

const Addition: FC<Omit<PasskeysProps, "passkeys" | "notice"> & { count: number }> = ({
  count,
  isOffered,
  isRecent,
  origin,
  name,
}) => {
  if (!isOffered)
    return (
      <p class="note" role="note">
        Passkeys need https and a domain name.
      </p>
    );
  if (count >= MAX_PASSKEYS)
    return (
      <p class="note" role="note">
        You have {MAX_PASSKEYS} passkeys, which is the limit. Remove one to add another.
      </p>
    );
  return (
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
        <button type="submit" class="press">
          Add passkey
        </button>
        <p class="soft small">
          Your browser asks you to confirm.
          {isRecent ? null : " You will be asked to sign in again first."}
        </p>
      </form>
    </>
  );
};
