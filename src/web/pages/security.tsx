import type { FC } from "hono/jsx";
import { agentOf, detailWords, EVENT_WORDS, type StoredEvent } from "../../accounts/accounts.js";
import { Time } from "../components/numbers.js";
import { Scroll } from "../components/scroll.js";
import type { MemberRequest, Page } from "../page-request.js";

/** Events of one page. */
const ROWS = 40;

/** What happened to the account, latest first. */
export async function showSecurity({ account, members, url }: MemberRequest): Promise<Page> {
  const cursor = url.searchParams.get("cursor") ?? "";
  const before = /^[1-9][0-9]{0,15}$/.test(cursor) ? Number(cursor) : undefined;
  const events = await members.security.list({ accountId: account.id, before, limit: ROWS + 1 });
  const rows = events.slice(0, ROWS);
  const older = events.length > ROWS ? rows.at(-1)?.id : undefined;
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

const EventRow: FC<{ row: StoredEvent }> = ({ row: { at, event, network, detail, times } }) => (
  <tr>
    <td class="nowrap">
      <Time at={at} exact />
    </td>
    <th scope="row">
      {EVENT_WORDS[event]} <span class="soft">{detailWords(detail)}</span>
      {times === 1 ? null : ` (${times} times)`}
    </th>
    <td>{agentOf(detail) ?? "–"}</td>
    <td class="nowrap">
      <code>{network}</code>
    </td>
  </tr>
);
