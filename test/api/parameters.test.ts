import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, SITE_SETTINGS, signIn } from "../support/members.js";
import { document } from "../support/openapi.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: {
    type: string;
    enum?: string[];
    minimum?: number;
    maximum?: number;
    maxLength?: number;
    default?: unknown;
  };
}

const TIMES = ["createdAfter", "createdBefore", "pushedAfter"];
const WRONG_TIMES = [
  "",
  "now",
  "2026-02-30",
  "2026-13-01",
  "2026-4-1",
  "2026-04-30T12:00",
  "2026-04-30T25:00:00Z",
  "1714478400000",
];

/** Lists by id and name. */
const REFERENCE_RULES = {
  id: "ids of 1 to 19 digits without a leading 0",
  fullName: "of the form owner/name or provider:owner/name",
};

onSqliteAndLong("Every documented query parameter", (engine) => {
  let world: World;
  const mailbox = openMailbox();
  let headers: Record<string, string>;
  /** For streams and the usage of a key, which need a key. */
  let keyed: Record<string, string>;
  /** Each query parameter of the contract with a path that takes it. */
  let parameters: { path: string; parameter: Parameter }[];
  const ask = async (path: string, query: [string, string][]) => {
    const joint = path.includes("?") ? "&" : "?";
    const credentials = /^\/api\/(?:repos\.(?:ndjson|csv)|key\/usage)/.test(path) ? keyed : headers;
    const asJson = { Accept: "application/json", ...credentials };
    return world.get(`${path}${joint}${new URLSearchParams(query)}`, asJson);
  };

  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, ...SITE_SETTINGS });
    const member = await signIn(world, mailbox, "ann@example.org");
    headers = member.headers;
    // Young, and with more stars and forks than the day before, so that both are in every ranking.
    const more = {
      language: "Go",
      topics: ["web"],
      license: "MIT",
      createdAt: NOW - 5 * DAY_MS,
      pushedAt: NOW,
    };
    for (const name of ["a/big", "b/c++"]) {
      const snapshots = [96, 72, 48, 24]
        .map((hours) => snapshot(hours, 50, { forks: 5 }))
        .concat(snapshot(0, 190, { forks: 19 }));
      await world.record(observation(name, snapshots, { facts: more }));
    }
    await world.send("POST", "/api/me/watchlist", { ids: ["1", "2"] }, headers);
    const { body } = await world.send("POST", "/api/watchlists", { ids: ["1", "2"] });
    const created = await createKey(world, member);
    keyed = { "X-API-Key": created.key };
    const values: Record<string, string> = {
      provider: "github",
      owner: "a",
      name: "big",
      fullName: "a/big",
      id: "1",
      site: "github",
      ranking: "trending",
      repo: "github:a/big",
      token: body.data.shareToken,
      keyId: created.id,
    };
    parameters = Object.entries(document.paths).flatMap(([pattern, operations]) => {
      const given = (operations.get as { parameters?: Parameter[] } | undefined)?.parameters ?? [];
      const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "x");
      return given
        .filter(({ in: place }) => place === "query")
        .map((parameter) => {
          const others = given.filter(
            ({ required, name, in: place }) => required && place === "query" && name !== parameter.name,
          );
          const query = others.map(({ name }) => `${name}=${values[name]}`).join("&");
          return { path: query === "" ? path : `${path}?${query}`, parameter };
        });
    });
    assert.ok(parameters.length > 30);
  });

  test("a value that is not among the allowed ones is refused with all of those", async () => {
    for (const { path, parameter } of parameters) {
      const allowed = parameter.schema.enum;
      if (allowed === undefined) continue;
      const expected = invalid(parameter.name, `must be one of ${allowed.join(", ")}`, { allowed });
      const [first = ""] = allowed;
      // Rankings and sorts are accepted in any case.
      const isInAnyCase = ["sort", "ranking"].includes(parameter.name);
      for (const value of [
        "",
        "none",
        isInAnyCase || first.toUpperCase() === first ? "x" : first.toUpperCase(),
        `${first} `,
      ]) {
        assert.deepEqual(errorOf(await ask(path, [[parameter.name, value]])), expected, `${path} ${value}`);
      }
      const needsQuery = parameter.name === "sort" && allowed.includes("relevance");
      for (const value of allowed) {
        const query: [string, string][] = [
          [parameter.name, value],
          ...(needsQuery ? [["q", "a"] as [string, string]] : []),
        ];
        assert.equal((await ask(path, query)).status, 200, `${path} ${parameter.name}=${value}`);
      }
    }
  });

  test("a number outside its range, or none, is refused with the range", async () => {
    for (const { path, parameter } of parameters) {
      const { minimum, maximum, type } = parameter.schema;
      if (type !== "integer" || minimum === undefined || maximum === undefined) continue;
      const expected = invalid(parameter.name, `must be a whole number from ${minimum} to ${maximum}`);
      for (const value of [
        minimum - 1,
        maximum + 1,
        "",
        "x",
        "1.5",
        "1e2",
        "0x1",
        " 1",
        "+1",
        "١",
        "9".repeat(30),
      ]) {
        const answer = await ask(path, [[parameter.name, String(value)]]);
        assert.deepEqual(errorOf(answer), expected, `${path} ${parameter.name}=${value}`);
      }
      assert.equal((await ask(path, [[parameter.name, String(minimum)]])).status, 200);
      if (parameter.name !== "page")
        assert.equal((await ask(path, [[parameter.name, String(maximum)]])).status, 200);
    }
  });

  test("a text that is too long, or of another form, is refused", async () => {
    const long = (length: number) => "x".repeat(length);
    for (const { path, parameter } of parameters) {
      const { name, schema } = parameter;
      const { maxLength } = schema;
      const wrong: [string[], ReturnType<typeof invalid>][] = [];
      if (name === "q")
        wrong.push([[long((maxLength ?? 0) + 1)], invalid(name, `must be at most ${maxLength} characters`)]);
      if (name === "license") {
        wrong.push([["", long(101)], invalid(name, "must be 1 to 100 characters")]);
        wrong.push([["a\u0001b"], invalid(name, "must not contain control characters")]);
      }
      if (name === "repo" && path.startsWith("/api/metrics"))
        wrong.push([
          ["x", "", "a/b/", "01", "github:x"],
          invalid(name, "must be ids, or names of the form owner/name or provider:owner/name"),
        ]);
      else if (name === "repo") {
        const times = schema.type === "array" ? ", 1 to 6 times" : "";
        wrong.push([
          ["", "a/b", "github:", "github:a", "github:a/b/", ":a/b", "git hub:a/b", "github:a/b\u0001"],
          invalid(name, `must be of the form provider:owner/name${times}`),
        ]);
      } else if (name === "id" || name === "fullName") {
        if (schema.type === "array")
          wrong.push([
            ["x", "", "a/b/", `${long(300)}/${long(101)}`],
            invalid(name, `must be ${REFERENCE_RULES[name]}`),
          ]);
      } else if (schema.type === "array")
        wrong.push([
          ["", long(101), "a\u0001b"],
          invalid(name, "must be 1 to 100 characters, at most 20 times"),
        ]);
      if (TIMES.includes(name))
        wrong.push([
          WRONG_TIMES,
          invalid(name, "must be a day (2026-04-30) or a time with a zone (2026-04-30T12:00:00Z)"),
        ]);
      if (name === "provider")
        wrong.push([
          ["", "-", "1st", "git hub", long(33), "gith%75b"],
          invalid(name, "must be the name of a provider, such as github, gitlab or codeberg"),
        ]);
      if (name === "fullName" && schema.type !== "array")
        wrong.push([
          ["x", "", "a/b/", `${long(300)}/${long(101)}`],
          invalid(name, "must be of the form owner/name"),
        ]);
      for (const [values, expected] of wrong) {
        for (const value of values) {
          const answer = errorOf(await ask(path, [[name, value]]));
          assert.deepEqual(
            [answer.status, answer.code],
            [400, "VALIDATION_FAILED"],
            `${path} ${name}=${value}`,
          );
          // A text that is too long may be told so before its form is looked at.
          const found = answer.details.map((detail: { message: string }) => detail.message);
          assert.equal(answer.details[0].parameter, name);
          assert.ok(
            found.includes(expected.details[0]?.message) || value.length > 400,
            `${path} ${name}=${value}: ${found}`,
          );
        }
      }
    }
  });

  test("a cursor that was not made here is refused", async () => {
    for (const { path, parameter } of parameters) {
      // Those of events are ids.
      if (parameter.name !== "cursor" || path === "/api/me/events") continue;
      const first = await ask(path, [
        ["limit", "1"],
        ["sort", "stars"],
      ]);
      const genuine: string = first.body.meta.nextCursor;
      const [name, , id] = JSON.parse(Buffer.from(genuine, "base64url").toString());
      const forged = [
        [name, 1.5, id],
        [name, 1e300, id],
        [name, "1", id],
        [name, 1, -1],
        [name, null, id],
        [name, 1, id, 1],
        ["other", 1, id],
        { 0: name, 1: 1, 2: id },
      ].map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"));
      for (const cursor of ["", "x", "null", "🚀", genuine.slice(0, -3), ...forged]) {
        const answer = errorOf(
          await ask(path, [
            ["limit", "1"],
            ["sort", "stars"],
            ["cursor", cursor],
          ]),
        );
        assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], cursor);
        assert.equal(answer.details[0].parameter, "cursor");
      }
      assert.equal(errorOf(await ask(path, [["cursor", "x".repeat(301)]])).status, 400);
      const both = await ask(path, [
        ["limit", "1"],
        ["sort", "stars"],
        ["cursor", genuine],
        ["page", "2"],
      ]);
      assert.deepEqual(errorOf(both), invalid("page", "cannot be given together with cursor"));
    }
  });

  test("one that takes a single value is refused when it is repeated", async () => {
    for (const { path, parameter } of parameters) {
      const { name, schema } = parameter;
      const texts: Record<string, string> = { fullName: "a/big", id: "1", repo: "github:a/big" };
      const value = String(schema.enum?.[0] ?? schema.minimum ?? texts[name] ?? "github");
      const answer = await ask(path, [
        [name, value],
        [name, value],
      ]);
      if (schema.type === "array") assert.equal(answer.status, 200, name);
      else assert.deepEqual(errorOf(answer), invalid(name, "may be given only once"), `${path} ${name}`);
    }
    const many = Array.from({ length: 21 }, (_, i): [string, string] => ["topic", `t${i}`]);
    assert.equal((await ask("/api/repos", many.slice(1))).status, 200);
    assert.deepEqual(
      errorOf(await ask("/api/repos", many)),
      invalid("topic", "must be 1 to 100 characters, at most 20 times"),
    );
  });

  test("several faults are told together", async () => {
    const { status, code, details } = errorOf(await world.get("/api/repos?sort=x&limit=0&window=1h"));
    assert.deepEqual([status, code], [400, "VALIDATION_FAILED"]);
    assert.deepEqual(
      details.map((detail: { parameter: string }) => detail.parameter),
      ["sort", "window", "limit"],
    );
  });

  test("relevance without a search is refused, with the sorts there are without one", async () => {
    const sort = parameters.find(({ path, parameter }) => path === "/api/repos" && parameter.name === "sort");
    const allowed = sort?.parameter.schema.enum?.filter((name) => name !== "relevance") ?? [];
    for (const query of ["sort=relevance", "sort=relevance&q=", "sort=relevance&q=%20"]) {
      assert.deepEqual(
        errorOf(await world.get(`/api/repos?${query}`)),
        invalid("sort", `relevance needs q; without it, one of ${allowed.join(", ")}`, { allowed }),
      );
    }
  });

  test("a page beyond row 10,000 is refused with the way to go further", async () => {
    const expected = invalid("page", "page × limit may be at most 10000; use cursor to go further");
    const withoutCursor = invalid("page", "page × limit may be at most 10000");
    const paths = parameters.filter(({ parameter }) => parameter.name === "page").map(({ path }) => path);
    assert.ok(paths.length >= 4);
    for (const path of paths) {
      for (const query of ["page=101&limit=100", "page=401", "page=10000&limit=2"]) {
        const answer = path.startsWith("/api/facets/") ? withoutCursor : expected;
        assert.deepEqual(errorOf(await world.get(`${path}?${query}`, headers)), answer, path);
      }
      for (const query of ["page=100&limit=100", "page=400", "page=10000&limit=1"]) {
        const { status, body } = await world.get(`${path}?${query}`, headers);
        assert.deepEqual([status, body.data], [200, []], path);
      }
    }
    assert.deepEqual(errorOf(await world.get("/api/repos?q=%22%22&page=401")), expected);
  });

  test("a search has at most 200 characters, however many bytes", async () => {
    for (const letter of ["a", "é", "🚀", "字"]) {
      assert.equal((await ask("/api/repos", [["q", letter.repeat(200)]])).status, 200);
      assert.deepEqual(
        errorOf(await ask("/api/repos", [["q", letter.repeat(201)]])),
        invalid("q", "must be at most 200 characters"),
      );
    }
  });
});
