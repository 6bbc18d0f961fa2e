import { BackgroundWrites } from "../background-writes.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import type { Logger } from "../log.js";

/** Where a request comes from, as far as it is stored. */
export interface Source {
  /** 24 bits of an IPv4 address, 48 of an IPv6 one. */
  network: string;
  /** The family of the user agent, such as Firefox. */
  agent: string;
}

/** What the log records. */
export const SECURITY_EVENTS = [
  "signed_in",
  "sign_in_refused",
  "signed_out",
  "session_ended",
  "key_created",
  "key_revoked",
  "account_deleted",
] as const;
export type SecurityEventName = (typeof SECURITY_EVENTS)[number];

/** Something that happened. */
export interface SecurityEvent {
  event: SecurityEventName;
  source: Source;
  /** null: nobody was signed in. */
  accountId: string | null;
  /** Names and ids, never a secret or an address. */
  detail?: Readonly<Record<string, string | number>>;
}

export interface SecurityLogOptions {
  database: Database;
  clock: Clock;
  log: Logger;
}

/** Records what happens to accounts, for their owners and the operator. No response waits for it. */
export class SecurityLog {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #writes: BackgroundWrites;

  constructor({ database, clock, log }: SecurityLogOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#writes = new BackgroundWrites(log);
  }

  record({ event, source, accountId, detail = {} }: SecurityEvent): void {
    const row = {
      at: this.#clock.now(),
      account_id: accountId,
      event,
      network: source.network,
      detail: JSON.stringify({ agent: source.agent, ...detail }),
    };
    this.#writes.add(
      () => this.#database.write.insertInto("security_events").values(row).execute(),
      "a security event could not be recorded",
      { event },
    );
  }

  /** Resolves when all pending writes have ended. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }
}
