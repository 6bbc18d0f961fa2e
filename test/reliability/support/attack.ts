import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { LOAD_CORE, spawnPinned } from "../../../bench/support/processes.js";
import type { BadKind, Victim } from "./bad-clients.js";
import { HarnessFailure } from "./harness.js";

const PROCESS = fileURLToPath(new URL("./attack-process.js", import.meta.url));

/** An attack by bad clients of all kinds, each of which connects again when the server has closed its connection. */
export interface Attack {
  victim: Victim;
  /** Addresses of this machine that the connections come from. */
  addresses: readonly string[];
  connections: number;
  seconds: number;
}

export interface AttackReport {
  /** Most connections that the server held at the same time. */
  most: number;
  /** Connections that the server closed before it was seen to hold them. */
  refused: number;
  kinds: {
    kind: BadKind;
    /** Connections that the server has closed. */
    closed: number;
    /** How long it held these; undefined without any. */
    medianMs: number | undefined;
    /** The longest that it held one, closed or not. */
    longestMs: number;
  }[];
}

/** Attacks from a process of its own. */
export async function attack(job: Attack): Promise<AttackReport> {
  const child = spawnPinned(process.execPath, [PROCESS], { core: LOAD_CORE, stdin: "pipe" });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new HarnessFailure("the attack has no pipes");
  const ended = once(child, "exit");
  stdin.end(JSON.stringify(job));
  const [output, [code]] = await Promise.all([text(stdout), ended]);
  if (code !== 0) throw new HarnessFailure(`the attack ended with ${code}`);
  return JSON.parse(output);
}
