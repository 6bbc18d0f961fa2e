import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { errorOf, invalid, NO_HISTORY } from "../support/answers.js";
import { onBothEngines } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onBothEngines("GET /api/repos/:provider/:owner/:name", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    const counts = { forks: 20, openIssues: 3, watchers: 7 };
    await world.record(
      observation("meta/react", [snapshot(240, 900)], { providerId: "7" }),
      observation("fb/react", [snapshot(168, 1000, counts)], { providerId: "7" }),
      observation(
        "Facebook/React",
        [
          snapshot(24, 1040, counts),
          snapshot(0, 1050, { forks: 25, openIssues: 2, watchers: 7, source: "OBSERVED" }),
        ],
        {
          providerId: "7",
          facts: {
            url: "https://github.com/Facebook/React",
            description: "The library for web and native user interfaces.",
            homepage: "https://react.dev",
            language: "JavaScript",
            license: "MIT",
            topics: ["ui", "frontend"],
            fork: false,
            archived: false,
            createdAt: Date.UTC(2013, 4, 24),
            pushedAt: Date.UTC(2026, 3, 29),
          },
        },
      ),
      observation("group/sub/project", daily(5, 6), { provider: "GITLAB" }),
      observation("by-full-name/tool", daily(3)),
      observation("tools/hammer", [snapshot(48, 1)], { providerId: "8" }),
      observation("by-full-name/hammer", [snapshot(24, 2)], { providerId: "8" }),
      observation("old-group/x/moved", [snapshot(48, 1)], { provider: "GITLAB", providerId: "9" }),
      observation("new-group/y/moved", [snapshot(24, 2)], { provider: "GITLAB", providerId: "9" }),
      observation("lost/forever", daily(40, 41), { facts: { availability: "GONE" } }),
      observation("bare/minimum", [], { facts: {} }),
    );
  });

  test("tells everything about a repository: facts, growth by window, earlier names, quality of its data", async () => {
    const { status, body } = await world.get("/api/repos/github/facebook/react");
    assert.equal(status, 200);
    // How scores and ranks come about has tests of their own.
    assert.ok(body.data.ranks.length > 0);
    delete body.data.ranks;
    const item = (await world.get("/api/repos?q=facebook/react")).body.data[0];
    for (const [field, value] of Object.entries(item)) assert.deepEqual(body.data[field], value, field);
    assert.deepEqual(body.data.trend, body.data.trends["24h"]);
    delete body.data.trend;
    for (const trend of [body.data.trends["24h"], body.data.trends["7d"]]) {
      const judged = ["scores", "confidence", "confidenceReasons", "reliable", "anomalies"];
      assert.deepEqual(Object.keys(trend).slice(-5), judged);
      for (const name of judged) delete trend[name];
    }
    const times = { to: "2026-04-30T12:00:00.000Z" };
    assert.deepEqual(body, {
      data: {
        id: "1",
        provider: "GITHUB",
        owner: "Facebook",
        name: "React",
        fullName: "Facebook/React",
        url: "https://github.com/Facebook/React",
        description: "The library for web and native user interfaces.",
        homepage: "https://react.dev",
        language: "JavaScript",
        license: "MIT",
        topics: ["frontend", "ui"],
        stars: 1050,
        forks: 25,
        openIssues: 2,
        watchers: 7,
        fork: false,
        archived: false,
        availability: "AVAILABLE",
        createdAt: "2013-05-24T00:00:00.000Z",
        pushedAt: "2026-04-29T00:00:00.000Z",
        discoveredAt: "2026-04-20T12:00:00.000Z",
        refreshedAt: "2026-04-30T12:00:00.000Z",
        nextRefreshAt: null,
        lastSeenAt: "2026-04-30T12:00:00.000Z",
        stale: false,
        asOf: "2026-04-30T12:00:00.000Z",
        ageDays: 0,
        trends: {
          "24h": {
            window: "24h",
            from: "2026-04-29T12:00:00.000Z",
            ...times,
            fromSource: "IMPORTED",
            basis: "TOTAL",
            hours: 24,
            parts: [
              {
                basis: "TOTAL",
                from: "2026-04-29T12:00:00.000Z",
                to: "2026-04-30T12:00:00.000Z",
                gained: 10,
              },
            ],
            starsDelta: 10,
            forksDelta: 5,
            openIssuesDelta: -1,
            starsCounted: 10,
            newSince: "CREATED",
            starsGrowth: 10 / 1040,
            usualPerDay: null,
          },
          "7d": {
            window: "7d",
            from: "2026-04-23T12:00:00.000Z",
            ...times,
            fromSource: "IMPORTED",
            basis: "TOTAL",
            hours: 168,
            parts: [
              {
                basis: "TOTAL",
                from: "2026-04-23T12:00:00.000Z",
                to: "2026-04-30T12:00:00.000Z",
                gained: 50,
              },
            ],
            starsDelta: 50,
            forksDelta: 5,
            openIssuesDelta: -1,
            starsCounted: 50,
            newSince: "CREATED",
            starsGrowth: 0.05,
            usualPerDay: null,
          },
          "30d": null,
        },
        history: NO_HISTORY,
        previousFullNames: ["fb/react", "meta/react"],
        dataQuality: {
          snapshots: 4,
          firstSnapshotAt: "2026-04-20T12:00:00.000Z",
          lastSnapshotAt: "2026-04-30T12:00:00.000Z",
          coverage: { "24h": 1, "7d": 1, "30d": 0 },
        },
      },
    });
  });

  test("what is not known is null, never 0", async () => {
    const { body } = await world.get("/api/repos/github/bare/minimum");
    const { topics, ranks, trends, previousFullNames, dataQuality, stale, history, ...facts } = body.data;
    const known = Object.entries(facts).filter(([, value]) => value !== null);
    const now = "2026-04-30T12:00:00.000Z";
    assert.deepEqual(Object.fromEntries(known), {
      ...{ id: facts.id, provider: "GITHUB", owner: "bare", name: "minimum", fullName: "bare/minimum" },
      ...{ url: "https://github.com/bare/minimum", availability: "AVAILABLE" },
      ...{ discoveredAt: now, refreshedAt: now },
    });
    assert.deepEqual([topics, ranks, previousFullNames, stale, history], [[], [], [], false, NO_HISTORY]);
    assert.deepEqual(trends, { "24h": null, "7d": null, "30d": null });
    assert.deepEqual(dataQuality, {
      ...{ snapshots: 0, firstSnapshotAt: null, lastSnapshotAt: null },
      coverage: { "24h": 0, "7d": 0, "30d": 0 },
    });
  });

  test("the forms give the same body and the same tag, whatever the case", async () => {
    const first = await world.get("/api/repos/github/facebook/react");
    for (const path of [
      "/api/repos/GITHUB/Facebook/React",
      "/api/repos/GitHub/FACEBOOK/REACT",
      "/api/repos/github/by-full-name?fullName=facebook/react",
      "/api/repos/github/by-full-name?fullName=Facebook%2FReact",
      "/api/repos/github/by-full-name/facebook/react",
      "/api/repos/github/by-full-name/FaceBook%2FreAct",
      "/api/repos/1",
      "/api/repos/1?window=24h&explain=false",
    ]) {
      const answer = await world.get(path);
      assert.deepEqual(answer.body, first.body, path);
      assert.equal(answer.headers.get("etag"), first.headers.get("etag"), path);
      const again = await world.get(path, { "If-None-Match": first.headers.get("etag") ?? "" });
      assert.equal(again.status, 304, path);
    }
  });

  test("the window chooses which of its trends is the one of a list item", async () => {
    for (const path of ["/api/repos/1", "/api/repos/github/facebook/react"]) {
      for (const window of ["24h", "7d", "30d"]) {
        const { data } = (await world.get(`${path}?window=${window}`)).body;
        assert.deepEqual(data.trend, data.trends[window], window);
      }
    }
    assert.deepEqual(
      errorOf(await world.get("/api/repos/1?window=1y")),
      invalid("window", "must be one of 24h, 7d, 30d", { allowed: ["24h", "7d", "30d"] }),
    );
  });

  test("by id, an unknown one is not found, and another text is refused with the ways by name", async () => {
    for (const id of ["999", "9223372036854775808", "9999999999999999999"])
      assert.deepEqual(
        errorOf(await world.get(`/api/repos/${id}`)),
        { status: 404, code: "NOT_FOUND", message: "No repository has this id." },
        id,
      );
    const message =
      "must be an id of 1 to 19 digits; a repository by name is /api/repos/{provider}/{owner}/{name} or /api/repos/{provider}/by-full-name?fullName={owner}/{name}";
    for (const id of ["react", "facebook%2Freact", "0", "01", "-1", "1e3", "1.0", "tracks"])
      assert.deepEqual(errorOf(await world.get(`/api/repos/${id}`)), invalid("id", message), id);
  });

  test("a name with several slashes as segments is not found, and the response has its address", async () => {
    const moved = await world.get("/api/repos/gitlab/group/sub/project");
    const address = "/api/repos/gitlab/by-full-name?fullName=group%2Fsub%2Fproject";
    assert.deepEqual(errorOf(moved), {
      status: 404,
      code: "NOT_FOUND",
      message: `This address does not exist. A repository whose owner has slashes is requested as ${address}.`,
    });
    assert.equal((await world.get(address)).status, 200);
    for (const path of [
      `/api/repos/gitlab/a/b/${"c".repeat(500)}`,
      "/api/repos/gitlab/a/b/%ff",
      "/api/repos/git%0alab/a/b/c",
      "/api/repos/gitlab/a//c",
    ]) {
      const { status, message } = errorOf(await world.get(path));
      assert.ok(status === 404 || status === 400, path);
      assert.doesNotMatch(message, /requested as/, path);
    }
  });

  test("an owner with slashes is found by every form", async () => {
    for (const path of [
      "/api/repos/gitlab/group%2Fsub/project",
      "/api/repos/gitlab/group%2fsub/project",
      "/api/repos/gitlab/by-full-name?fullName=group/sub/project",
      "/api/repos/gitlab/by-full-name/group/sub/project",
      "/api/repos/gitlab/by-full-name/group%2Fsub%2Fproject",
      "/api/repos/gitlab/by-full-name/group%2Fsub/project",
    ]) {
      const { status, body } = await world.get(path);
      assert.equal(status, 200, path);
      assert.deepEqual([body.data.owner, body.data.name], ["group/sub", "project"]);
    }
  });

  test("a previous name redirects to the current one, in the same form and with the same query", async () => {
    for (const [path, location] of [
      ["/api/repos/github/fb/react", "/api/repos/GITHUB/Facebook/React"],
      ["/api/repos/github/Meta/React?explain=true", "/api/repos/GITHUB/Facebook/React?explain=true"],
      [
        "/api/repos/github/by-full-name?fullName=fb/react&explain=true",
        "/api/repos/GITHUB/by-full-name?fullName=Facebook%2FReact&explain=true",
      ],
      ["/api/repos/github/fb/react?window=7d", "/api/repos/GITHUB/Facebook/React?window=7d"],
      ["/api/repos/github/by-full-name/meta%2Freact", "/api/repos/GITHUB/by-full-name/Facebook/React"],
    ] as const) {
      const { status, headers, body } = await world.get(path);
      assert.equal(status, 301, path);
      assert.equal(headers.get("location"), location);
      assert.deepEqual(body, { data: { location } });
    }
  });

  test("the address a rename leads to answers, also if the owner has slashes or the name of a route", async () => {
    for (const [path, fullName] of [
      ["/api/repos/gitlab/old-group%2Fx/moved", "new-group/y/moved"],
      ["/api/repos/github/tools/hammer", "by-full-name/hammer"],
    ]) {
      const moved = await world.get(path ?? "");
      assert.equal(moved.status, 301);
      const { status, body } = await world.get(moved.headers.get("location") ?? "");
      assert.equal(status, 200, moved.headers.get("location") ?? "");
      assert.equal(body.data.fullName, fullName);
    }
  });

  test("an owner called by-full-name can be reached", async () => {
    for (const path of [
      "/api/repos/github/by-full-name?fullName=by-full-name/tool",
      "/api/repos/github/by-full-name/by-full-name/tool",
    ]) {
      const { status, body } = await world.get(path);
      assert.equal(status, 200, path);
      assert.equal(body.data.fullName, "by-full-name/tool");
    }
  });

  test("a gone repository still answers, marked as such", async () => {
    const { status, body } = await world.get("/api/repos/github/lost/forever");
    assert.equal(status, 200);
    assert.equal(body.data.availability, "GONE");
    assert.equal(body.data.stars, 41);
    assert.equal(body.data.trends["24h"].starsDelta, 1);
  });

  test("an unknown name answers 404, at a known and at an unknown provider", async () => {
    for (const path of [
      "/api/repos/github/no/such",
      "/api/repos/gitlab/facebook/react",
      "/api/repos/nowhere/facebook/react",
      "/api/repos/github/by-full-name?fullName=no/such",
      "/api/repos/github/by-full-name/no/such",
    ]) {
      assert.deepEqual(
        errorOf(await world.get(path)),
        { status: 404, code: "NOT_FOUND", message: "No repository has this name." },
        path,
      );
    }
  });

  test("costs two statements", async () => {
    const counted = countStatements(world.modules.database);
    const { catalog, rankings, live } = buildModules(counted.database, {
      clock: world.clock,
      log: createLog("silent"),
    });
    await live.current();
    const before = counted.statements();
    const found = await catalog.describe("GITHUB", "facebook/react");
    assert.ok(found !== undefined && !found.isPreviousName);
    const { stored, ranks } = await rankings.standing(found.repository.id);
    assert.equal(counted.statements() - before, 2);
    assert.deepEqual(stored, await catalog.snapshotRange(found.repository.id));
    assert.ok(ranks.length > 0);
    assert.deepEqual(await catalog.describeById(found.repository.id), found);
  });

  test("what cannot be a name is refused", async () => {
    const form = "must be of the form owner/name";
    for (const [path, expected] of [
      ["/api/repos/github/by-full-name", invalid("fullName", "is required")],
      ["/api/repos/github/by-full-name?fullName=", invalid("fullName", form)],
      ["/api/repos/github/by-full-name?fullName=react", invalid("fullName", form)],
      ["/api/repos/github/by-full-name?fullName=a//b", invalid("fullName", form)],
      ["/api/repos/github/by-full-name?fullName=a/../b", invalid("fullName", form)],
      ["/api/repos/github/by-full-name?fullName=a%5Cb/c", invalid("fullName", form)],
      [
        "/api/repos/github/by-full-name?fullName=a/b&fullName=c/d",
        invalid("fullName", "may be given only once"),
      ],
      ["/api/repos/github/by-full-name/react", invalid("fullName", form)],
      [`/api/repos/github/by-full-name/${"a/".repeat(22)}b`, invalid("fullName", form)],
      ["/api/repos/github/facebook/a%2Fb", invalid("name", "cannot hold a slash")],
      [
        "/api/repos/git-hub/facebook/react",
        invalid("provider", "must be the name of a provider, such as github, gitlab or codeberg"),
      ],
    ] as const) {
      assert.deepEqual(errorOf(await world.get(path)), expected, path);
    }
  });
});
