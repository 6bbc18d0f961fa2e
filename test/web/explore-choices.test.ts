import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Observation } from "../../src/repositories/repository.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { linkTo, numbersIn, openPage, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const DAY = 86_400_000;
const LONG = "x".repeat(100);
const ARABIC = "لغة البرمجة";

/** A choice of the page: its link, its name, and the number beside it. */
interface Choice {
  parameter: string;
  name: string;
  href: string;
  count: string | undefined;
  isChosen: boolean;
}

function choicesOf(html: string): Choice[] {
  return [...html.matchAll(/<a ([^>]*data-choice="[^"]*"[^>]*)>(.*?)<\/a>/gs)].map(
    ([, attributes = "", inner = ""]) => {
      const attribute = (name: string) => textOf(new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
      const [, count] = /<span class="soft">(.*?)<\/span>/.exec(inner) ?? [];
      return {
        parameter: attribute("data-choice").split(" ")[0] ?? "",
        name: textOf(/<bdi>(.*?)<\/bdi>/.exec(inner)?.[1] ?? ""),
        href: attribute("href"),
        count,
        isChosen: attribute("aria-current") === "true",
      };
    },
  );
}

const countOf = (html: string) =>
  numbersIn(textOf(/<h2 id="found"[^>]*>(.*?)<\/h2>/.exec(html)?.[1] ?? ""))[0];

/** Repositories of several languages, topics, licenses and forges, some of them with odd names. */
const VARIED: Observation[] = Array.from({ length: 120 }, (_, i) =>
  observation(`owner/name-${i}`, daily(900 + 2 * i, 1_000 + 90 * i), {
    ...(i % 4 === 0 ? { provider: "CODEBERG" as const } : {}),
    facts: {
      language: ["Rust", "C++", "rust", ARABIC, LONG, null][i % 6] ?? null,
      topics: [["cli", "air"], ["cli"], []][i % 3] ?? [],
      license: ["MIT", "GPL-3.0 OR MIT", null][i % 3] ?? null,
      createdAt: NOW - (i % 5) * 40 * DAY,
      pushedAt: NOW - (i % 2) * 60 * DAY,
      archived: i % 10 === 0,
    },
  }),
);

onSqliteAndLong("The choices of the page /explore", (engine) => {
  let world: World;
  const open = (path: string) => openPage(world, path);

  before(async () => {
    world = await createWorld(engine);
    await world.record(...VARIED);
  });

  test("lead to as many repositories as they say", async () => {
    for (const path of [
      "/explore",
      "/explore?sort=stars",
      "/explore?language=RUST&sort=stars&minStars=5000",
      "/explore?q=owner&topic=cli&provider=github",
      "/explore?sort=forks&license=mit&createdAfter=2026-03-01",
    ]) {
      const { status, html } = await open(path);
      assert.equal(status, 200, path);
      const choices = choicesOf(html);
      assert.ok(choices.length >= 10, path);
      for (const { name, href, count, isChosen } of choices) {
        // Another value of a repeated filter adds to those that are chosen.
        const alone = new URL(href, "http://localhost");
        for (const repeated of ["language", "topic"]) {
          const values = alone.searchParams.getAll(repeated);
          if (values.length > 1) alone.searchParams.set(repeated, values.at(-1) ?? "");
        }
        const found = await open(isChosen ? path : alone.pathname + alone.search);
        assert.equal(count, countOf(found.html), `${name} of ${path}`);
      }
    }
  });

  test("are marked when they are chosen, whatever their case, and lead back", async () => {
    const { html } = await open("/explore?language=rUST&minStars=1000&sort=stars&window=7d&page=2");
    const chosen = choicesOf(html).filter(({ isChosen }) => isChosen);
    assert.deepEqual(
      chosen.map(({ name, href }) => [name, href]),
      [
        ["Rust", "/explore?minStars=1000&sort=stars&window=7d"],
        ["1K+", "/explore?language=rUST&sort=stars&window=7d"],
      ],
    );
  });

  test("of stars and dates replace the bounds that contradict them", async () => {
    const { html } = await open("/explore?maxStars=5000&createdBefore=2026-01-01&sort=stars");
    const of = (parameter: string) => choicesOf(html).find((choice) => choice.parameter === parameter)?.href;
    assert.equal(of("minStars"), "/explore?createdBefore=2026-01-01&sort=stars&minStars=1000");
    assert.equal(of("createdAfter"), "/explore?maxStars=5000&sort=stars&createdAfter=2026-03-31");
  });

  test("keep names of any script and length apart from what is around them", async () => {
    const { html } = await open("/explore?sort=stars");
    for (const name of [ARABIC, LONG]) {
      const choice = choicesOf(html).find((one) => one.name === name);
      assert.equal(choice?.count, "20", name);
      const found = await open(choice.href);
      assert.equal(countOf(found.html), "20", name);
    }
  });

  test("are offered only as far as an address has room for them", async () => {
    const many = Array.from({ length: 20 }, (_, i) => `language=no-such-${i}`).join("&");
    const { status, html } = await open(`/explore?${many}&sort=stars`);
    assert.equal(status, 200);
    const languages = choicesOf(html).filter(({ parameter }) => parameter === "language");
    assert.equal(languages.length, 20);
    assert.ok(languages.every(({ isChosen }) => isChosen));
    assert.equal((await open(`/explore?${many}&language=one-more`)).status, 400);
    const fifty = Array.from({ length: 50 }, (_, i) => `language=no-such-${i}`).join("&");
    assert.equal((await open(`/explore?${fifty}`)).status, 400);
  });

  test("do not multiply the longest addresses", async () => {
    const values = Array.from({ length: 19 }, (_, i) => `${i} ${"程".repeat(20)}`);
    const long = new URLSearchParams([
      ["language", "Rust"],
      ...values.slice(0, 18).map((value): [string, string] => ["language", value]),
      ...values.map((value): [string, string] => ["topic", value]),
    ]);
    const { status, html } = await open(`/explore?${long}&topic=cli&sort=stars`);
    assert.equal(status, 200);
    const choices = choicesOf(html);
    assert.ok(choices.length > 4 && choices.length < 45, `${choices.length} choices`);
    assert.ok(html.length < 1_000_000, `${html.length} characters`);
  });

  test("of an unknown value say that it has none", async () => {
    const { html } = await open("/explore?language=no-such&language=Rust&sort=stars");
    const unknown = choicesOf(html).find(({ name }) => name === "no-such");
    assert.deepEqual([unknown?.count, unknown?.isChosen], ["0", true]);
  });
});

onSqlite("The page /explore of a catalogue that knows little", (engine) => {
  test("offers nothing that it cannot answer", async () => {
    const world = await createWorld(engine);
    await world.record(
      ...Array.from({ length: 70 }, (_, i) =>
        observation(`owner/name-${i}`, daily(100, 101 + i), { facts: { language: "Rust" } }),
      ),
    );
    const { html } = await openPage(world, "/explore");
    assert.deepEqual([...new Set(choicesOf(html).map(({ parameter }) => parameter))], ["language"]);
    for (const field of ["topic", "provider", "license", "createdAfter", "createdBefore", "pushedAfter"])
      assert.doesNotMatch(html, new RegExp(`name="${field}"`), field);
    assert.equal(linkTo(html, "Newest"), undefined);
    assert.equal(linkTo(html, "Last push"), undefined);
    const given = await openPage(world, "/explore?license=MIT&createdAfter=2026-01-01&sort=created");
    for (const field of ["license", "createdAfter"])
      assert.match(given.html, new RegExp(`id="${field}"`), `${field} is in the address`);
    assert.ok(given.current.includes("Newest"));
  });

  test("offers in an empty list only what is chosen", async () => {
    const world = await createWorld(engine);
    await world.record(...VARIED);
    const choices = choicesOf((await openPage(world, "/explore?language=Zig&minStars=1000")).html);
    assert.deepEqual(
      choices.map(({ name, isChosen }) => [name, isChosen]),
      [
        ["Zig", true],
        ["1K+", true],
      ],
    );
  });
});

onSqlite("The sorts of the page /explore", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    await world.record(...VARIED);
  });

  test("are three rankings as tabs, and the others in a menu that says which is chosen", async () => {
    const page = async (query: string) => {
      const { html, current } = await openPage(world, `/explore${query}`);
      const [, tabs = ""] = /<nav class="strip" aria-label="Rankings">(.*?)<\/nav>/s.exec(html) ?? [];
      const [, menu = ""] = /<summary(?: class="current")?>(Sort.*?)<\/summary>/.exec(html) ?? [];
      return { html, current, tabs: tabs.match(/<a /g)?.length, menu: textOf(menu) };
    };
    const trending = await page("");
    assert.deepEqual([trending.tabs, trending.menu], [3, "Sort"]);
    assert.ok(trending.current.includes("Trending"));
    const stars = await page("?sort=stars&order=asc");
    assert.deepEqual([stars.tabs, stars.menu], [3, "Sort: Stars, lowest first"]);
    assert.ok(stars.current.includes("Stars"));
    assert.equal(linkTo(stars.html, "Highest first")?.search, "?sort=stars");
    assert.equal(linkTo(stars.html, "Forks")?.search, "?sort=forks", "another sort begins with the highest");
    const search = await page("?q=owner");
    assert.equal(search.menu, "Sort: Best match");
    assert.equal(linkTo(search.html, "Lowest first"), undefined);
  });
});

onSqlite("A list without a match", (engine) => {
  let world: World;
  const open = (path: string) => openPage(world, path);
  before(async () => {
    world = await createWorld(engine, {
      SIDEREAL_PROVIDERS: "github",
      SIDEREAL_TRACK: "everyone",
    });
    await world.record(...VARIED);
  });

  test("says so in its heading and its title", async () => {
    const { html, headings } = await open("/explore?q=zzyzx");
    assert.ok(headings.some(([level, text]) => level === 2 && text.includes("“zzyzx”")));
    assert.match(html, /<title>[^<]*zzyzx[^<]*no matches/);
    assert.deepEqual(rowsOf(html, "list"), []);
  });

  test("offers only filters and sorts that the catalogue can answer", async () => {
    const bare = await createWorld(engine);
    await bare.record(
      ...VARIED.slice(0, 3).map((one) => ({ ...one, facts: { ...one.facts, license: null } })),
    );
    for (const path of ["/explore?q=zzyzx", "/explore?minStars=x"]) {
      assert.match((await open(path)).html, /name="license"/, path);
      assert.doesNotMatch((await openPage(bare, path)).html, /name="license"/, path);
    }
  });

  test("names each word of the search that finds something", async () => {
    const { html } = await open("/explore?q=owner+zzyzx");
    assert.equal(linkTo(html, "“owner”")?.search, "?q=owner");
    assert.equal(linkTo(html, "“zzyzx”"), undefined);
  });

  test("names the value that was probably meant", async () => {
    const { html, notes, text } = await open("/explore?topic=clii&language=Rust&sort=stars");
    assert.equal(linkTo(html, "cli")?.search, "?language=Rust&sort=stars&topic=cli");
    assert.ok(text.includes("topic clii"), JSON.stringify(notes));
    const provider = await open("/explore?provider=codeburg&sort=stars");
    assert.equal(linkTo(provider.html, "CODEBERG")?.searchParams.get("provider"), "codeberg");
  });

  test("offers to track the repository that the search names", async () => {
    const { buttons, html } = await open("/explore?q=facebook/react");
    assert.ok(buttons.includes("Track facebook/react"), buttons.join());
    assert.match(html.slice(html.indexOf("<main")), /<input [^>]*value="facebook\/react"/);
  });

  test("titles say how many there are otherwise", async () => {
    const { html } = await open("/explore?sort=stars&topic=air");
    assert.match(html, /<title>Stars, topic air: 40 repositories/);
  });
});
