import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** Names that every JavaScript object already has a property for. */
const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty"];

onSqlite("Names of built-in object properties", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      ...NAMES.map((name, i) =>
        observation(`${name}/${name}`, daily(100 * (i + 1), 100 * (i + 1) + 10), {
          facts: {
            language: name,
            topics: [name],
            license: name,
            description: name,
            createdAt: Date.UTC(2026, 3),
          },
        }),
      ),
      observation("a/b", daily(1, 2), { facts: { language: "Go", topics: ["web"] } }),
    );
  });

  test("every page of a language, topic, owner or repository with such a name works", async () => {
    for (const name of NAMES) {
      const own = `/repos/github/${name}/${name}`;
      for (const path of [
        "/",
        "/explore",
        `/explore?language=${name}&topic=${name}&license=${name}&q=${name}&sort=stars`,
        "/languages",
        `/languages/${name}`,
        "/topics",
        `/topics/${name}`,
        own,
        `${own}?metric=forks&range=90d`,
        `/compare?repo=github:${name}/${name}&repo=github:a/b`,
        "/sitemaps/pages.xml",
        "/sitemaps/repositories-1.xml",
      ]) {
        const { status, body } = await world.get(path, { Accept: "text/html" });
        assert.equal(status, 200, `${path}: ${String(body).slice(0, 200)}`);
        assert.doesNotMatch(body, /\[native code\]|\[object Object\]/, path);
      }
    }
  });

  test("every endpoint works with them", async () => {
    for (const [i, name] of NAMES.entries()) {
      const stars = 100 * (i + 1) + 10;
      for (const query of [`language=${name}`, `topic=${name}`, `license=${name}`, `q=${name}`]) {
        const { status, body } = await world.get(`/api/repos?sort=stars-gained&${query}`);
        assert.deepEqual([status, body.meta.total], [200, 1], query);
        const [{ fullName, language, topics, stars: count, trend }] = body.data;
        assert.deepEqual(
          [fullName, language, topics, count, trend.starsDelta],
          [`${name}/${name}`, name, [name.toLowerCase()], stars, 10],
        );
      }
      const { body: detail } = await world.get(`/api/repos/github/${name}/${name}`);
      assert.equal(detail.data.stars, stars);
      for (const path of [
        `/api/repos/${detail.data.id}/metrics`,
        `/api/repos/${detail.data.id}/ranks`,
        `/api/repos/github/by-full-name?fullName=${name}/${name}&explain=true`,
        `/api/feeds/trending.atom?language=${name}&topic=${name}`,
        `/api/embed/chart.svg?repo=github:${name}/${name}`,
        `/api/embed/chart?repo=github:${name}/${name}`,
        `/api/embed/card.png?repo=github:${name}/${name}`,
        `/api/embed/badge.svg?repo=github:${name}/${name}`,
        `/api/repos?language=${name}&format=csv`,
        "/api/home",
      ])
        assert.equal((await world.get(path)).status, 200, path);
      const { body: suggested } = await world.get(`/api/search/suggest?q=${name}`);
      assert.deepEqual(suggested.data.languages, [{ name, repositoryCount: 1 }]);
      assert.deepEqual(suggested.data.topics, [{ name: name.toLowerCase(), repositoryCount: 1 }]);
    }
    for (const kind of ["languages", "topics"]) {
      const { body } = await world.get(`/api/facets/${kind}?sort=stars`);
      const expected = kind === "languages" ? NAMES : NAMES.map((name) => name.toLowerCase());
      const own = body.data.filter(({ name }: { name: string }) => expected.includes(name));
      assert.deepEqual(
        own.map(({ name, repositoryCount, stars }: Record<string, unknown>) => [
          name,
          repositoryCount,
          stars,
        ]),
        expected.map((name, i) => [name, 1, 100 * (i + 1) + 10]).reverse(),
      );
    }
  });

  test("a provider named like a scheme makes no link that a browser runs", async () => {
    for (const provider of ["JAVASCRIPT", "DATA", "VBSCRIPT"]) {
      await world.record(observation("a/alert(1)", daily(1, 2), { provider }));
      const { body } = await world.get(`/api/repos/${provider}/a/alert(1)`);
      assert.equal(body.data.url, `repository:${provider.toLowerCase()}/a/alert(1)`);
      // As older versions stored it.
      await world.modules.database.write
        .updateTable("repositories")
        .set({ url: `${provider.toLowerCase()}:a/alert(1)`, homepage: "javascript:alert(1)" })
        .where("provider", "=", provider)
        .execute();
      const { body: old } = await world.get(`/api/repos/${provider}/a/alert(1)`);
      assert.deepEqual([old.data.url, old.data.homepage], [body.data.url, null]);
    }
  });

  test("as parameter values they are a clear error", async () => {
    const page = (path: string) => world.get(path, { Accept: "text/html" });
    for (const name of NAMES) {
      for (const parameter of ["archived", "fork", "sort", "window", "minStars"]) {
        const { status, body } = await page(`/explore?${parameter}=${name}`);
        assert.equal(status, 400, parameter);
        assert.doesNotMatch(body, /\[native code\]/, parameter);
        assert.equal((await world.get(`/api/repos?${parameter}=${name}`)).status, 400, parameter);
      }
      assert.equal((await page(`/repos/github/${name}/none`)).status, 404);
      assert.equal((await page(`/languages/${name}x`)).status, 404);
    }
  });
});
