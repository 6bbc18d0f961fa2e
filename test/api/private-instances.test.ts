import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { checkDocumented } from "../support/openapi.js";
import { onTheWire, type RawAnswer, type Wire } from "../support/raw.js";

/** A request under a host, with further header lines. */
function request(
  host: string,
  { method = "GET", target = "/api/repos", headers = "", body = "" } = {},
): string {
  const length = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}${length}Connection: close\r\n\r\n${body}`;
}

async function only({ send }: Wire, bytes: string): Promise<RawAnswer> {
  const [answer, ...others] = await send(bytes);
  assert.ok(answer !== undefined && others.length === 0, bytes);
  const [method = "", target = ""] = bytes.split(" ");
  const type = answer.headers["content-type"]?.split(";")[0] ?? "";
  const { status, body } = answer;
  checkDocumented({ method, path: target.split("?")[0] ?? "", status, type, text: body });
  return answer;
}

async function statusesOf(wire: Wire, hosts: readonly string[]): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const host of hosts) statuses[host] = (await only(wire, request(host))).status;
  return statuses;
}

const each = (hosts: readonly string[], status: number) =>
  Object.fromEntries(hosts.map((host) => [host, status]));

const EVIL = "Origin: http://evil.example\r\n";
const create = (headers: string) =>
  request("git.lan", { method: "POST", target: "/api/watchlists", headers, body: "{}" });

onSqliteAndLong("An instance with a private address", (engine) => {
  const wire = onTheWire(engine, { SIDEREAL_BASE_URL: "http://git.lan:8080" });

  test("responds under its own host and the names of this machine, and under no other", async () => {
    const own = [
      "git.lan:8080",
      "GIT.LAN",
      "git.lan.",
      "localhost:3000",
      "a.localhost",
      "127.0.0.1",
      "[::1]:80",
      hostname(),
    ];
    assert.deepEqual(await statusesOf(wire, own), each(own, 200));
    const others = [
      "evil.example",
      "git.lan.evil.example",
      "xgit.lan",
      "lan",
      "10.0.0.1",
      "git.lan@evil.example",
      "git.lan:99999",
      "",
    ];
    assert.deepEqual(await statusesOf(wire, others), each(others, 421));
    // Health checks in HTTP/1.0 name no host.
    assert.deepEqual(
      (await wire.send("GET /healthz HTTP/1.0\r\n\r\n")).map(({ status }) => status),
      [200],
    );
  });

  test("refuses another host also if the response is cached, and says which setting to change", async () => {
    for (let i = 0; i < 3; i++) assert.equal((await only(wire, request("git.lan"))).status, 200);
    const answer = await only(wire, request("evil.example"));
    assert.equal(answer.status, 421);
    assert.equal(answer.headers["cache-control"], "no-store");
    const { code, message } = JSON.parse(answer.body).error;
    assert.equal(code, "MISDIRECTED_REQUEST");
    assert.match(message, /SIDEREAL_BASE_URL.*SIDEREAL_ALLOWED_HOSTS/);
    const page = await only(wire, request("evil.example", { target: "/", headers: "Accept: text/html\r\n" }));
    assert.equal(page.status, 421);
    assert.equal(page.headers["content-type"], "text/plain; charset=utf-8");
    assert.match(page.body, /SIDEREAL_BASE_URL/);
    assert.equal((await only(wire, request("evil.example", { target: "/%" }))).status, 421);
  });

  test("lets no other site read, but show its pictures", async () => {
    const list = await only(wire, request("git.lan", { headers: EVIL }));
    assert.equal(list.headers["access-control-allow-origin"], undefined);
    assert.equal(list.headers["access-control-expose-headers"], undefined);
    assert.equal(list.headers["cross-origin-resource-policy"], "same-origin");
    const target = "/api/embed/badge.svg?repo=github:a/one";
    const badge = await only(wire, request("git.lan", { target, headers: EVIL }));
    assert.equal(badge.headers["access-control-allow-origin"], undefined);
    assert.equal(badge.headers["cross-origin-resource-policy"], "cross-origin");
    const asked = `${EVIL}Access-Control-Request-Method: POST\r\n`;
    const preflight = await only(
      wire,
      request("git.lan", { method: "OPTIONS", target: "/api/watchlists", headers: asked }),
    );
    assert.equal(preflight.status, 204);
    assert.deepEqual(
      Object.keys(preflight.headers).filter((name) => name.startsWith("access-control")),
      [],
    );
  });

  test("lets no other site change anything, but programs and its own pages", async () => {
    const statuses: number[] = [];
    for (const headers of [
      EVIL,
      "Origin: null\r\n",
      `${EVIL}Sec-Fetch-Site: cross-site\r\n`,
      "Sec-Fetch-Site: same-site\r\n",
      "",
      "Origin: http://git.lan:8080\r\n",
      "Origin: http://git.lan\r\n",
      `Origin: http://localhost:8080\r\nSec-Fetch-Site: same-origin\r\n`,
    ])
      statuses.push((await only(wire, create(headers))).status);
    assert.deepEqual(statuses, [403, 403, 403, 403, 201, 201, 201, 201]);
  });
});

onSqliteAndLong("An instance with a public address", (engine) => {
  const wire = onTheWire(engine);

  test("responds under any host, as proxies may rewrite it, and to pages of any site", async () => {
    const hosts = ["evil.example", "127.0.0.1:3000", "sidereal.example"];
    assert.deepEqual(await statusesOf(wire, hosts), each(hosts, 200));
    const created = await only(wire, create(EVIL));
    assert.equal(created.status, 201);
    assert.equal(created.headers["access-control-allow-origin"], "*");
  });
});

onSqliteAndLong("An instance whose hosts and CORS are configured", (engine) => {
  const wire = onTheWire(engine, {
    SIDEREAL_BASE_URL: "http://git.lan",
    SIDEREAL_ALLOWED_HOSTS: "10.0.0.7, 2001:db8::7,Status.Example",
    SIDEREAL_CORS: "true",
  });

  test("responds under the listed hosts too, and lets pages of other sites use the API", async () => {
    const hosts = ["10.0.0.7:3000", "[2001:DB8::7]", "status.example", "git.lan"];
    assert.deepEqual(await statusesOf(wire, hosts), each(hosts, 200));
    assert.deepEqual(await statusesOf(wire, ["10.0.0.8"]), each(["10.0.0.8"], 421));
    const created = await only(wire, create(EVIL));
    assert.equal(created.status, 201);
    assert.equal(created.headers["access-control-allow-origin"], "*");
  });
});
