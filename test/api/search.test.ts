import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { NAMED } from "../support/named.js";
import { examples, fc } from "../support/properties.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("GET /api/search/suggest", (engine) => {
  let world: World;
  const suggest = async (q: string, more = "") => {
    const { status, body } = await world.get(`/api/search/suggest?q=${encodeURIComponent(q)}${more}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  };
  const names = async (q: string, more = ""): Promise<string[]> =>
    (await suggest(q, more)).repositories.map((repository: { fullName: string }) => repository.fullName);

  before(async () => {
    world = await createWorld(engine);
    await world.record(...NAMED);
  });

  test("says what a repository gained in 7 days", async () => {
    const own = await createWorld(engine);
    await own.record(observation("acme/kite", daily(100, 101, 103, 106, 110, 115, 121, 128)));
    const { body } = await own.get("/api/search/suggest?q=kite");
    assert.equal(body.data.repositories[0].starsDelta7d, 28);
  });

  test("suggests whole records of each kind", async () => {
    const { status, headers, body } = await world.get("/api/search/suggest?q=rea&limit=1");
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "public, max-age=30, stale-while-revalidate=60");
    assert.deepEqual(body, {
      data: {
        repositories: [
          {
            id: "1",
            provider: "GITHUB",
            fullName: "facebook/react",
            description: "A library.",
            language: "JavaScript",
            stars: 1000,
            lastSeenAt: "2026-04-30T12:00:00.000Z",
            stale: false,
            starsDelta7d: null,
            renamedFrom: null,
            ownerImage: null,
          },
        ],
        untracked: null,
        languages: [],
        topics: [],
      },
    });
    assert.deepEqual(await suggest("g"), {
      repositories: [
        {
          id: "5",
          provider: "GITHUB",
          fullName: "god/engine",
          description: null,
          language: "C++",
          stars: 310,
          lastSeenAt: "2026-04-30T12:00:00.000Z",
          stale: false,
          starsDelta7d: null,
          renamedFrom: null,
          ownerImage: null,
        },
      ],
      untracked: null,
      languages: [],
      topics: [
        { name: "graphics", repositoryCount: 2 },
        { name: "game-engine", repositoryCount: 1 },
      ],
    });
  });

  test("finds by the beginning of a name, an owner, owner/name, and a word inside a name", async () => {
    assert.deepEqual(await names("reac"), [
      "facebook/react",
      "facebook/react-native",
      "lab/sub/reactor",
      "react/tutorial",
    ]);
    assert.deepEqual(await names("face"), ["facebook/react", "facebook/react-native"]);
    assert.deepEqual(await names("facebook/react-n"), ["facebook/react-native"]);
    assert.deepEqual(await names("facebook/"), ["facebook/react", "facebook/react-native"]);
    assert.deepEqual(await names("nativ"), ["facebook/react-native"]);
    assert.deepEqual(await names("magi"), ["dev/ImageMagick"]);
    assert.deepEqual(await names("imagemag"), ["dev/ImageMagick"]);
    assert.deepEqual(await names("lab/sub/rea"), ["lab/sub/reactor"]);
    assert.deepEqual(await names("REACTNAT"), ["facebook/react-native"]);
    assert.deepEqual(await names("react face"), ["facebook/react", "facebook/react-native"]);
    assert.deepEqual(await names("library"), [], "descriptions are not names");
  });

  test("one letter works, the popular ones first", async () => {
    assert.deepEqual(await names("r"), [
      "facebook/react",
      "facebook/react-native",
      "lab/sub/reactor",
      "react/tutorial",
    ]);
    assert.deepEqual((await suggest("c")).languages, [
      { name: "C++", repositoryCount: 3 },
      { name: "C", repositoryCount: 1 },
    ]);
    assert.deepEqual(await names("习"), ["学习/机器学习教程"]);
  });

  test("an empty text gives the popular ones", async () => {
    for (const query of ["", "?q=", "?q=%20%20"]) {
      const { body } = await world.get(`/api/search/suggest${query}`);
      const { repositories, languages, topics } = body.data;
      assert.deepEqual(
        repositories.map((repository: { stars: number }) => repository.stars),
        [1000, 800, 500, 310, 205, 60, 41, 33],
      );
      assert.deepEqual(languages, [
        { name: "C++", repositoryCount: 3 },
        { name: "JavaScript", repositoryCount: 2 },
        { name: "C", repositoryCount: 1 },
        { name: "Python", repositoryCount: 1 },
        { name: "TypeScript", repositoryCount: 1 },
      ]);
      assert.deepEqual(topics.slice(0, 3), [
        { name: "ui", repositoryCount: 3 },
        { name: "graphics", repositoryCount: 2 },
        { name: "---", repositoryCount: 1 },
      ]);
    }
  });

  test("names written without spaces are found by any part of them", async () => {
    for (const q of ["机器", "学习", "教程", "机", "学习/机器"]) {
      assert.deepEqual(await names(q), ["学习/机器学习教程"], q);
    }
  });

  test("c++ is not c, and is looked for as it is written", async () => {
    assert.deepEqual(await names("c++"), ["someone/awesome-c++"]);
    assert.deepEqual((await suggest("c++")).languages, [{ name: "C++", repositoryCount: 3 }]);
    assert.deepEqual((await suggest("C")).languages.length, 2);
  });

  test("topics of several words are found with spaces as with hyphens", async () => {
    const expected = [{ name: "game-engine", repositoryCount: 1 }];
    assert.deepEqual((await suggest("game-e")).topics, expected);
    assert.deepEqual((await suggest("Game e")).topics, expected);
  });

  test("what only holds signs suggests nothing and harms nothing", async () => {
    for (const q of ["%", "_", '"', "*", "'", "\\", ":", "()", "++", "🚀🚀"]) {
      const { repositories, languages } = await suggest(q);
      assert.deepEqual([repositories, languages], [[], []], q);
    }
  });

  test("gone repositories are not suggested, nor counted", async () => {
    assert.deepEqual(await names("reactive"), []);
    assert.deepEqual((await suggest("cobol")).languages, []);
    assert.deepEqual((await suggest("gone")).topics, []);
  });

  test("limit holds for each kind, from 1 to 20, 8 if it is not given", async () => {
    assert.equal((await names("", "&limit=1")).length, 1);
    assert.equal((await names("")).length, 8);
    assert.equal((await names("", "&limit=20")).length, 10);
    assert.equal((await suggest("", "&limit=2")).languages.length, 2);
  });

  test("a repository that overtakes another is suggested before it", async () => {
    const race = await createWorld(engine);
    const order = async () =>
      (await race.get("/api/search/suggest?q=ru")).body.data.repositories.map(
        (repository: { fullName: string }) => repository.fullName,
      );
    await race.record(
      observation("a/runner", [snapshot(24, 10)]),
      observation("b/runner", [snapshot(24, 5)]),
    );
    assert.deepEqual(await order(), ["a/runner", "b/runner"]);
    await race.record(observation("b/runner", [snapshot(0, 20)]));
    assert.deepEqual(await order(), ["b/runner", "a/runner"]);
  });
});

/** What means something to one of the engines, to a query, or to those who fold and cut texts. */
const SYNTAX = [
  ..."\" ' * ( ) ^a : & | ! <-> \\ % _ -- ; + -a c++ c# AND OR NOT NEAR(a :* names: {names}: {terms}".split(
    " ",
  ),
  ..."\u0001 \ud800 \ufeff \u202e ﬁ İ ß 学习 ɣᳲༀ aᦰa 🚀 é e\u0301 ١٢ ½ ㎏".split(" "),
];

onSqliteAndLong("Whatever is searched for", (engine) => {
  let world: World;
  const statusOf = async (path: string, query: string): Promise<number> =>
    (await world.get(`${path}${query}`)).status;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("a/plain", daily(5, 6), { facts: { language: "Go", topics: ["web"] } }),
      ...SYNTAX.map((text, i) =>
        observation(`s/r${i}-${text.replaceAll(/[\0\s/]/g, "")}`, daily(i, i + 1), {
          facts: {
            description: text.replaceAll("\0", "").toWellFormed(),
            topics: [`t${text}`.replaceAll("\0", "").toWellFormed()],
          },
        }),
      ),
    );
  });

  test("texts of any kind: found or not, nothing is a syntax and nothing fails", async () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc
        .array(fc.oneof(fc.constantFrom(...SYNTAX), fc.string({ maxLength: 5 })), { maxLength: 8 })
        .map((parts) => parts.join(" ")),
    );
    /** As a query writes it; now and then with bytes that are no UTF-8. */
    const queries = fc.oneof(
      texts.map((text) => encodeURIComponent(text.toWellFormed())),
      fc
        .uint8Array({ maxLength: 30 })
        .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
    );
    const paths = ["/api/repos?q=", "/api/repos?sort=stars&q=", "/api/search/suggest?q="];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), queries, async (path, query) => {
        const status = await statusOf(path, query);
        assert.ok(status === 200 || status === 400, `${path}${query} answered ${status}`);
      }),
      { numRuns: examples(1_000) },
    );
  });

  test("what is a syntax elsewhere is a text here", async () => {
    for (const path of ["/api/repos?q=", "/api/search/suggest?q="]) {
      for (const text of SYNTAX) {
        const query = encodeURIComponent(text.toWellFormed());
        assert.equal(await statusOf(path, query), 200, text);
        assert.equal(await statusOf(path, `a${query}a`), 200, text);
      }
    }
  });

  test("no language, topic, license, provider, time or cursor is a syntax either", async () => {
    const value = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
    const name = fc.constantFrom(
      "language",
      "topic",
      "license",
      "provider",
      "cursor",
      "createdAfter",
      "unknown",
    );
    await fc.assert(
      fc.asyncProperty(name, value, async (parameter, text) => {
        const status = await statusOf("/api/repos?", `${new URLSearchParams([[parameter, text]])}`);
        assert.ok(status === 200 || status === 400, `${parameter}=${text} answered ${status}`);
      }),
      { numRuns: examples(300) },
    );
  });
});
