import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf, invalid, NO_HISTORY } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { checkTexts, type Picture, readPicture } from "../support/svg.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const CHART = "/api/embed/chart.svg";
const DATA = "/api/embed/chart";
const PNG = "/api/embed/chart.png";
const count = (length: number, from: number, by: number) => Array.from({ length }, (_, i) => from + i * by);

onSqliteAndLong("Charts for other pages", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    const created = { createdAt: Date.UTC(2026, 3, 1, 12) };
    const gapped = [20, 19, 18, 17, 16, 9, 8, 7, 6, 5].map((days) => snapshot(24 * days, 1_000 - days));
    await world.record(
      observation("up/one", daily(...count(400, 1_000, 10)), { facts: { language: "Go" } }),
      observation("up/two", daily(...count(11, 50, 5)), { facts: created }),
      observation("group/sub/deep", daily(7, 9), { provider: "GITLAB" }),
      observation("up/gapped", gapped),
      observation("up/once", [snapshot(5, 3)]),
      observation("up/never", []),
      observation("up/unseen", [snapshot(1_032, 3), snapshot(1_008, 4)]),
      observation("up/lost", daily(5, 4, 3), { facts: { availability: "GONE" } }),
      observation("up/forked", [
        snapshot(48, 1, { forks: 10, source: "BACKFILLED" }),
        snapshot(24, 2, { forks: null, source: "BACKFILLED" }),
        snapshot(0, 3, { forks: 30, source: "OBSERVED" }),
      ]),
      observation("new/name", daily(1, 2), { previousNames: [{ fullName: "old/name", until: NOW - 1e9 }] }),
    );
  });

  async function picture(query: string, status = 200): Promise<Picture> {
    const { headers, body, ...answer } = await world.get(`${CHART}?${query}`);
    assert.equal(answer.status, 200, body);
    const forJson = await world.get(`${CHART}?${query}`, { Accept: "application/json" });
    assert.equal(forJson.status, status);
    assert.equal(headers.get("content-type"), "image/svg+xml; charset=utf-8");
    const read = readPicture(body);
    checkTexts(read);
    return read;
  }

  const seen = ({ texts }: Picture): string[] => texts.map(({ text }) => text);

  test("a picture of a year of stars, which any page may show and nothing in it may run", async () => {
    const { headers, body } = await world.get(`${CHART}?repo=github:up/one`);
    const { title, description, width, height } = readPicture(body);
    assert.equal(title, "Stars: up/one");
    assert.equal(
      description,
      "up/one: 1,340 on 30 Apr 2025, 4,990 on 30 Apr 2026, gained 3,650. As of 30 Apr 2026.",
    );
    assert.deepEqual([width, height], [800, 400]);
    const expected = {
      "cache-control": "public, max-age=300, stale-while-revalidate=3600",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
    const etag = headers.get("etag") ?? "";
    assert.equal((await world.get(`${CHART}?repo=github:up/one`, { "If-None-Match": etag })).status, 304);
    const head = await world.request(`${CHART}?repo=github:up/one`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("a picture is computed once, whatever the spelling and order of its parameters, but not of its repositories", async (t) => {
    const kept = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    await kept.record(observation("Up/One", daily(1, 2)), observation("up/two", daily(3, 4)));
    const series = t.mock.method(kept.modules.catalog, "historyState");
    const queries = [
      "repo=github:Up/One&repo=github:up/two&width=700",
      "width=700&cb=1&repo=GITHUB:UP/ONE&x=y&repo=github:up/TWO",
    ];
    const [one, two] = await Promise.all(queries.map((query) => kept.get(`${CHART}?${query}`)));
    assert.equal(one?.body, two?.body);
    assert.equal(series.mock.callCount(), 2);
    const other = await kept.get(`${CHART}?repo=github:up/two&repo=github:up/one&width=700`);
    assert.notEqual(other.body, one?.body);
    assert.equal(series.mock.callCount(), 4);
  });

  test("it costs nothing, also for one who has nothing left", async () => {
    const poor = await createWorld(engine, limits("default=1"));
    await poor.record(observation("a/b", daily(1, 2)));
    await poor.get("/api/repos");
    assert.equal((await poor.get("/api/repos")).status, 429);
    for (const path of [CHART, DATA, "/api/embed/badge.svg"])
      assert.equal((await poor.get(`${path}?repo=github:a/b`)).status, 200);
    assert.equal((await poor.get(`${DATA}?repo=github:a/x`)).status, 404);
  });

  test("every parameter does what it says", async () => {
    const wide = await picture("repo=github:up/one&width=1200&height=800");
    assert.deepEqual([wide.width, wide.height], [1_200, 800]);
    assert.equal((await picture("repo=github:up/forked&metric=forks&window=30d")).title, "Forks: up/forked");
    assert.doesNotMatch((await picture("repo=github:up/one&theme=dark")).style ?? "", /@media/);
    const scales = ["linear", "log"].map((scale) => picture(`repo=github:up/one&scale=${scale}`));
    const [linear, log] = (await Promise.all(scales)).map(seen);
    assert.notDeepEqual(linear, log);
    const descriptions: Record<string, RegExp> = {
      "up/one&window=30d": /gained 300\./,
      "up/one&window=90d": /gained 900\./,
      "up/one&window=all": /: 1,000 on .* gained 3,990\./,
      "up/two&align=age": /50 at the age of 19 days, 100 at the age of 29 days, gained 50/,
      "up/gapped&repo=github:up/two&align=age":
        /^up\/gapped: nothing is known; creation date unknown, so not shown by age\. up\/two: 50 at/,
      "up/one&window=30d&view=per-day": /Per day: at most \+10 on .*, at least \+10 on /,
      "up/one&from=2026-03-01&to=2026-03-11": /: 4,390 on 1 Mar 2026, 4,490 on 11 Mar 2026, gained 100\./,
      "up/one&window=30d&to=2026-04-10":
        /: 4,500 on 12 Mar 2026, 4,790 on 10 Apr 2026, gained 290\. As of 10 Apr 2026\.$/,
      "up/gapped&to=2026-04-15": /: 980 on 10 Apr 2026, 984 on 14 Apr 2026, gained 4\. As of 14 Apr 2026\.$/,
    };
    for (const [query, expected] of Object.entries(descriptions))
      assert.match((await picture(`repo=github:${query}`)).description ?? "", expected);
  });

  test("an index is no number of stars", async () => {
    for (const shape of ["readme", "post"]) {
      const query = `repo=github:up/one&align=index&base=2026-04-20&window=30d&shape=${shape}`;
      const texts = seen(await picture(query));
      assert.ok(texts.includes("index") && texts.some((text) => text.startsWith("From 100 to 102 since ")));
      assert.ok(!texts.some((text) => /^stars$|in 7 days|best/.test(text)), texts.join());
    }
  });

  test("several repositories share a picture, in their order, each named once", async () => {
    const two = await picture("repo=github:up/one&repo=GITLAB:Group/Sub/Deep&repo=github:UP/ONE");
    assert.equal(two.title, "Stars: up/one, group/sub/deep");
    assert.ok(seen(two).includes("one leads by 4,981 and gains most."), String(seen(two)));
    const { body } = await world.get(`${DATA}?repo=gitlab:group/sub/deep&repo=github:up/one`);
    assert.deepEqual(
      body.data.series.map((one: { fullName: string }) => one.fullName),
      ["group/sub/deep", "up/one"],
    );
  });

  test("a picture says what became of a repository, and as of when it is", async () => {
    assert.equal((await picture("repo=github:old/name")).title, "Stars: new/name");
    const foots = {
      "up/lost": "gone, last seen 30 Apr 2026 · 30 Apr 2026",
      "up/unseen": "19 Mar 2026, 42 days ago",
    };
    for (const [name, foot] of Object.entries(foots)) {
      const texts = seen(await picture(`repo=github:${name}`));
      assert.ok(
        texts.some((text) => text.endsWith(foot)),
        String(texts),
      );
    }
  });

  test("fewer than two snapshots: a small picture that says since when it is known", async () => {
    const words = {
      "repo=github:up/once": "First seen on 30 Apr 2026. The line begins with the next count.",
      "repo=github:up/never": "First seen on 30 Apr 2026",
      "repo=github:up/one&metric=forks": "not two snapshots with forks",
      "repo=github:up/one&from=2027-01-01": "not two snapshots",
      "repo=github:up/once&repo=github:up/never": "there are none yet",
      // Not told when it was created, so it has no age.
      "repo=github:up/gapped&align=age": "Age unknown",
    };
    for (const [query, text] of Object.entries(words))
      assert.ok(
        seen(await picture(query))
          .join(" ")
          .includes(text),
        query,
      );
    // One that has enough is drawn, beside one that has not.
    assert.ok(seen(await picture("repo=github:up/never&repo=github:up/one")).includes("one"));
  });

  test("what is not tracked is said in a picture with status 200, which of several too, and to JSON with its status", async () => {
    for (const query of ["repo=github:no/such", "repo=github:up/one&repo=github:no/such&theme=dark"]) {
      const { status, headers, body } = await world.get(`${CHART}?${query}`);
      assert.equal(status, 200);
      assert.deepEqual([headers.get("cache-control"), headers.get("etag")], ["no-store", null]);
      const asJson = await world.get(`${CHART}?${query}`, { Accept: "application/json" });
      assert.equal(errorOf(asJson).status, 404);
      assert.deepEqual(seen(readPicture(body)), ["Not tracked here", "github:no/such", "Sidereal"]);
    }
    const answer = await world.get(`${DATA}?repo=github:up/one&repo=github:no/such&repo=nobody:a/b`);
    assert.deepEqual(errorOf(answer), {
      status: 404,
      code: "NOT_FOUND",
      message: "Not tracked here: github:no/such, nobody:a/b",
      details: [
        { parameter: "repo", message: "is not tracked here", values: ["github:no/such", "nobody:a/b"] },
      ],
    });
  });

  test("a parameter that is not allowed is said in a picture, and in JSON with status 400 if JSON is accepted", async () => {
    const repo = "must be of the form provider:owner/name, 1 to 6 times";
    const [FIXED, ONLY] = ["must not be given", "only readme has a width and height"];
    const wrong: [string, string, string, Record<string, unknown>?][] = [
      ["", "repo", repo],
      ["repo=up/one", "repo", repo],
      ["repo=github:one", "repo", repo],
      ["repo=github:a/b%0A", "repo", repo],
      [Array.from({ length: 7 }, (_, i) => `repo=github:a/b${i}`).join("&"), "repo", repo],
      ["repo=github:up/one&width=319", "width", "must be a whole number from 320 to 1200"],
      ["repo=github:up/one&width=1201", "width", "must be a whole number from 320 to 1200"],
      ["repo=github:up/one&height=219", "height", "must be a whole number from 220 to 800"],
      ["repo=github:up/one&height=1e2", "height", "must be a whole number from 220 to 800"],
      ["repo=github:up/one&shape=post&width=800", "width", `${FIXED}: post is always 1200 × 675, ${ONLY}`],
      [
        "repo=github:up/one&shape=square&height=400",
        "height",
        `${FIXED}: square is always 1080 × 1080, ${ONLY}`,
      ],
      ["repo=github:up/one&title=%20", "title", "must have 1 to 80 characters"],
      [`repo=github:up/one&title=${"x".repeat(81)}`, "title", "must have 1 to 80 characters"],
      ["repo=github:up/one&from=yesterday", "from", "must be a day, such as 2026-04-30"],
      ["repo=github:up/one&to=2026-02-30", "to", "must be a day, such as 2026-04-30"],
      ["repo=github:up/one&from=2026-13-01", "from", "must be a day, such as 2026-04-30"],
      ["repo=github:up/one&from=2026-04-02&to=2026-04-01", "to", "must not be before from"],
      ...Object.entries({
        metric: ["stars", "forks", "openIssues"],
        window: ["30d", "90d", "1y", "all"],
        theme: ["auto", "light", "dark"],
        view: ["total", "per-day"],
        scale: ["linear", "log"],
        align: ["date", "age", "first-snapshot", "first-count", "index"],
        shape: ["readme", "post", "square"],
        style: ["plain", "sketch"],
        background: ["paper", "clear"],
      }).map(([name, allowed]): [string, string, string, Record<string, unknown>] => [
        `repo=github:up/one&${name}=<script>`,
        name,
        `must be one of ${allowed.join(", ")}`,
        { allowed },
      ]),
    ];
    for (const [query, parameter, message, more] of wrong) {
      assert.deepEqual(
        errorOf(await world.get(`${DATA}?${query}`)),
        invalid(parameter, message, more),
        query,
      );
      const refused = await picture(query, 400);
      assert.equal(refused.title, "No picture");
      assert.match(seen(refused).join(" "), new RegExp(`^No picture ${parameter}: `));
    }
    const problem = await world.get(`${CHART}?repo=x`, { Accept: "application/problem+json" });
    assert.equal(problem.headers.get("content-type"), "application/problem+json; charset=utf-8");
    const json = await world.get(`${CHART}?repo=x`, { Accept: "application/json" });
    assert.deepEqual(errorOf(json), invalid("repo", repo));
    const post = await world.send("POST", CHART);
    assert.equal(post.status, 405);
    readPicture(post.body);
  });

  test("a picture has the size of its shape, its style and its title, which is text", async () => {
    const sizes = { readme: [800, 400], post: [1_200, 675], square: [1_080, 1_080] };
    for (const [shape, size] of Object.entries(sizes)) {
      const { width, height } = await picture(`repo=github:up/one&shape=${shape}`);
      assert.deepEqual([width, height], size);
    }
    const title = "<b>My</b> & 我们";
    const titled = await picture(`repo=github:up/one&title=${encodeURIComponent(title)}`);
    assert.ok(seen(titled).includes(title), String(seen(titled)));
    const { body } = await world.get(
      `${DATA}?repo=github:up/one&shape=post&title=${encodeURIComponent(title)}`,
    );
    assert.equal(body.data.title, title);
    assert.match(body.data.snippets.html, / width="1200" height="675"/);
    assert.match(body.data.snippets.html, / alt="&lt;b&gt;My/);
    assert.equal((await world.request(body.data.svgUrl)).status, 200);
  });

  /** A chart as PNG: its status, headers and size. */
  async function png(query: string) {
    const response = await world.request(`${PNG}?${query}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      size: [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
    };
  }

  test("as a PNG it has at most 2.5 megapixels, and twice as many as the drawing for a README", async () => {
    const sizes: Record<string, number[]> = {
      "": [1_600, 800],
      "&zoom=1": [800, 400],
      "&zoom=2.5&width=600&height=380": [1_500, 950],
      "&width=1200&height=800": [1_932, 1_288],
      "&shape=post": [1_200, 675],
      "&shape=square": [1_080, 1_080],
      "&shape=post&style=sketch": [2_100, 1_181],
      "&shape=square&style=sketch": [1_577, 1_577],
    };
    for (const [query, size] of Object.entries(sizes)) {
      const response = await png(`repo=github:up/one${query}`);
      assert.deepEqual(response.size, size, query);
      assert.ok(response.size.reduce((a, b) => a * b, 1) <= 2_500_000);
    }
  });

  test("a PNG is kept as a card is: its theme is light unless it is dark, and it does not change while its data do not", async () => {
    const { status, headers, bytes } = await png("repo=github:up/one");
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    const light = await png("repo=github:up/one&theme=light");
    assert.deepEqual(light.bytes, bytes);
    assert.notDeepEqual((await png("repo=github:up/one&theme=dark")).bytes, bytes);
    const etag = { "If-None-Match": headers.get("etag") ?? "" };
    assert.equal((await world.request(`${PNG}?repo=github:up/one`, { headers: etag })).status, 304);
  });

  test("a PNG of too many pixels, and other faults, are said in JSON with the number that is allowed", async () => {
    const number = "must be a number from 1 to 3, such as 2 or 1.5";
    const wrong: [string, string, string, Record<string, unknown>?][] = [
      ["&zoom=3", "zoom", "must be at most 2.79 for 800 × 400: a picture has at most 2.5 megapixels"],
      [
        "&shape=post&zoom=2",
        "zoom",
        "must be at most 1.75 for 1200 × 675: a picture has at most 2.5 megapixels",
      ],
      [
        "&shape=square&zoom=1.5",
        "zoom",
        "must be at most 1.46 for 1080 × 1080: a picture has at most 2.5 megapixels",
      ],
      ...["0.5", "4", "x", "1e0", "3.1"].map((zoom): [string, string, string] => [
        `&zoom=${zoom}`,
        "zoom",
        number,
      ]),
      [
        "&shape=card",
        "shape",
        "must be one of readme, post, square",
        { allowed: ["readme", "post", "square"] },
      ],
    ];
    for (const [query, parameter, message, more] of wrong)
      assert.deepEqual(
        errorOf(await world.get(`${PNG}?repo=github:up/one${query}`)),
        invalid(parameter, message, more),
      );
    assert.equal(errorOf(await world.get(`${PNG}?repo=github:no/such`)).status, 404);
    assert.equal((await world.send("POST", PNG)).status, 405);
  });

  test("the data of a chart: points, gaps, what was gained, and what to paste", async () => {
    const { body, headers } = await world.get(
      `${DATA}?repo=github:up/gapped&window=30d&theme=dark&width=800&align=age&from=2026-04-01`,
    );
    assert.equal(headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    const { series, ...rest } = body.data;
    const image =
      "https://sidereal.example/api/embed/chart.svg?repo=github:up/gapped&window=30d&theme=dark&width=800&align=age&from=2026-04-01";
    const page = "https://sidereal.example/repos/github/up/gapped";
    assert.deepEqual(rest, {
      title: "Stars by age: up/gapped",
      metric: "stars",
      window: "30d",
      scale: "linear",
      align: "age",
      svgUrl: image,
      pageUrl: page,
      snippets: {
        markdown: `[![Stars by age: up/gapped](${image})](${page})`,
        html: `<a href="${page}"><img src="${image.replaceAll("&", "&amp;")}" alt="Stars by age: up/gapped" width="800" height="400"></a>`,
      },
      asOf: "2026-04-25T12:00:00.000Z",
      ageDays: 5,
    });
    assert.equal(series.length, 1);
    const { points, repositoryId, ...one } = series[0];
    assert.match(repositoryId, /^\d+$/);
    assert.equal(points.length, 10);
    assert.deepEqual(points[0], {
      at: "2026-04-10T12:00:00.000Z",
      ageDays: null,
      value: 980,
      source: "IMPORTED",
    });
    assert.deepEqual(one, {
      provider: "GITHUB",
      fullName: "up/gapped",
      availability: "AVAILABLE",
      gaps: [{ from: "2026-04-14T12:00:00.000Z", to: "2026-04-21T12:00:00.000Z" }],
      from: "2026-04-10T12:00:00.000Z",
      to: "2026-04-25T12:00:00.000Z",
      lastSeenAt: "2026-04-25T12:00:00.000Z",
      stale: false,
      history: NO_HISTORY,
      gained: 15,
      gainedBasis: "TOTAL",
    });
    const shown = await world.request(image);
    assert.equal(shown.status, 200, "the address in the snippet is that of the picture");
  });

  test("the data tell what is not known as null, and point at the comparison if there are several", async () => {
    const { body } = await world.get(`${DATA}?repo=github:up/never&repo=github:up/one`);
    assert.equal(
      body.data.pageUrl,
      "https://sidereal.example/compare?repo=github:up/never&repo=github:up/one",
    );
    const { points, from, to, gained } = body.data.series[0];
    assert.deepEqual({ points, from, to, gained }, { points: [], from: null, to: null, gained: null });
    const once = await world.get(`${DATA}?repo=github:up/once`);
    assert.equal(once.body.data.series[0].gained, null);
    assert.equal(body.data.series[1].points[0].ageDays, null);
  });

  test("the earlier name of the window is accepted, and the response is the same", async () => {
    const now = await world.request(`${DATA}?repo=github:up/one&window=90d`);
    const earlier = await world.request(`${DATA}?range=90d&repo=github:up/one`);
    assert.equal(earlier.headers.get("x-ignored-parameters"), null);
    assert.deepEqual(
      [earlier, now].map(({ headers }) => headers.get("deprecation")),
      ["@1795392000", null],
    );
    assert.equal(await earlier.text(), await now.text());
    const both = await world.get(`${DATA}?repo=github:up/one&window=90d&range=30d`);
    assert.deepEqual(errorOf(both), invalid("window", "may be given only once"));
  });

  test("many snapshots are read thinned, and the last is among them", async () => {
    const hourly = Array.from({ length: 2_400 }, (_, i) => snapshot(2_399 - i, 5_000 + i));
    await world.record(observation("many/hours", hourly));
    const { body } = await world.get(`${DATA}?repo=github:many/hours&window=all`);
    const { points } = body.data.series[0];
    assert.ok(points.length <= 600, String(points.length));
    assert.equal(points.at(-1).value, 7_399);
    const drawn = await picture("repo=github:many/hours&window=all");
    assert.match(drawn.description ?? "", /7,399 on 30 Apr 2026/);
  });
});
