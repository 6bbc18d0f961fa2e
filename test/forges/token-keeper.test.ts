import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { concernsForge, FAILURE_KINDS, UpstreamFailure } from "../../src/forges/failures.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { tokensOfFile } from "../../src/forges/token-files.js";
import { type Loaded, TokenKeeper } from "../../src/forges/token-keeper.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { temporaryFolder } from "../support/imports.js";
import { SkippingClock } from "../support/manual-clock.js";
import { turnUntil } from "../support/turns.js";
import { scripted, settingsOf } from "../support/upstream.js";

const folder = temporaryFolder();
const NOW = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;
const ref: RepositoryRef = { providerId: "1", nodeId: null, fullName: "o/r", etag: null };

/** A forge that accepts one token. */
function forgeOf(
  tokenSource: NonNullable<Parameters<typeof settingsOf>[1]>["tokenSource"],
  tokens: string[] = [],
) {
  const state = { accepted: "one" };
  const clock = new SkippingClock(NOW);
  const fetch = scripted((_, { headers }) =>
    headers?.authorization === `token ${state.accepted}`
      ? { body: { id: 1, full_name: "o/r", stars_count: 1 } }
      : { status: 401, body: { message: "invalid token" } },
  );
  const settings = settingsOf("forgejo", { tokens, ...(tokenSource && { tokenSource }) });
  return { state, clock, fetch, provider: createForgejo(settings, { fetch, clock }) };
}
const kindOf = async (provider: Provider) =>
  (await provider.refreshMany([ref], signal).catch((error) => [error]))[0]?.kind;
const commandSource = (command: readonly string[], environment: Record<string, string> = {}) =>
  ({ kind: "command", command, environment: { PATH: "/usr/bin:/bin", ...environment } }) as const;
const script = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
};

test("a token that is replaced in its file is used from then on, and no request fails", async () => {
  const path = join(folder, "tokens");
  writeFileSync(path, "one\n");
  const { state, clock, fetch, provider } = forgeOf({ kind: "file", path }, ["one"]);
  assert.equal(await kindOf(provider), "found");
  writeFileSync(path, "two\n");
  state.accepted = "two";
  clock.advance(5_000);
  assert.equal(await kindOf(provider), "found", "read again when rejected");
  assert.deepEqual(
    fetch.sent.map(({ headers }) => headers.authorization),
    ["token one", "token one", "token two"],
  );
  writeFileSync(path, "three\n");
  state.accepted = "three";
  clock.advance(11_000);
  assert.equal(await kindOf(provider), "found", "read again after some seconds, or when rejected");
  assert.equal(fetch.sent.at(-1)?.headers.authorization, "token three");
  assert.deepEqual(provider.notices(), []);
});

test("while the file cannot be read, the last tokens are used, and it is shown", async () => {
  const path = join(folder, "unreadable");
  writeFileSync(path, "one");
  const { clock, provider } = forgeOf({ kind: "file", path }, ["one"]);
  rmSync(path);
  clock.advance(11_000);
  assert.equal(await kindOf(provider), "found");
  const problemOf = () => provider.quota().find(({ blockReason }) => blockReason === "not_renewed");
  await turnUntil(() => problemOf() !== undefined);
  const problem = problemOf();
  assert.deepEqual([problem?.token, problem?.blockedUntil], ["file", null]);
  assert.match(problem?.blockMessage ?? "", /cannot be read/);
  writeFileSync(path, "one");
  clock.advance(HOUR_MS);
  assert.equal(await kindOf(provider), "found");
  await turnUntil(() => problemOf() === undefined);
  assert.deepEqual(
    provider.notices().map(({ isWorking }) => isWorking),
    [false, true],
  );
  assert.ok(provider.quota().every(({ blockReason }) => blockReason === null));
});

test("a command supplies tokens, again after a rejection, but not more than once a minute", async () => {
  const runs = join(folder, "runs");
  const path = join(folder, "made");
  writeFileSync(path, "one");
  const command = script("make", `echo run >> ${runs}; cat "$1"`);
  const { state, clock, fetch, provider } = forgeOf(commandSource([command, path]));
  assert.equal(await kindOf(provider), "found");
  state.accepted = "two";
  writeFileSync(path, "two");
  clock.advance(2 * 60_000);
  assert.equal(await kindOf(provider), "found");
  const sent = fetch.sent.length;
  state.accepted = "three";
  assert.equal(await kindOf(provider), "refused");
  assert.equal(await kindOf(provider), "quota");
  assert.equal(fetch.sent.length, sent + 1);
});

test("a command that fails, hangs or prints nonsense is retried later, and its output is never shown", async () => {
  for (const [name, text, expected] of [
    ["fails", "echo secret-one; echo secret-two >&2; exit 3", /ended with status 3/],
    ["prints", "printf 'secret-one\\303\\244'", /characters that no token has/],
    ["is-empty", "true", /contains no token/],
    ["floods", "yes secret-one | head -c 200000", /failed|contains more/],
  ] as const) {
    const { clock, fetch, provider } = forgeOf(commandSource([script(name, text)]));
    const failure = await provider.refreshMany([ref], signal).catch((error) => error);
    assert.equal(failure.kind, "refused");
    assert.match(failure.message, expected);
    assert.doesNotMatch(failure.message + JSON.stringify(provider.quota()), /secret/);
    assert.equal(await kindOf(provider), "quota", "not run again immediately");
    assert.equal(fetch.sent.length, 0, "nothing is sent without a token");
    assert.equal(provider.readyAt("refresh"), clock.now() + 30_000);
  }
  const { provider } = forgeOf(commandSource([join(folder, "absent")]));
  assert.equal(await kindOf(provider), "refused");
});

test("a rejected token that is replaced in its file is used at the next look at the file", async () => {
  const path = join(folder, "replaced");
  writeFileSync(path, "wrong");
  const { clock, fetch, provider } = forgeOf({ kind: "file", path }, ["wrong"]);
  assert.equal(await kindOf(provider), "refused");
  const readyAt = provider.readyAt("refresh");
  assert.ok(readyAt > clock.now() && readyAt <= clock.now() + 10_000, `${readyAt - clock.now()} ms`);
  const failure = await provider.refreshMany([ref], signal).catch((error) => error);
  assert.deepEqual([failure.kind, failure.until], ["quota", readyAt]);
  clock.advance(30_000);
  await turnUntil(() => provider.readyAt("refresh") > clock.now() + 1_000);
  writeFileSync(path, "one");
  clock.advance(10_000);
  await turnUntil(() => provider.readyAt("refresh") <= clock.now());
  assert.equal(fetch.sent.length, 1, "no request was needed to find it");
  assert.equal(await kindOf(provider), "found");
});

test("a command is run for another token soon after a rejection, with growing waits", async () => {
  const path = join(folder, "rejected");
  const runs = join(folder, "rejected-runs");
  writeFileSync(path, "wrong");
  const command = script("rejected-make", `echo run >> ${runs}; cat "$1"`);
  const { state, clock, fetch, provider } = forgeOf(commandSource([command, path]));
  assert.equal(await kindOf(provider), "refused");
  assert.equal(provider.readyAt("refresh"), clock.now() + 60_000);
  clock.advance(60_000);
  assert.equal(await kindOf(provider), "refused", "the forge may accept it now");
  clock.advance(2 * 60_000);
  assert.equal(await kindOf(provider), "quota");
  assert.equal(fetch.sent.length, 2, "a token that is known to be wrong is not sent each time");
  state.accepted = "right";
  writeFileSync(path, "right");
  clock.advance(provider.readyAt("refresh") - clock.now());
  assert.equal(await kindOf(provider), "found");
});

test("a request that is rejected while a token is renewed waits for the new one", async () => {
  const clock = new SkippingClock(NOW);
  const load = Promise.withResolvers<Loaded>();
  const loader = {
    label: "app",
    minIntervalMs: 60_000,
    intervalMs: HOUR_MS,
    load: () => load.promise,
  };
  const keeper = new TokenKeeper(loader, { tokens: ["old"], clock, onTokens: () => {} });
  const both = [keeper.hasReplaced("old", signal), keeper.hasReplaced("old", signal)];
  load.resolve({ tokens: [{ token: "new", label: "app" }], validMs: null });
  assert.deepEqual(await Promise.all(both), [true, true]);
});

test("no failure to obtain a token is taken for one of a repository", async () => {
  for (const kind of FAILURE_KINDS) {
    const loader = {
      label: "app",
      minIntervalMs: 60_000,
      intervalMs: HOUR_MS,
      load: () => Promise.reject(new UpstreamFailure(kind, "no")),
    };
    const keeper = new TokenKeeper(loader, {
      tokens: [],
      clock: new SkippingClock(NOW),
      onTokens: () => {},
    });
    const failure = await keeper.ready(signal).catch((error) => error);
    assert.ok(concernsForge(failure.kind), `${kind} became ${failure.kind}`);
  }
});

test("requests do not wait for a renewal while their token is valid, but do when it is rejected", async () => {
  const load = Promise.withResolvers<Loaded>();
  const loader = { label: "app", minIntervalMs: 60_000, intervalMs: HOUR_MS, load: () => load.promise };
  const clock = new SkippingClock(NOW);
  const keeper = new TokenKeeper(loader, { tokens: ["old"], clock, onTokens: () => {} });
  await keeper.ready(signal, true);
  const waits = keeper.ready(signal, false).then(() => keeper.hasReplaced("old", signal));
  load.resolve({ tokens: [{ token: "new", label: "app" }], validMs: null });
  assert.equal(await waits, true);
});

test("a token that has expired already is a failure, and is not used", async () => {
  for (const validMs of [-HOUR_MS, 0, 9_000]) {
    const loader = {
      label: "app",
      minIntervalMs: 60_000,
      intervalMs: HOUR_MS,
      load: async () => ({ tokens: [{ token: "new", label: "app" }], validMs }),
    };
    const clock = new SkippingClock(NOW);
    const keeper = new TokenKeeper(loader, { tokens: [], clock, onTokens: () => assert.fail() });
    const failure = await keeper.ready(signal).catch((error) => error);
    assert.deepEqual([failure.kind, failure.message], ["refused", "the new token has expired already"]);
    assert.deepEqual(
      keeper.takeNotices().map(({ isWorking }) => isWorking),
      [false],
    );
  }
});

test("a command that cannot even be started is a failure like any other, and its arguments are not shown", async () => {
  const notAFolder = join(folder, "a-file");
  writeFileSync(notAFolder, "");
  for (const command of [
    [join(notAFolder, "program"), "secret-one"],
    ["program", "secret-one\0"],
    ["true", "secret-one".repeat(1_000_000)],
  ]) {
    const { clock, provider } = forgeOf(commandSource(command));
    const failure = await provider.refreshMany([ref], signal).catch((error) => error);
    assert.equal(failure.kind, "refused");
    assert.match(failure.message, /^the command for tokens failed \([A-Z\d_]+\)$/);
    assert.equal(failure.cause, undefined);
    assert.equal(provider.readyAt("refresh"), clock.now() + 30_000);
    assert.equal(provider.quota().at(-1)?.blockReason, "not_renewed");
  }
});

test("a command sees the variables that it was given, and no others", async () => {
  const command = script("environment", 'echo "$SOURCE$SIDEREAL_DATABASE_URL$HOME"');
  const { provider } = forgeOf(commandSource([command], { SOURCE: "one" }));
  assert.equal(await kindOf(provider), "found");
});

test("a pipe instead of the file is refused", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await assert.rejects(tokensOfFile(pipe).load(), /is not a regular file/);
});
