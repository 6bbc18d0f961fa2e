import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ForgeKind } from "../../src/config/known-forges.js";
import { openAvatars } from "../../src/forges/avatars.js";
import { colouredPng } from "../support/forge/avatars.js";
import { startForge } from "../support/forge/forge.js";
import { SkippingClock } from "../support/manual-clock.js";
import { settingsOf } from "../support/upstream.js";

const clock = new SkippingClock(Date.UTC(2026, 0, 10));
const signal = new AbortController().signal;
const ends: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

function open(kind: ForgeKind, url: string, { mayBePrivate = true } = {}) {
  const settings = settingsOf(kind, { url, tokens: ["secret"], mayBePrivate });
  const looked: string[] = [];
  const source = openAvatars(settings, {
    clock,
    userAgent: "sidereal-test",
    proxy: undefined,
    transport: {
      // Every name leads to this machine.
      lookup: (name, options, done) => {
        looked.push(name);
        if (options.all === true) done(null, [{ address: "127.0.0.1", family: 4 }]);
        else done(null, "127.0.0.1", 4);
      },
    },
  });
  ends.push(() => source.close());
  return { source, looked, fetch: (address: string) => source.fetch(address, signal) };
}

test("an avatar is fetched from the site itself, without a token", async () => {
  const forge = await startForge({ kind: "forgejo", clock, repositories: 5 });
  ends.push(() => forge.close());
  const tokens: unknown[] = [];
  forge.switches.avatar = ({ token }) => {
    tokens.push(token);
    return undefined;
  };
  const { fetch } = open("forgejo", forge.url);
  assert.deepEqual(await fetch(`${forge.url}/avatars/1`), colouredPng("/avatars/1"));
  assert.deepEqual(tokens, [null]);
});

test("only the hosts of the forge get requests", async () => {
  const github = open("github", "https://github.com", { mayBePrivate: false });
  for (const address of [
    "https://github.com.evil.example/a.png",
    "https://evil.example/a.png",
    "https://secure.gravatar.com/avatar/1",
    "http://avatars.githubusercontent.com/u/1",
    "https://user:pass@avatars.githubusercontent.com/u/1",
    "https://avatars.githubusercontent.com:8443/u/1",
    "https://raw.githubusercontent.com/a/b/c.png",
    "https://127.0.0.1/a.png",
    "ftp://github.com/a.png",
    "data:image/png;base64,AAAA",
    "file:///etc/passwd",
    "not an address",
  ])
    assert.equal(await github.fetch(address), null, address);
  assert.deepEqual(github.looked, []);
  for (const address of [
    "https://avatars.githubusercontent.com/u/1",
    "https://avatars3.githubusercontent.com/u/1",
  ])
    await assert.rejects(github.fetch(address), { kind: "unreachable" });
  assert.deepEqual(github.looked, ["avatars.githubusercontent.com", "avatars3.githubusercontent.com"]);
});

test("a host of images is never in a private network, even if the forge is", async () => {
  const { fetch } = open("github", "https://git.example");
  await assert.rejects(fetch("https://avatars.git.example/u/1"), /not on the public internet/);
});

test("a forge under an address has no host of images", async () => {
  const { fetch } = open("github", "http://127.0.0.1:9");
  assert.equal(await fetch("https://avatars.127.0.0.1/u/1"), null);
});

test("an address follows from the name of an owner on GitHub alone, and only from one that GitHub allows", () => {
  const { addressOf } = open("github", "https://github.com").source;
  assert.equal(addressOf("octo-cat"), "https://github.com/octo-cat.png");
  for (const owner of ["a/b", "..", "a?b", "a#b", "é", "", "a".repeat(101), "a.b@c"])
    assert.equal(addressOf(owner), null, owner);
  for (const kind of ["gitlab", "forgejo", "gogs"] as const)
    assert.equal(open(kind, "https://git.example").source.addressOf("octo"), null);
});

test("a small image is requested if the forge makes one", async () => {
  const asked: string[] = [];
  for (const kind of ["github", "gitlab", "forgejo"] as const) {
    const forge = await startForge({ kind, clock, repositories: 5 });
    ends.push(() => forge.close());
    forge.switches.avatar = ({ query }) => {
      asked.push(`${kind} ${query}`);
      return undefined;
    };
    await open(kind, forge.url).fetch(`${forge.url}/avatars/1?v=4`);
  }
  assert.deepEqual(asked, ["github v=4&s=80", "gitlab v=4&width=96", "forgejo v=4&size=80"]);
});

test("a response that is too long is cut off, and a host with a rate limit says until when", async () => {
  const forge = await startForge({ kind: "gitlab", clock, repositories: 5 });
  ends.push(() => forge.close());
  const { fetch } = open("gitlab", forge.url);
  forge.switches.avatar = () => ({ bytes: Buffer.alloc(600 * 1024) });
  await assert.rejects(fetch(`${forge.url}/avatars/1`), { kind: "malformed" });
  forge.switches.avatar = () => ({ status: 429, headers: { "retry-after": "90" }, bytes: Buffer.alloc(0) });
  await assert.rejects(fetch(`${forge.url}/avatars/1`), { kind: "quota", until: clock.now() + 90_000 });
  for (const status of [404, 410, 451]) {
    forge.switches.avatar = () => ({ status, bytes: Buffer.alloc(0) });
    assert.equal(await fetch(`${forge.url}/avatars/1`), null, `${status}`);
  }
  for (const status of [204, 206, 400, 403, 500, 503]) {
    forge.switches.avatar = () => ({ status, bytes: Buffer.alloc(0) });
    await assert.rejects(fetch(`${forge.url}/avatars/1`), { name: "UpstreamFailure" }, `${status}`);
  }
});
