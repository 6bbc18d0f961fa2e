/** The events of the security log, and their words. */
/** The events that the security log records. */
export const SECURITY_EVENTS = [
  "signed_in",
  "sign_in_refused",
  "reauthenticated",
  "signed_out",
  "session_ended",
  "sessions_ended",
  "account_created",
  "account_deleted",
  "data_exported",
  "key_created",
  "key_revoked",
  "key_refused",
  "passkey_added",
  "passkey_removed",
  "feed_created",
  "feed_replaced",
  "feed_ended",
  "operator_code_logged",
  "operator_entered",
  "operator_refused",
  "operator_left",
  "forge_token_added",
  "forge_token_refused",
  "forge_token_removed",
  "cross_site_refused",
  "rate_limited",
] as const;
export type SecurityEventName = (typeof SECURITY_EVENTS)[number];

/** The stored origin of a request. */
export interface Source {
  /** 24 bits of an IPv4 address, 48 of an IPv6 one. */
  network: string;
  /** The family of the user agent, such as Firefox; empty where it was not read. */
  agent: string;
}

/** Names and ids, never a secret or an address. */
export type EventDetail = Readonly<Record<string, string | number>>;

/** An event to be recorded. */
export interface SecurityEvent {
  event: SecurityEventName;
  source: Source;
  /** null: nobody was signed in. Such events are counted by event, network, detail and minute. */
  accountId: string | null;
  /** Of events without an account one of a few fixed values, as each is counted apart. */
  detail?: EventDetail;
  /** Where a mail about it goes, if the account is gone. Never stored. */
  address?: string;
}

/** A row of the log: one event, or several that are alike. */
export interface LoggedEvent {
  /** When the first of them happened. */
  at: number;
  accountId: string | null;
  event: SecurityEventName;
  network: string;
  detail: EventDetail;
  times: number;
}

/** Each event in words, for pages, mails and the command line. */
export const EVENT_WORDS: Readonly<Record<SecurityEventName, string>> = {
  signed_in: "Signed in",
  sign_in_refused: "Sign-in refused",
  reauthenticated: "Signed in again",
  signed_out: "Signed out",
  session_ended: "Session ended",
  sessions_ended: "Sessions ended",
  account_created: "Account created",
  account_deleted: "Account deleted",
  data_exported: "Data exported",
  key_created: "API key created",
  key_revoked: "API key revoked",
  key_refused: "Invalid API key refused",
  passkey_added: "Passkey added",
  passkey_removed: "Passkey removed",
  feed_created: "Feed of the watchlist created",
  feed_replaced: "Address of the watchlist's feed replaced",
  feed_ended: "Feed of the watchlist ended",
  operator_code_logged: "Operator's code written to the log",
  operator_entered: "Operator's page opened with a code",
  operator_refused: "Operator's code refused",
  operator_left: "Operator's page closed",
  forge_token_added: "Token of a forge added",
  forge_token_refused: "Token of a forge refused",
  forge_token_removed: "Token of a forge removed",
  cross_site_refused: "Request of another site refused",
  rate_limited: "Request over a rate limit refused",
};

/** The detail of an event in words, such as "method: link"; without the agent. Empty if there is nothing else. */
export function detailWords(detail: EventDetail): string {
  return Object.entries(detail)
    .filter(([name]) => name !== "agent")
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
}

/** The family of the user agent, if it is recorded. */
export function agentOf({ agent }: EventDetail): string | null {
  return typeof agent === "string" && agent !== "" ? agent : null;
}

/** An event in one line, without its time and account. */
export function describeEvent({
  event,
  network,
  detail,
  times,
}: Omit<LoggedEvent, "at" | "accountId">): string {
  const words = [EVENT_WORDS[event], detailWords(detail)].filter((text) => text !== "").join("; ");
  const from = [network, agentOf(detail)].filter((text) => text !== null && text !== "").join(", ");
  return `${words}, from ${from}${times === 1 ? "" : `, ${times} times`}`;
}
