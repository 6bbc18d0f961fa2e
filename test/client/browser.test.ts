import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Service } from "../../src/app/service.js";
import { NO_CHROMIUM, openBrowser } from "../support/browser.js";
import { onSqlite } from "../support/engines.js";
import { startLocalService } from "../support/local-service.js";

/** A page of another origin than the service. */
const PAGE = `<!doctype html><script type="module">
import { Sidereal } from "./client.js";
const baseUrl = new URLSearchParams(location.search).get("service");
const sidereal = new Sidereal({ baseUrl, headers: { "X-API-Key": "sid_nobody" } });
const outcome = [];
await sidereal.get("/api/limits").catch(({ code, status }) => outcome.push(code, status));
for await (const { fullName } of new Sidereal({ baseUrl }).rows("/api/repos", { query: { sort: "stars", limit: 1 } }))
  outcome.push(fullName);
document.title = outcome.join();
</script>`;

onSqlite("The client in a browser", (engine) => {
  let service: Service;
  let browser: Browser;
  let site: Server;
  before(async () => {
    if (NO_CHROMIUM) return;
    service = await startLocalService(await engine.open(), { SIDEREAL_CORS: "true" });
    const client = readFileSync("client/dist/client.js");
    site = createServer(({ url }, response) => {
      const isClient = url === "/client.js";
      response.setHeader("Content-Type", isClient ? "text/javascript" : "text/html");
      response.end(isClient ? client : PAGE);
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    site?.close();
    await service?.stop();
  });

  test("reads lists and errors of a service of another origin", { skip: NO_CHROMIUM }, async () => {
    const page = await browser.newPage();
    const address = site.address();
    assert.ok(typeof address === "object" && address !== null);
    await page.goto(`http://127.0.0.1:${address.port}/?service=${encodeURIComponent(service.url)}`);
    await page.waitForFunction("document.title !== ''");
    assert.equal(await page.title(), "INVALID_API_KEY,401,facebook/react,acme/kite,group/sub/three");
  });
});
