import type { Source } from "../accounts/accounts.js";
import { Agents, truncatedAddress } from "../metering/metering.js";
import type { Exchange } from "./identity.js";

const agents = new Agents();

/** Where a request comes from, as far as the security log and the list of sessions keep it. */
export function sourceOf({ address, message }: Pick<Exchange, "address" | "message">): Source {
  return {
    network: truncatedAddress(address.name),
    agent: agents.familyOf(message.headers["user-agent"] ?? null),
  };
}
