import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { createTransport } from "../../src/forges/transport.js";
import { startProxy } from "../support/proxy.js";

const signal = new AbortController().signal;

async function startSite() {
  const server = createServer((_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}

test("requests go through the proxy with its credentials, except to hosts that it is not for", async (t) => {
  const [proxy, site] = [await startProxy(), await startSite()];
  const address = proxy.url.replace("http://", "http://user:pass%20word@");
  t.after(() => Promise.all([proxy.close(), site.close()]));
  const open = (except: string) =>
    createTransport({
      origins: [site.url],
      mayBePrivate: true,
      userAgent: "test",
      proxy: { http: address, https: null, except },
    });
  const through = open("");
  assert.equal((await through.fetch(`${site.url}/x`, { signal })).text, "{}");
  assert.deepEqual(proxy.asked, [`GET ${site.url}/x`]);
  assert.deepEqual([...proxy.credentials], [`Basic ${Buffer.from("user:pass word").toString("base64")}`]);
  const direct = open("example.org, 127.0.0.1");
  assert.equal((await direct.fetch(`${site.url}/x`, { signal })).text, "{}");
  assert.equal(proxy.connections, 1);
  await Promise.all([through.close(), direct.close()]);
});

test("an https site is reached by a tunnel, and no message shows the address of the proxy", async (t) => {
  const proxy = await startProxy(1);
  t.after(() => proxy.close());
  const transport = createTransport({
    origins: ["https://git.example"],
    mayBePrivate: false,
    userAgent: "test",
    proxy: { http: null, https: proxy.url.replace("http://", "http://user:hunter2@"), except: "" },
  });
  const failure = await transport.fetch("https://git.example/x", { signal }).catch((error) => error);
  assert.equal(failure.kind, "unreachable");
  assert.deepEqual(proxy.asked, ["CONNECT git.example:443"]);
  assert.match(failure.message, /git\.example: no response, with a proxy configured/);
  assert.doesNotMatch(failure.message, /hunter2|127\.0\.0\.1/);
  await transport.close();
});

test("an address in a private network is refused through a proxy too, and the message names the setting", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.close());
  for (const settings of [undefined, { http: proxy.url, https: proxy.url, except: "" }]) {
    const transport = createTransport({
      origins: ["http://10.0.0.7", "https://[fe80::1]"],
      mayBePrivate: false,
      privateSetting: "SIDEREAL_WORK_PRIVATE",
      userAgent: "test",
      proxy: settings,
    });
    for (const url of ["http://10.0.0.7/x", "https://[fe80::1]/x"])
      await assert.rejects(transport.fetch(url, { signal }), {
        kind: "unreachable",
        message: /not on the public internet; SIDEREAL_WORK_PRIVATE=true allows it$/,
      });
    await transport.close();
  }
  assert.equal(proxy.connections, 0);
});
