import type { IncomingMessage } from "node:http";
import type { EventDetail, SecurityEvent, SecurityEventName, Source } from "../accounts/accounts.js";
import { Agents, type Caller, truncatedAddress } from "../metering/metering.js";

const agents = new Agents();

/** Where a request comes from, as far as the security log and the list of sessions keep it. */
export function sourceOf({
  address,
  message,
}: {
  address: Caller;
  message: Pick<IncomingMessage, "headers">;
}): Source {
  return {
    network: truncatedAddress(address.name),
    agent: agents.familyOf(message.headers["user-agent"] ?? null),
  };
}

/** A refused request as an event. Takes a microsecond, as there may be a flood of them: the user agent is not read. */
export function refusedEvent(
  event: SecurityEventName,
  { address, account }: { address: Caller; account: { id: string } | undefined },
  detail: EventDetail = {},
): SecurityEvent {
  const source = { network: truncatedAddress(address.name), agent: "" };
  return { event, source, accountId: account?.id ?? null, detail };
}
