/** Entry of the process that attacks: reads one Attack from standard input, writes one AttackReport to standard output. */
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { quantile } from "../../../bench/support/statistics.js";
import type { Attack, AttackReport } from "./attack.js";
import { BAD_KINDS, type BadKind, openBad } from "./bad-clients.js";
import { heldConnections } from "./server-sockets.js";

/** Time between two looks at what the server holds. */
const LOOK_MS = 500;
/** Connections are opened a few at a time: many more would be an attack on the queue of the system. */
const OPENED_TOGETHER = 20;
const OPEN_EVERY_MS = 50;
/** Time before another connection follows one that is over. */
const AGAIN_MS = 5_000;

interface Bad {
  kind: BadKind;
  address: string;
  socket: Socket;
  /** When the system opened it; undefined: not yet. */
  openedAt: number | undefined;
  /** Whether the server was seen to hold it. */
  wasHeld: boolean;
}

const attack: Attack = JSON.parse(await text(process.stdin));
const { victim, addresses, connections, seconds } = attack;
const lifetimes = new Map<BadKind, number[]>(BAD_KINDS.map((kind) => [kind, []]));
let refused = 0;

function start(index: number): Bad {
  const kind = BAD_KINDS[index % BAD_KINDS.length] ?? "sends nothing";
  const address = addresses[Math.floor(index / BAD_KINDS.length) % addresses.length] ?? "127.0.0.1";
  const socket = openBad(kind, victim, address);
  const one: Bad = { kind, address, socket, openedAt: undefined, wasHeld: false };
  socket.once("connect", () => {
    one.openedAt = performance.now();
  });
  return one;
}

/** Whether the server no longer holds a connection, or has refused it. */
function isOver(one: Bad, held: ReadonlySet<string>, now: number): boolean {
  if (one.openedAt === undefined) return one.socket.destroyed;
  if (held.has(`${one.address}:${one.socket.localPort ?? 0}`)) {
    one.wasHeld = true;
    return false;
  }
  return one.wasHeld || now - one.openedAt > 2 * LOOK_MS;
}

const began = performance.now();
const bad = new Map<number, Bad>();
/** When each may be opened. */
const opensAt = new Float64Array(connections);
let most = 0;
let looksAt = began;
while (performance.now() - began < seconds * 1_000) {
  let opened = 0;
  for (let index = 0; index < connections && opened < OPENED_TOGETHER; index++) {
    if (bad.has(index) || (opensAt[index] ?? 0) > performance.now()) continue;
    bad.set(index, start(index));
    opened++;
  }
  await setTimeout(OPEN_EVERY_MS);
  const now = performance.now();
  if (now < looksAt) continue;
  looksAt = now + LOOK_MS;
  const held = heldConnections(victim.port);
  most = Math.max(most, held.size);
  for (const [index, one] of bad) {
    if (!isOver(one, held, now)) continue;
    if (one.wasHeld && one.openedAt !== undefined) lifetimes.get(one.kind)?.push(now - one.openedAt);
    else refused++;
    one.socket.destroy();
    // Another one follows, like those of an attacker that does not give up.
    bad.delete(index);
    opensAt[index] = now + AGAIN_MS;
  }
}
const now = performance.now();
const report: AttackReport = { most, refused, kinds: [] };
for (const [kind, values] of lifetimes) {
  const open = [...bad.values()].filter((one) => one.kind === kind && one.wasHeld);
  const ages = open.map(({ openedAt = now }) => now - openedAt);
  report.kinds.push({
    kind,
    closed: values.length,
    medianMs: values.length === 0 ? undefined : quantile(values, 0.5),
    longestMs: Math.max(0, ...values, ...ages),
  });
}
process.stdout.write(JSON.stringify(report), () => process.exit());
