import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { UpstreamRepository } from "../../src/forges/contract.js";
import { FAILURE_KINDS, type FailureKind } from "../../src/forges/failures.js";
import { restRepository } from "../../src/forges/github/repository.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { realData } from "../support/data.js";
import { failureOf, github, NOW, ref, type Scripted, scriptedFetch } from "../support/github.js";

const header = z.union([z.string(), z.array(z.string())]).transform(String);
const exchange = z.object({
  request: z.object({ method: z.string(), url: z.string() }),
  response: z.object({ status: z.int(), headers: z.record(z.string(), header), body: z.unknown() }),
});
type Exchange = z.output<typeof exchange>;

const skip = existsSync(realData("fixtures", "github"))
  ? false
  : "the recorded exchanges are not here: set SIDEREAL_TEST_DATA to a folder with fixtures/github";

function recorded(name: string): Exchange[] {
  const bytes = readFileSync(realData("fixtures", "github", name));
  const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => exchange.parse(JSON.parse(line)));
}

const NEVER = new AbortController().signal;

/** As recorded, except for headers that are templates of the recording tool. */
function answerOf({ response: { status, headers, body } }: Exchange): Scripted {
  const real = Object.entries(headers).filter(
    ([name, value]) => !value.includes("{{") && !/encoding|length/i.test(name),
  );
  return { status, headers: Object.fromEntries(real), body: body === null ? "" : body };
}

function assertSane(repository: UpstreamRepository): void {
  assert.match(repository.providerId, /^\d+$/);
  assert.ok(repository.owner !== "" && repository.name !== "");
  assert.match(repository.url, /^https?:\/\//);
  for (const value of [
    repository.stars,
    repository.forks ?? 0,
    repository.openIssues ?? 0,
    repository.watchers ?? 0,
  ])
    assert.ok(Number.isSafeInteger(value) && value >= 0);
  for (const time of [repository.createdAt, repository.pushedAt]) {
    if (time !== null) assert.ok(time > Date.UTC(2007, 0, 1) && time < NOW + DAY_MS);
  }
}

/** Required fields; recordings of 2012 have another name for stars, and some contain only a few fields. */
const essential = z.object({
  full_name: z.string(),
  html_url: z.url(),
  stargazers_count: z.int(),
  private: z.boolean(),
});

test("every recorded repository becomes a record with its numbers, unless it is private", {
  skip,
}, async () => {
  let found = 0;
  for (const one of recorded("repo.jsonl.gz")) {
    const expected = essential.safeParse(one.response.body).data;
    const call = github(scriptedFetch(() => answerOf(one))).refreshOne("octo/seven", NEVER);
    if (expected === undefined || expected.private) {
      assert.equal(
        (await failureOf(call)).kind,
        expected?.private ? "private" : "malformed",
        one.request.url,
      );
      continue;
    }
    const repository = await call;
    assertSane(repository);
    assert.equal(repository.stars, expected.stargazers_count);
    assert.equal(`${repository.owner}/${repository.name}`, expected.full_name);
    found++;
  }
  assert.ok(found > 250, `${found} records`);
});

test("every recorded homepage is kept, with and without a scheme; a sentence is none", { skip }, () => {
  const row = z.object({ id: z.int(), full_name: z.string(), homepage: z.string() });
  const bare = new Map<string, string | null>();
  const read = (document: unknown): void => {
    if (typeof document !== "object" || document === null) return;
    for (const value of Object.values(document)) read(value);
    const homepage = row.safeParse(document).data?.homepage.trim() ?? "";
    const kept = restRepository.safeParse(document).data?.homepage;
    if (homepage === "" || kept === undefined) return;
    if (/^https?:/i.test(homepage)) assert.equal(kept, new URL(homepage).href);
    else bare.set(homepage, kept);
  };
  for (const name of ["repo.jsonl.gz", "list.jsonl.gz", "search.jsonl.gz", "forks.jsonl"]) {
    for (const { response } of recorded(name)) read(response.body);
  }
  assert.equal(bare.get("www.gradle.org"), "www.gradle.org");
  for (const [homepage, kept] of bare) assert.equal(kept, homepage.includes(" ") ? null : homepage);
});

test("recorded searches are pages of a walk, without watchers", { skip }, async () => {
  for (const one of recorded("search.jsonl.gz")) {
    const provider = github(scriptedFetch(() => answerOf(one)));
    const isModern = one.request.url.includes("/search/repositories");
    if (!isModern) {
      const failure = await failureOf(provider.discover(null, NEVER));
      assert.equal(failure.kind, "malformed");
      continue;
    }
    const { items } = z.object({ items: z.array(z.unknown()) }).parse(one.response.body);
    const { repositories } = await provider.discover(null, NEVER);
    assert.equal(repositories.length, items.length, one.request.url);
    for (const repository of repositories) {
      assertSane(repository);
      assert.equal(repository.watchers, null);
    }
  }
});

/** The failure for each status; 403 is a limit or a missing permission, see below. */
const KINDS: Record<number, FailureKind> = {
  401: "refused",
  404: "gone",
  429: "quota",
  502: "unreachable",
  503: "unreachable",
};

test("every recorded error is the right failure", { skip }, async () => {
  const kinds = new Set<string>();
  for (const one of recorded("errors-redirects.jsonl")) {
    const { status, headers, body } = one.response;
    if (status === 301) continue;
    const provider = github(scriptedFetch(() => answerOf(one)));
    if (status === 304) {
      const [outcome] = await provider.refreshMany([ref({ etag: '"known"' })], NEVER);
      assert.equal(outcome?.kind, "unchanged");
      continue;
    }
    const failure = await failureOf(provider.refreshOne("octo/seven", NEVER));
    const isLimit = headers["Retry-After"] !== undefined || headers["X-RateLimit-Remaining"] === "0";
    const isSlowedDown = /secondary rate limit/.test(JSON.stringify(body));
    const expected = status === 403 ? (isLimit || isSlowedDown ? "quota" : "refused") : KINDS[status];
    assert.equal(failure.kind, expected, `${status} ${one.request.url}`);
    if (failure.kind === "quota") {
      assert.ok((failure.until ?? 0) > NOW, one.request.url);
      assert.ok(provider.readyAt("history") > NOW);
    }
    kinds.add(`${status} ${failure.kind}`);
  }
  assert.deepEqual([...kinds].sort(), [
    "401 refused",
    "403 quota",
    "403 refused",
    "404 gone",
    "429 quota",
    "502 unreachable",
    "503 unreachable",
  ]);
});

test("a recorded rename is followed by id, and never to another address", { skip }, async () => {
  const [repository] = recorded("repo.jsonl.gz").filter(({ response }) =>
    JSON.stringify(response.body).includes("node_id"),
  );
  for (const one of recorded("errors-redirects.jsonl").filter(({ response }) => response.status === 301)) {
    const fetch = scriptedFetch(({ url }) =>
      url.pathname.startsWith("/repos/") || repository === undefined ? answerOf(one) : answerOf(repository),
    );
    const call = github(fetch, { tokens: ["secret"] }).refreshOne("octo/old", NEVER);
    const location = one.response.headers.Location ?? one.response.headers.location ?? "";
    if (/^https:\/\/api\.github\.com\/repositories\/\d+$/.test(location)) {
      assertSane(await call);
      assert.equal(fetch.sent[1]?.url.href, location);
    } else {
      assert.equal((await failureOf(call)).kind, "renamed");
      assert.equal(fetch.sent.length, 1);
    }
  }
});

test("recorded responses of other endpoints are failures of the closed list, never records", {
  skip,
}, async () => {
  for (const name of ["rate_limit.jsonl", "graphql.jsonl"]) {
    for (const one of recorded(name)) {
      const provider = github(
        scriptedFetch(() => answerOf(one)),
        { tokens: ["secret"] },
      );
      for (const call of [
        provider.refreshOne("octo/seven", NEVER),
        provider.refreshMany([ref()], NEVER),
        provider.discover(null, NEVER),
        provider.history(ref(), null, NEVER),
      ]) {
        const failure = await failureOf(call);
        assert.ok(FAILURE_KINDS.includes(failure.kind));
        assert.doesNotMatch(failure.message, /secret/);
      }
    }
  }
});
