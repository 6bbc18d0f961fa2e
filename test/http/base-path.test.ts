import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { OPEN_PAGES } from "../support/open-pages.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const BASE = "/tracker";
const ORIGIN = "https://sidereal.example";

onSqlite("A base URL with a path", (engine) => {
  const mailbox = openMailbox();
  let world: World;

  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_BASE_URL: `${ORIGIN}${BASE}` });
    await world.record(
      observation("a/one", daily(100, 110), { facts: { language: "Go" } }),
      observation("new/name", daily(10, 20), { providerId: "7" }),
    );
  });

  const open = (path: string, headers: Record<string, string> = {}) =>
    world.request(BASE + path, { headers: { Accept: "text/html", ...headers } });

  const PAGES = [
    ...OPEN_PAGES,
    "",
    "/explore?sort=stars",
    "/languages/Go",
    "/repos/github/a/one",
    "/compare?repo=github:a/one",
    "/docs",
    "/sign-in",
    "/watchlists",
  ];

  test("serves every page below the path, and nothing outside it", async () => {
    for (const path of PAGES) {
      assert.equal((await open(path)).status, 200, path);
      if (path === "" || path === "/") continue;
      assert.equal((await world.request(path, { headers: { Accept: "text/html" } })).status, 404, path);
    }
    // A proxy that cuts the path off is named, and nothing else.
    const hint = /base URL of this service has the path \/tracker, which a proxy/;
    assert.match((await (await world.request("/api/repos")).json()).error.message, hint);
    assert.match(await (await world.request("/explore", { headers: { Accept: "text/html" } })).text(), hint);
    assert.doesNotMatch(await (await world.request("/elsewhere")).text(), hint);
    for (const path of ["/trackers", "/track", "/account", "/tracker-2/explore", "/explore/tracker"])
      assert.equal((await world.request(path)).status, 404, path);
    assert.equal((await open("/api/repos")).status, 200);
    assert.equal((await open("/healthz")).status, 200);
  });

  test("every link, form and asset of a page leads below the path, and is there", async () => {
    const assets = new Set<string>();
    const links = new Set<string>();
    for (const path of PAGES) {
      const html = await (await open(path)).text();
      for (const [, name = "", address = ""] of html.matchAll(/ (href|src|action|formaction)="(\/[^"]*)"/g)) {
        assert.ok(address.startsWith(`${BASE}/`), `${path}: ${name}="${address}"`);
        if (address.includes("/assets/")) assets.add(address);
        else if (name === "href") links.add(address.replaceAll("&amp;", "&").split("#")[0] ?? "");
      }
      const canonical = /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1];
      if (canonical !== undefined) assert.ok(canonical.startsWith(`${ORIGIN}${BASE}/`), canonical);
    }
    assert.ok(assets.size >= 3 && links.size >= 30);
    for (const address of assets) assert.equal((await world.request(address)).status, 200, address);
    for (const address of links) {
      const { status } = await world.request(address, { headers: { Accept: "text/html" } });
      assert.ok(status < 400, `${address} returned ${status}`);
    }
  });

  test("browser scripts find the API through their own address", async () => {
    const html = await (await open("/explore")).text();
    const search = /src="([^"]*\/search\.js)"/.exec(html)?.[1] ?? "";
    const texts = new Map<string, string>();
    const read = async (name: string): Promise<void> => {
      if (texts.has(name)) return;
      const response = await world.request(search.replace("search.js", name));
      assert.equal(response.status, 200, name);
      const text = await response.text();
      texts.set(name, text);
      for (const [, imported = ""] of text.matchAll(/["`]\.\/([\w-]+\.js)["`]/g)) await read(imported);
    };
    for (const name of ["search.js", "save.js", "filters.js", "compare.js"]) await read(name);
    const ofAddress = [...texts.values()].filter((text) =>
      /new URL\(["`]\.\.\/\.\.\/["`],\s*import\.meta\.url\)/.test(text),
    );
    assert.equal(ofAddress.length, 1);
    for (const [name, text] of texts) assert.doesNotMatch(text, /fetch\(["`]\//, name);
  });

  test("redirects, Location and Link lead below the path", async () => {
    const list = await open("/api/repos?limit=1&sort=stars");
    for (const [, address = ""] of (list.headers.get("link") ?? "").matchAll(/<([^>]*)>/g))
      assert.ok(address.startsWith(`${ORIGIN}${BASE}/api/repos?`), address);
    const slash = await open("/explore/?sort=stars");
    assert.deepEqual([slash.status, slash.headers.get("location")], [301, `${BASE}/explore?sort=stars`]);
    const own = await open("/account");
    assert.equal(own.headers.get("location"), `${BASE}/sign-in?next=%2Faccount`);
    const created = await world.request(`${BASE}/api/watchlists`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
    assert.match(created.headers.get("location") ?? "", /^\/tracker\/api\/watchlists\/sidw_/);
    assert.equal((await world.request(created.headers.get("location") ?? "")).status, 200);
    const robots = await (await open("/robots.txt")).text();
    assert.match(robots, /^Disallow: \/tracker\/api\/$/m);
    assert.match(robots, /^Sitemap: https:\/\/sidereal\.example\/tracker\/sitemap\.xml$/m);
  });

  test("signing in sets cookies for the path alone, and leads back below it", async () => {
    const form = (path: string, fields: Record<string, string>, cookie = "") =>
      world.request(BASE + path, {
        method: "POST",
        headers: {
          Accept: "text/html",
          Origin: ORIGIN,
          "Content-Type": "application/x-www-form-urlencoded",
          ...(cookie === "" ? {} : { Cookie: cookie }),
        },
        body: new URLSearchParams(fields).toString(),
      });
    const asked = await form("/sign-in", { email: "ann@example.org", next: "/account/keys" });
    assert.deepEqual([asked.status, asked.headers.get("location")], [303, `${BASE}/sign-in/sent`]);
    const [note = ""] = asked.headers.getSetCookie();
    assert.match(note, /^__Secure-sidereal\.asked=[^;]+; .*Path=\/tracker; HttpOnly; SameSite=Lax; Secure$/);
    const { link } = await mailbox.next();
    assert.equal(link.pathname, `${BASE}/sign-in/link`);
    const token = link.searchParams.get("token") ?? "";
    const next = link.searchParams.get("next") ?? "";
    const signedIn = await form("/sign-in/link", { token, next }, note.split(";")[0]);
    assert.deepEqual([signedIn.status, signedIn.headers.get("location")], [303, `${BASE}/account/keys`]);
    const session = signedIn.headers.getSetCookie().find((cookie) => cookie.includes("session_token")) ?? "";
    assert.match(session, /^__Secure-sidereal\.session_token=/);
    assert.match(session, /Path=\/tracker;/);
    const cookie = session.split(";")[0] ?? "";
    assert.equal((await open("/account/keys", { Cookie: cookie })).status, 200);
    const out = await form("/sign-out", {}, cookie);
    assert.equal(out.headers.get("location"), `${BASE}/`);
    assert.match(out.headers.getSetCookie()[0] ?? "", /Max-Age=0; Path=\/tracker;/);
    assert.equal((await open("/account/keys", { Cookie: cookie })).status, 303);
  });
});
