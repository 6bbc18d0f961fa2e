import type { LoggedEvent, SecurityEvent } from "./security-events.js";

/** Events of one account and name that get a row each in a minute. Further ones are counted in one. */
const ROWS_EACH = 5;
/** Accounts and names whose events get rows of their own in a minute; those of further ones are counted: 2 MB. */
export const MAX_FOLLOWED = 20_000;
/** Rows of counted events in a minute, besides those of MIXED: one for each event. */
export const MAX_COUNTED = 200;
/** The network of events beyond the bound, which are counted together. */
export const MIXED = "several";

/** Counts the events of a minute in bounded memory: a flood of events is a few rows. */
export class EventTally {
  readonly #single = new Map<string, number>();
  readonly #counted = new Map<string, LoggedEvent>();

  /** The row of an event that gets its own; undefined for one that is counted until `take`. */
  add({ event, source, accountId, detail = {} }: SecurityEvent, at: number): LoggedEvent | undefined {
    const { network, agent } = source;
    if (accountId !== null) {
      const key = `${accountId} ${event}`;
      const known = this.#single.get(key) ?? 0;
      const isFollowed = known > 0 || this.#single.size < MAX_FOLLOWED;
      if (isFollowed) this.#single.set(key, known + 1);
      if (isFollowed && known < ROWS_EACH)
        return {
          at,
          accountId,
          event,
          network,
          detail: agent === "" ? detail : { agent, ...detail },
          times: 1,
        };
    }
    this.#count({ at, accountId, event, network, detail, times: 1 });
    return undefined;
  }

  /** The counted events of the minute that ends. */
  take(): LoggedEvent[] {
    const counted = [...this.#counted.values()];
    this.#counted.clear();
    this.#single.clear();
    return counted;
  }

  #count(row: LoggedEvent): void {
    const { accountId, event, network, detail } = row;
    const key = `${event} ${network} ${accountId ?? ""} ${JSON.stringify(detail)}`;
    const known = this.#counted.get(key);
    if (known !== undefined) known.times++;
    else if (network === MIXED || this.#counted.size < MAX_COUNTED) this.#counted.set(key, row);
    else this.#count({ ...row, accountId: null, network: MIXED, detail: {} });
  }
}
