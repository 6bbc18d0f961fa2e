import type { FunctionComponent as FC } from "preact";
import {
  agentOf,
  detailWords,
  eventWords,
  isRecentSignIn,
  type Session,
  type StoredEvent,
} from "../../accounts/accounts.js";
import { isoDay } from "../../lib/clock.js";
import { Notice, OwnTable, Scroll } from "../components/elements.js";
import { formatDate, Time } from "../components/numbers.js";
import type { MemberRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** The sessions of an account, and what happened to it. */

const SESSIONS_PAGE = "/account/sessions";

/** Where the account is signed in, with ways to end each session. */
export async function showSessions({ account, members, url }: MemberRequest): Promise<Page> {
  const sessions = await members.accounts.sessions.list(account.id);
  const props: SessionsProps = {
    current: sessions.filter(({ id }) => id === account.sessionId),
    others: sessions.filter(({ id }) => id !== account.sessionId),
    isRecent: isRecentSignIn(account),
    hasEnded: url.searchParams.has("ended"),
  };
  return { title: "Sessions", body: <Sessions {...props} /> };
}

export async function endSession(request: MemberRequest): Promise<Redirect> {
  const { account, members, params } = request;
  const { id = "" } = params;
  if (id !== account.sessionId && !isRecentSignIn(account)) return toSignInAgain(SESSIONS_PAGE);
  const cookies = await members.accounts.endSession(account, id);
  members.events.record("session_ended", request);
  return { location: `${SESSIONS_PAGE}?ended`, status: 303, cookies };
}

export async function endOtherSessions(request: MemberRequest): Promise<Redirect> {
  const { account, members } = request;
  if (!isRecentSignIn(account)) return toSignInAgain(SESSIONS_PAGE);
  const sessions = await members.accounts.sessions.endOthers(account.id, account.sessionId);
  if (sessions > 0) members.events.record("sessions_ended", request, { sessions });
  return { location: `${SESSIONS_PAGE}?ended`, status: 303 };
}

interface SessionsProps {
  /** The session of this browser. */
  current: readonly Session[];
  others: readonly Session[];
  /** Whether somebody has just signed in, and so may end other sessions. */
  isRecent: boolean;
  hasEnded: boolean;
}

const SESSION_COLUMNS = ["Browser or program", "Network", "Signed in", "Last seen"];

const Sessions: FC<SessionsProps> = ({ current, others, isRecent, hasEnded }) => (
  <>
    <h1>Sessions</h1>
    <p class="lead">
      Where you are signed in. A session ends after 30 days, or 14 days without use. If you do not know one,
      end it, and look into the <a href="/account/security">security log</a>.
    </p>
    {hasEnded ? <Notice isDone>The session has ended.</Notice> : null}
    <OwnTable label="Your sessions" columns={SESSION_COLUMNS}>
      {current.map((session) => (
        <SessionRow session={session} isCurrent />
      ))}
      {others.map((session) => (
        <SessionRow session={session} />
      ))}
    </OwnTable>
    {others.length === 0 ? null : (
      <>
        <h2>Elsewhere</h2>
        <p>
          End all sessions but this one. API keys keep working.
          {isRecent ? null : " Before you end another session, you will be asked to sign in again."}
        </p>
        <form method="post" action={`${SESSIONS_PAGE}/end-others`}>
          <button type="submit">End all other sessions</button>
        </form>
      </>
    )}
  </>
);

const SessionRow: FC<{ session: Session; isCurrent?: boolean }> = ({
  session: { id, createdAt, seenAt, source },
  isCurrent = false,
}) => {
  const agent = source?.agent || "Unknown";
  return (
    <tr>
      <th scope="row">
        {agent} {isCurrent ? <span class="soft">this one</span> : null}
      </th>
      <td class="nowrap" data-label="Network">
        {source === null ? "–" : <code>{source.network}</code>}
      </td>
      <td class="nowrap" data-label="Signed in">
        <Time at={createdAt} />
      </td>
      <td class="nowrap" data-label="Last seen">
        <time datetime={isoDay(seenAt)}>{formatDate(seenAt)}</time>
      </td>
      <td class="actions">
        {isCurrent ? (
          <form method="post" action="/sign-out">
            <button type="submit">Sign out</button>
          </form>
        ) : (
          <form method="post" action={`${SESSIONS_PAGE}/${id}/end`}>
            <button type="submit" aria-label={`End the session of ${agent}`}>
              End
            </button>
          </form>
        )}
      </td>
    </tr>
  );
};

/** Events per page. */
const EVENTS_PER_PAGE = 40;

/** The security log of the account, latest event first. */
export async function showSecurity({ account, members, url }: MemberRequest): Promise<Page> {
  const cursor = url.searchParams.get("cursor") ?? "";
  const before = /^[1-9][0-9]{0,15}$/.test(cursor) ? Number(cursor) : undefined;
  const events = await members.events.list({ accountId: account.id, before, limit: EVENTS_PER_PAGE + 1 });
  const rows = events.slice(0, EVENTS_PER_PAGE);
  const older = events.length > EVENTS_PER_PAGE ? rows.at(-1)?.id : undefined;
  return { title: "Security log", body: <Log rows={rows} older={older} /> };
}

const Log: FC<{ rows: readonly StoredEvent[]; older: number | undefined }> = ({ rows, older }) => (
  <>
    <h1>Security log</h1>
    <p class="lead">
      What happened to your account in the last 180 days. If something was not you,{" "}
      <a href="/account">sign out everywhere</a> and revoke your <a href="/account/keys">API keys</a>.
    </p>
    {rows.length === 0 ? (
      <p>Nothing is recorded.</p>
    ) : (
      <Scroll label="Events">
        <table>
          <caption class="hidden">Events, latest first</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col">Browser or program</th>
              <th scope="col">Network</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <EventRow row={row} />
            ))}
          </tbody>
        </table>
      </Scroll>
    )}
    {older === undefined ? null : (
      <p>
        <a href={`/account/security?cursor=${older}`}>Older events</a>
      </p>
    )}
  </>
);

const EventRow: FC<{ row: StoredEvent }> = ({ row: { at, event, network, detail } }) => (
  <tr>
    <td class="nowrap">
      <Time at={at} exact />
    </td>
    <th scope="row">
      {eventWords(event)} <span class="soft">{detailWords(detail)}</span>
    </th>
    <td>{agentOf(detail) ?? "–"}</td>
    <td class="nowrap">
      <code>{network}</code>
    </td>
  </tr>
);
