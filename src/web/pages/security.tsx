import type { FunctionComponent as FC } from "preact";
import {
  actorWords,
  addressesIn,
  agentOf,
  detailWords,
  type EventQuery,
  eventWords,
  isRecentSignIn,
  networkWords,
  OPERATOR_EVENTS,
  type Session,
  type StoredEvent,
} from "../../accounts/accounts.js";
import { isoDay } from "../../lib/clock.js";
import { ActionButton, Notice } from "../components/elements.js";
import { Ago, formatDate, Time } from "../components/numbers.js";
import { ACTIONS, type Column, Table } from "../components/table.js";
import type { MemberRequest, OperatorRequest, Page, PageRequest, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** The sessions of an account, its events, and the log of operators. */

const SESSIONS_PAGE = "/account/sessions";

/** The sessions of the account, with ways to end each. */
export async function showSessions({ account, url, members }: MemberRequest): Promise<Page> {
  const sessions = await members.accounts.sessions.list(account.id);
  const current = sessions.find(({ id }) => id === account.sessionId);
  // Who has not just signed in may not end other sessions.
  const isRecent = isRecentSignIn(account);
  return {
    title: "Sessions",
    body: (
      <>
        <h1>Sessions</h1>
        <p class="lead">
          Where you are signed in. A session ends after 30 days, or 14 days without use. If you do not know
          one, end it, and look into the <a href="/account/security">security log</a>.
        </p>
        {url.searchParams.has("ended") ? <Notice isDone>The session has ended.</Notice> : null}
        <SessionTable sessions={sessions} current={current} />
        {sessions.length === (current === undefined ? 0 : 1) ? null : (
          <>
            <h2>Elsewhere</h2>
            <p>
              End all sessions but this one. API keys keep working.
              {isRecent ? null : " Before you end another session, you will be asked to sign in again."}
            </p>
            <ActionButton action={`${SESSIONS_PAGE}/end-others`}>End all other sessions</ActionButton>
          </>
        )}
      </>
    ),
  };
}

/** The sessions, the one of this request first. */
const SessionTable: FC<{ sessions: readonly Session[]; current: Session | undefined }> = ({
  sessions,
  current,
}) => (
  <Table
    label="Your sessions"
    class="keys stacked"
    columns={[
      {
        head: "Browser or program",
        cell: (session) => (
          <>
            {agentName(session)} {session === current ? <span class="soft">this one</span> : null}
          </>
        ),
      },
      {
        head: "Network",
        class: "nowrap",
        cell: ({ source }) => (source === null ? "–" : <code>{source.network}</code>),
      },
      { head: "Signed in", cell: ({ createdAt }) => <Ago at={createdAt} /> },
      {
        head: "Last seen",
        class: "nowrap",
        cell: ({ seenAt }) => <time datetime={isoDay(seenAt)}>{formatDate(seenAt)}</time>,
      },
      {
        ...ACTIONS,
        cell: (session) =>
          session === current ? (
            <ActionButton action="/sign-out">Sign out</ActionButton>
          ) : (
            <form method="post" action={`${SESSIONS_PAGE}/${session.id}/end`}>
              <button type="submit" aria-label={`End the session of ${agentName(session)}`}>
                End
              </button>
            </form>
          ),
      },
    ]}
    rows={sessions.toSorted((a, b) => Number(b === current) - Number(a === current))}
  />
);

export async function endSession(request: MemberRequest): Promise<Redirect> {
  const { account, http, members } = request;
  const { id = "" } = http.params;
  if (id !== account.sessionId && !isRecentSignIn(account)) return toSignInAgain(SESSIONS_PAGE);
  const cookies = await members.accounts.endSession(account, id);
  members.events.record("session_ended", request.http);
  return { location: `${SESSIONS_PAGE}?ended`, status: 303, cookies };
}

export async function endOtherSessions(request: MemberRequest): Promise<Redirect> {
  const { account, members } = request;
  if (!isRecentSignIn(account)) return toSignInAgain(SESSIONS_PAGE);
  const sessions = await members.accounts.sessions.endOthers(account.id, account.sessionId);
  if (sessions > 0) members.events.record("sessions_ended", request.http, { sessions });
  return { location: `${SESSIONS_PAGE}?ended`, status: 303 };
}

const agentName = ({ source }: Session): string => source?.agent || "Unknown";

/** Events per page. */
const EVENTS_PER_PAGE = 40;

/** The security log of the account, latest event first. */
export async function showSecurity(request: MemberRequest): Promise<Page> {
  return {
    title: "Security log",
    body: (
      <>
        <h1>Security log</h1>
        <p class="lead">
          What happened to your account in the last 180 days. If something was not you,{" "}
          <a href="/account">sign out everywhere</a> and revoke your <a href="/account/keys">API keys</a>.
        </p>
        <EventTable
          path="/account/security"
          column={{ head: "Browser or program", cell: ({ detail }) => agentOf(detail) ?? "–" }}
          {...(await readEventPage(request, { accountId: request.account.id }))}
        />
      </>
    ),
  };
}

/** What operators did, latest first. */
export async function showOperatorLog(request: OperatorRequest): Promise<Page> {
  const page = await readEventPage(request, { events: OPERATOR_EVENTS });
  const addresses = await addressesIn(request.modules.database, page.rows);
  return {
    title: "Log of operators",
    body: (
      <>
        <h1>Log of operators</h1>
        <p class="lead">What operators did in the last 180 days, by page or command.</p>
        <EventTable
          path="/operator/log"
          column={{ head: "Who", cell: (event) => actorWords(event, addresses.get(event.accountId ?? "")) }}
          addresses={addresses}
          {...page}
        />
      </>
    ),
  };
}

interface EventPage {
  rows: StoredEvent[];
  /** The last one if there are older ones. */
  older: number | undefined;
}

async function readEventPage(
  { url, members }: PageRequest,
  query: Pick<EventQuery, "accountId" | "events">,
): Promise<EventPage> {
  const cursor = url.searchParams.get("cursor") ?? "";
  const before = /^[1-9][0-9]{0,15}$/.test(cursor) ? Number(cursor) : undefined;
  const events = await members.events.list({ ...query, before, limit: EVENTS_PER_PAGE + 1 });
  const rows = events.slice(0, EVENTS_PER_PAGE);
  return { rows, older: events.length > EVENTS_PER_PAGE ? rows.at(-1)?.id : undefined };
}

interface EventTableProps extends EventPage {
  path: string;
  /** Between what happened and the network. */
  column: Column<StoredEvent>;
  /** Those of accounts to which something was done. */
  addresses?: ReadonlyMap<string, string>;
}

/** A page of events. */
const EventTable: FC<EventTableProps> = ({ path, column, addresses, rows, older }) => (
  <>
    {rows.length === 0 ? (
      <p>Nothing is recorded.</p>
    ) : (
      <Table
        label="Events, latest first"
        columns={[
          { head: "When", class: "nowrap", cell: ({ at }) => <Time at={at} exact /> },
          {
            head: "What",
            isName: true,
            cell: ({ event, detail }) => (
              <>
                {eventWords(event)} <span class="soft">{detailWords(detail, addresses)}</span>
              </>
            ),
          },
          column,
          { head: "Network", class: "nowrap", cell: networkWords },
        ]}
        rows={rows}
      />
    )}
    {older === undefined ? null : (
      <p>
        <a href={`${path}?cursor=${older}`}>Older events</a>
      </p>
    )}
  </>
);
