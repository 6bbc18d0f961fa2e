import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { CommandWorld } from "../support/command.js";
import { openMailbox } from "../support/mail.js";

const KINDS = ["link token", "browser secret", "session token", "session cookie", "API key"] as const;

/** What a running service has said of its address, as soon as it has. */
function addressOf(stdout: NodeJS.ReadableStream | null): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    stdout?.on("data", (chunk: string) => {
      text += chunk;
      const found = /listens at (\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    stdout?.once("end", () => reject(new Error(`it ended: ${text}`)));
  });
}

describe("What a whole run leaves behind", () => {
  const mailbox = openMailbox();
  const commands = new CommandWorld();

  test("no file and no line of the log holds a link, a session or a key as it is", async () => {
    const dataDir = commands.newDataDir();
    const running = commands.start(dataDir, ["serve"], {
      ...mailbox.settings,
      SIDEREAL_PORT: "0",
      SIDEREAL_LOG_LEVEL: "trace",
    });
    after(() => running.process.kill("SIGKILL"));
    const base = await addressOf(running.process.stdout);
    const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${base}${path}`, {
        method,
        headers: {
          Origin: base,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const email = "canary@example.org";
    const asked = await send("POST", "/api/auth/magic-link", { email });
    assert.equal(asked.status, 202);
    const {
      data: { requestToken },
    }: { data: { requestToken: string } } = JSON.parse(await asked.text());
    const { link, code: typed } = await mailbox.next();
    assert.equal(link.origin, base);
    assert.equal((await fetch(link)).status, 200);
    const token = link.searchParams.get("token") ?? "";
    const verified = await send("POST", "/api/auth/verify", { requestToken, token });
    assert.equal(verified.status, 200);
    assert.equal((await send("POST", "/api/auth/verify", { requestToken, token })).status, 400);
    const cookie = verified.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const session = decodeURIComponent(cookie.split("=").slice(1).join("="));
    const made = await send("POST", "/api/me/keys", { name: "canary" }, { Cookie: cookie });
    const { data }: { data: { key: string; id: string } } = JSON.parse(await made.text());
    for (const headers of [{ "X-API-Key": data.key }, { Authorization: `Bearer ${data.key}` }])
      assert.equal((await send("GET", "/api/repos", undefined, headers)).status, 200);
    assert.equal((await send("GET", `/api/nothing?api_key=${data.key}`)).status, 404);
    // What is counted of it must not hold what somebody put where it does not belong.
    const misplaced = { "X-API-Key": data.key, "User-Agent": data.key };
    assert.equal((await send("GET", `/api/nothing/${data.key}`, undefined, misplaced)).status, 404);
    assert.equal(
      (await send("DELETE", `/api/me/keys/${data.id}`, undefined, { Cookie: cookie })).status,
      204,
    );
    assert.equal((await send("GET", "/api/repos", undefined, { "X-API-Key": data.key })).status, 401);

    // While it runs, what was written last is in the log of the database, not yet in the file.
    const during = readdirSync(dataDir).map((name) => [name, readFileSync(join(dataDir, name))] as const);
    running.process.kill("SIGTERM");
    const { code, stdout, stderr } = await running.ended;
    assert.equal(code, 0, stderr);
    const left = readdirSync(dataDir).map((name) => [name, readFileSync(join(dataDir, name))] as const);
    assert.ok(left.some(([name, bytes]) => name === "sidereal.db" && bytes.includes("/api/repos")));
    const places = [
      ...during,
      ...left,
      ["standard output", Buffer.from(stdout)],
      ["log", Buffer.from(stderr)],
    ] as const;
    assert.ok(during.some(([name, bytes]) => name.endsWith("-wal") && bytes.includes(email)));
    const secrets = [token, requestToken, session.split(".")[0] ?? "", session, data.key];
    for (const digits of [typed, typed.replace(" ", "")])
      for (const [name, bytes] of places) assert.ok(!bytes.includes(digits), `${name} holds the code`);
    for (const [i, secret] of secrets.entries()) {
      assert.ok(secret.length >= 32);
      // Neither the whole nor the random part of it.
      const part = secret.slice(5, 35);
      for (const [name, bytes] of places)
        assert.ok(!bytes.includes(secret) && !bytes.includes(part), `${name} holds the ${KINDS[i]}`);
    }
  });
});
