import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ForgeKind } from "../../src/config/known-forges.js";
import type { Provider } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createGithub } from "../../src/forges/github/github.js";
import { CREATE } from "../../src/forges/open-provider.js";
import { ManualClock } from "../support/manual-clock.js";
import { type Scripted, scripted, settingsOf } from "../support/upstream.js";
import { NOW } from "../support/world.js";

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const { signal } = new AbortController();

/** A provider of a scripted forge, with one token; time passes while it waits for its turn. */
function open(kind: ForgeKind, answer: (path: string) => Scripted) {
  const clock = new ManualClock(NOW);
  const fetch = scripted(answer);
  const provider = CREATE[kind](settingsOf(kind, { tokens: [TOKEN] }), { fetch, clock });
  const pass = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) {
      clock.advance(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  };
  return { provider, fetch, pass };
}

const check = (kind: ForgeKind, answer: (path: string) => Scripted) => {
  const { provider, pass } = open(kind, answer);
  return pass(provider.checkToken(signal));
};
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof UpstreamFailure ? error.kind : error),
  );

describe("What a forge says about a token", () => {
  test("GitHub: owner, scopes, limits and the end of its validity, with the token sent to it alone", async () => {
    const { provider, fetch, pass } = open("github", (path) =>
      path.endsWith("/rate_limit")
        ? { body: { resources: { core: { limit: 5_000, remaining: 4_321, reset: 1 } } } }
        : {
            headers: {
              "x-oauth-scopes": "repo, read:org",
              "github-authentication-token-expiration": "2026-08-01 12:00:00 UTC",
            },
            body: { login: "octo-bot" },
          },
    );
    assert.deepEqual(await pass(provider.checkToken(signal)), {
      owner: "octo-bot",
      scopes: ["repo", "read:org"],
      limit: 5_000,
      remaining: 4_321,
      expiresAt: Date.UTC(2026, 7, 1, 12),
    });
    assert.deepEqual(
      fetch.sent.map(({ headers }) => headers.authorization),
      [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
    );
  });

  test("GitHub: a token of an App, and an instance without limits, are accepted with less known", async () => {
    const found = await check("github", (path) =>
      path.endsWith("/rate_limit") ? { status: 404 } : { status: 403 },
    );
    assert.deepEqual(found, { owner: null, scopes: null, limit: null, remaining: null, expiresAt: null });
  });

  test("GitLab names the token itself; Forgejo and Gogs its owner", async () => {
    const gitlab = await check("gitlab", () => ({
      headers: { "ratelimit-limit": "2000", "ratelimit-remaining": "1999" },
      body: { name: "tracker", scopes: ["read_api"], expires_at: "2026-12-31", active: true },
    }));
    assert.deepEqual(gitlab, {
      owner: "tracker",
      scopes: ["read_api"],
      limit: 2_000,
      remaining: 1_999,
      expiresAt: Date.UTC(2026, 11, 31),
    });
    for (const kind of ["forgejo", "gogs"] as const) {
      const found = await check(kind, (path) =>
        path.includes("/user") ? { body: { login: "berg" } } : { body: { ok: true, data: [] } },
      );
      assert.deepEqual(found, { owner: "berg", scopes: null, limit: null, remaining: null, expiresAt: null });
    }
  });

  test("a token that is rejected, has no permission or finds no forge fails with its reason", async () => {
    for (const kind of ["github", "gitlab", "forgejo", "gogs"] as const) {
      assert.equal(
        await kindOf(check(kind, () => ({ status: 401, body: { message: "Bad credentials" } }))),
        "refused",
      );
      assert.equal(await kindOf(check(kind, () => ({ status: 500 }))), "unreachable");
      assert.equal(
        await kindOf(check(kind, () => ({ status: 429, headers: { "retry-after": "60" } }))),
        "quota",
      );
    }
    assert.equal(
      await kindOf(check("forgejo", () => ({ status: 403, body: { message: "scope" } }))),
      "refused",
    );
  });

  test("a lying forge gets nothing through: no markup, no token, no endless lists, no impossible numbers", async () => {
    const echo = () => ({ body: { login: TOKEN, name: TOKEN, resources: {} } });
    for (const kind of ["github", "gitlab", "forgejo"] as const)
      assert.equal(await kindOf(check(kind, echo)), "malformed", `${kind} repeats the token`);
    const found = await check("github", () => ({
      headers: {
        "x-oauth-scopes": `<script>alert(1)</script>, ok:scope, ${"s".repeat(500)}, ${"many,".repeat(500)}`,
        "github-authentication-token-expiration": "99999-01-01",
      },
      body: {
        login: `a\u202e\u0000${"x".repeat(500)}`,
        resources: { core: { limit: -1, remaining: 1e300 } },
      },
    }));
    assert.ok((found.scopes ?? []).length <= 50);
    assert.ok(found.scopes?.every((scope) => /^[\w:.-]{1,60}$/.test(scope)));
    assert.ok(found.scopes?.includes("ok:scope"));
    assert.deepEqual([found.owner, found.limit, found.remaining, found.expiresAt], [null, null, null, null]);
    const words = await check("github", () => ({
      status: 401,
      body: { message: `token ${TOKEN} <b>bad</b>` },
    })).catch((error: UpstreamFailure) => error);
    assert.ok(words instanceof UpstreamFailure && !words.message.includes(TOKEN));
  });
});

describe("The README of a repository", () => {
  const file = (text: string) => ({ content: Buffer.from(text).toString("base64"), encoding: "base64" });
  /** A public repository as each forge describes it, under its new name. */
  const body = {
    ...{ id: 7, full_name: "group/list", path_with_namespace: "group/list", private: false },
    ...{ html_url: "https://forge.example/group/list", stargazers_count: 1, star_count: 1, stars_count: 1 },
  };
  /** The README of `old/list`, which is `group/list` now, from a forge with these responses to other requests. */
  const readmeOf = async (kind: ForgeKind, answer: (path: string) => Scripted) => {
    const { provider, pass } = open(kind, (path) => (/old(\/|%2F)list/.test(path) ? { body } : answer(path)));
    return pass(provider.readme("old/list", signal));
  };

  test("is read through the API of every forge, under the name that it has", async () => {
    assert.equal(
      await readmeOf("github", (path) =>
        path.endsWith("/repos/group/list/readme") ? { body: file("# Äwesome") } : { status: 404 },
      ),
      "# Äwesome",
    );
    for (const kind of ["gitlab", "forgejo", "gogs"] as const) {
      const read = await readmeOf(kind, (path) =>
        /group(\/|%2F)list\/.*(README\.rst|README%2Erst)/.test(path)
          ? { body: file("rst") }
          : { status: 404 },
      );
      assert.equal(read, "rst");
      assert.equal(await kindOf(readmeOf(kind, () => ({ status: 404 }))), "gone");
    }
    assert.equal(await kindOf(readmeOf("github", () => ({ status: 404 }))), "gone");
  });

  test("that is empty, too long for the forge or no file is malformed", async () => {
    for (const body of [file(""), { content: "", encoding: "none" }, [], "text", null])
      assert.equal(await kindOf(readmeOf("github", () => ({ body }))), "malformed", JSON.stringify(body));
    const { provider, pass } = open("github", () => ({}));
    assert.equal(await kindOf(pass(provider.readme("../../user", signal))), "gone", "not a name");
  });
});

describe("Tokens that are entered while a provider runs", () => {
  const repository = (path: string): Scripted => ({
    status: 404,
    headers: path.includes("limited") ? { "x-ratelimit-limit": "10" } : {},
  });
  const ask = (provider: Provider) => provider.refreshOne("o/n", signal).catch(() => undefined);

  test("are used besides those of the settings, each once, and not after they were removed", async () => {
    const { provider, fetch, pass } = open("github", repository);
    provider.useEntered([
      { token: "entered-token-number-one", label: "page #1" },
      { token: TOKEN, label: "page #2" },
    ]);
    for (let i = 0; i < 4; i++) await pass(ask(provider));
    const used = fetch.sent.map(({ headers }) => headers.authorization ?? "");
    assert.deepEqual(new Set(used), new Set([`Bearer ${TOKEN}`, "Bearer entered-token-number-one"]));
    assert.deepEqual(
      provider
        .quota()
        .map(({ token }) => token)
        .sort(),
      ["#1", "page #1"],
    );
    provider.useEntered([]);
    for (let i = 0; i < 3; i++) await pass(ask(provider));
    assert.deepEqual(
      [...new Set(fetch.sent.slice(4).map(({ headers }) => headers.authorization))],
      [`Bearer ${TOKEN}`],
    );
  });

  test("turn anonymous requests into ones with a token, with larger batches, and back", async () => {
    const clock = new ManualClock(NOW);
    const fetch = scripted(repository);
    const provider = createGithub(settingsOf("github"), { fetch, clock });
    const small = provider.batchSize;
    await ask(provider);
    provider.useEntered([{ token: TOKEN, label: "page #1" }]);
    assert.ok(provider.batchSize > small);
    clock.advance(1_000);
    await ask(provider);
    provider.useEntered([]);
    clock.advance(1_000);
    await ask(provider);
    assert.deepEqual(
      fetch.sent.map(({ headers }) => headers.authorization),
      [undefined, `Bearer ${TOKEN}`, undefined],
    );
    assert.equal(provider.batchSize, small);
  });

  test("that are rejected are named, and the others go on", async () => {
    const clock = new ManualClock(NOW);
    const fetch = scripted((_, { headers }) => ({
      status: headers?.authorization === "Bearer entered-token-number-one" ? 401 : 404,
    }));
    const provider = createGithub(settingsOf("github", { tokens: [TOKEN] }), { fetch, clock });
    provider.useEntered([{ token: "entered-token-number-one", label: "page #7" }]);
    for (let i = 0; i < 3; i++) {
      clock.advance(1_000);
      await ask(provider);
    }
    const rejected = provider.quota().filter(({ blockReason }) => blockReason === "rejected");
    assert.deepEqual([...new Set(rejected.map(({ token }) => token))], ["page #7"]);
    assert.ok(provider.notices().some(({ token, isWorking }) => token === "page #7" && !isWorking));
  });
});
