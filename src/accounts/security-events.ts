/** What the security log records. */
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

/** Where a request comes from, as far as it is stored. */
export interface Source {
  /** 24 bits of an IPv4 address, 48 of an IPv6 one. */
  network: string;
  /** The family of the user agent, such as Firefox; empty where it was not read. */
  agent: string;
}

/** Names and ids, never a secret or an address. */
export type EventDetail = Readonly<Record<string, string | number>>;

/** Something that happened. */
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
