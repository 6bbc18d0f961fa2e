/** Entry of the process that attacks: reads one Attack from standard input, writes one AttackReport to standard output. */
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { quantile } from "../../../bench/support/statistics.js";
import type { Attack, AttackReport } from "./attack.js";
import { BAD_KINDS, type BadKind, openBad } from "./bad-clients.js";
import { heldConnections } from "./server-sockets.js";

/** Time between two looks at what the server holds. */
const LOOK_MS = 250;

interface Bad {
  kind: BadKind;
  address: string;
  socket: Socket;
  /** When the server was first seen to hold it; undefined: not yet. */
  heldSince?: number;
  openedAt: number;
}

const attack: Attack = JSON.parse(await text(process.stdin));
const { victim, addresses, connections, seconds } = attack;
const lifetimes = new Map<BadKind, number[]>(BAD_KINDS.map((kind) => [kind, []]));
let refused = 0;

function start(index: number): Bad {
  const kind = BAD_KINDS[index % BAD_KINDS.length] ?? "sends nothing";
  const address = addresses[Math.floor(index / BAD_KINDS.length) % addresses.length] ?? "127.0.0.1";
  return { kind, address, socket: openBad(kind, victim, address), openedAt: performance.now() };
}

const began = performance.now();
const bad: Bad[] = [];
let most = 0;
while (performance.now() - began < seconds * 1_000) {
  // Not all in the same moment: a full accept queue of the system would refuse them.
  for (let i = 0; i < 100 && bad.length < connections; i++) bad.push(start(bad.length));
  await setTimeout(LOOK_MS);
  const held = heldConnections(victim.port);
  const now = performance.now();
  most = Math.max(most, held.size);
  for (const [index, one] of bad.entries()) {
    const name = `${one.address}:${one.socket.localPort ?? 0}`;
    if (held.has(name)) {
      one.heldSince ??= one.openedAt;
      continue;
    }
    if (now - one.openedAt < 2 * LOOK_MS) continue;
    if (one.heldSince === undefined) refused++;
    else lifetimes.get(one.kind)?.push(now - one.heldSince);
    one.socket.destroy();
    // Like an attacker that does not give up.
    bad[index] = start(index);
  }
}
const now = performance.now();
const report: AttackReport = { most, refused, kinds: [] };
for (const [kind, values] of lifetimes) {
  const still = bad.filter((one) => one.kind === kind && one.heldSince !== undefined);
  const ages = still.map(({ openedAt }) => now - openedAt);
  const all = [...values, ...ages];
  report.kinds.push({
    kind,
    closed: values.length,
    medianMs: values.length === 0 ? undefined : quantile(values, 0.5),
    longestMs: Math.max(0, ...all),
  });
}
process.stdout.write(JSON.stringify(report), () => process.exit());
