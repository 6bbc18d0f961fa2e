import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { open } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** The address of the link with this relation in a page. */
const linkOf = (html: string, rel: string) =>
  new URL(new RegExp(`rel="${rel}" href="([^"]+)"`).exec(html)?.[1] ?? "", "https://sidereal.example");

onSqlite("Addresses of pages", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/kite", daily(1, 2), { facts: { language: "Rust" } }),
      observation("acme/tool.git", daily(1, 2)),
      observation("group/sub/tool", daily(1, 3), { provider: "GITLAB" }),
    );
  });

  const leadsTo = async (path: string) => {
    const { status, headers } = await world.request(path);
    return [status, headers.get("location")];
  };

  test("a trailing slash redirects to the page", async () => {
    for (const [path, to] of [
      ["/explore/", "/explore"],
      ["/explore/?sort=stars&q=a%2Fb", "/explore?sort=stars&q=a%2Fb"],
      ["/languages/Rust/", "/languages/Rust"],
      ["/repos/github/acme/kite/", "/repos/github/acme/kite"],
      ["/repos/gitlab/group/sub/tool/?range=30d", "/repos/gitlab/group/sub/tool?range=30d"],
    ])
      assert.deepEqual(await leadsTo(path ?? ""), [301, to], path);
    assert.equal(
      (await world.request("/watchlists/x/")).headers.get("cache-control"),
      "private, max-age=300",
    );
    for (const path of ["/nothing/", "/api/repos/", "/repos/github/acme/none/"])
      assert.equal((await world.request(path)).status, 404, path);
  });

  test("a clone URL redirects to the repository, unless its name ends in .git", async () => {
    assert.deepEqual(await leadsTo("/repos/github/acme/kite.git?range=30d"), [
      301,
      "/repos/github/acme/kite?range=30d",
    ]);
    assert.equal((await world.request("/repos/github/acme/tool.git")).status, 200);
    for (const path of ["/repos/github/acme/none.git", "/repos/github/acme/.git"])
      assert.equal((await world.request(path)).status, 404, path);
  });

  test("a phone can keep the pages as an app: the manifest and its icons exist", async () => {
    const { html, headers } = await open(world, "/");
    const { pathname } = linkOf(html, "manifest");
    assert.match(String(headers.get("content-security-policy")), /manifest-src 'self'/);
    const response = await world.request(pathname);
    assert.equal(response.headers.get("content-type"), "application/manifest+json; charset=utf-8");
    const manifest = JSON.parse(await response.text());
    assert.deepEqual([manifest.name, manifest.start_url, manifest.display], ["Sidereal", ".", "standalone"]);
    const icons = manifest.icons.map(
      ({ src }: { src: string }) => new URL(src, "https://sidereal.example/").pathname,
    );
    for (const path of [...icons, linkOf(html, "apple-touch-icon").pathname])
      assert.equal((await world.request(path)).status, 200, path);
    const touch = Buffer.from(await (await world.request(icons[1])).arrayBuffer());
    assert.deepEqual([touch.toString("latin1", 1, 4), touch.readUInt32BE(16)], ["PNG", 180]);
  });

  test("any other version of a file leads to an address that processes of all versions serve, without its bytes", async () => {
    const path = /href="(\/assets\/[^"]+\.css)"/.exec((await open(world, "/")).html)?.[1] ?? "";
    const present = await world.request(path);
    assert.match(present.headers.get("cache-control") ?? "", /immutable/);
    const common = path.replace(/[0-9a-f]{12}/, "current");
    const served = await world.request(common);
    assert.deepEqual([served.status, served.headers.get("cache-control")], [200, "public, no-cache"]);
    assert.equal(await served.text(), await present.text());
    for (const version of ["0123456789ab", "x", "constructor"]) {
      const old = await world.request(path.replace(/[0-9a-f]{12}/, version));
      assert.deepEqual(
        [old.status, old.headers.get("location"), old.headers.get("cache-control"), await old.text()],
        [302, common, "private, no-cache", ""],
        version,
      );
    }
    assert.equal((await world.request("/assets/0123456789ab/none.js")).status, 404);
  });

  test("the page of a language links to feed, CSV and JSON", async () => {
    const { links } = await open(world, "/languages/Rust?sort=new-hot&window=7d");
    const forms = links.filter((link) => link.startsWith("/api/")).slice(0, 3);
    assert.deepEqual(forms, [
      "/api/repos?language=Rust&sort=new-hot&window=7d&format=csv&limit=100",
      "/api/repos?language=Rust&sort=new-hot&window=7d",
      "/api/feeds/new-hot.atom?language=Rust&window=7d",
    ]);
    for (const path of forms) assert.equal((await world.request(path)).status, 200, path);
  });
});
