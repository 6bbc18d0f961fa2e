import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { createBrowserSecret } from "../../src/accounts/one-time-codes.js";
import { openAccounts } from "../support/accounts.js";
import { SELF_SIGNED } from "../support/certificate.js";
import { onSqlite } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { freePort } from "../support/ports.js";

onSqlite("A mail that cannot be sent", (engine) => {
  const ends: (() => void)[] = [];
  after(() => {
    for (const end of ends) end();
  });
  const serve = async (options: SMTPServerOptions) => {
    const server = new SMTPServer(options);
    server.on("error", () => {});
    const listening = server.listen(0, "127.0.0.1");
    await once(listening, "listening");
    ends.push(() => server.close(() => {}));
    return (listening.address() as AddressInfo).port;
  };
  /** What the log says after a mail was requested. */
  const failureAt = async (url: string) => {
    const { log, lines } = recordedLog("error");
    const settings = { SIDEREAL_SMTP_URL: url, SIDEREAL_MAIL_FROM: "a@example.org" };
    const { accounts } = openAccounts(await engine.open(), settings, { log });
    accounts.mail.request("ann@example.org", "/", createBrowserSecret());
    await accounts.mail.settled();
    await accounts.close();
    assert.equal(lines.length, 1);
    assert.doesNotMatch(JSON.stringify(lines), /ann@example\.org|\/sign-in|secret-password/);
    const [{ msg, host, port, code, reason } = { msg: "", code: "", reason: "" }] = lines;
    assert.equal(msg, "a mail could not be sent");
    return { host, port, code, reason: reason ?? "" };
  };

  test("is logged with the host, the port and the reason, and without the mail or the password", async () => {
    const free = await freePort();
    const nobody = await failureAt(`smtp://ann:secret-password@127.0.0.1:${free}`);
    assert.deepEqual([nobody.host, nobody.port, nobody.code], ["127.0.0.1", free, "ECONNREFUSED"]);
    assert.equal(nobody.reason, `connect ECONNREFUSED 127.0.0.1:${free}`);

    const tls = await serve({ ...SELF_SIGNED, authOptional: true });
    const untrusted = await failureAt(`smtp://127.0.0.1:${tls}`);
    assert.deepEqual([untrusted.port, untrusted.code], [tls, "DEPTH_ZERO_SELF_SIGNED_CERT"]);
    assert.match(untrusted.reason, /^its certificate is not trusted.*NODE_EXTRA_CA_CERTS/);

    const plain = await serve({ disabledCommands: ["STARTTLS", "AUTH"], authOptional: true });
    assert.equal(
      (await failureAt(`smtps://127.0.0.1:${plain}`)).reason,
      "it does not speak TLS on this port",
    );

    const refusing = await serve({
      disabledCommands: ["STARTTLS", "AUTH"],
      authOptional: true,
      onMailFrom: (_, __, done) =>
        done(Object.assign(new Error("no ann@example.org"), { responseCode: 550 })),
    });
    assert.match(
      (await failureAt(`smtp://127.0.0.1:${refusing}`)).reason,
      /^the server refuses the mail and would/,
    );

    const strict = await serve({
      disabledCommands: ["STARTTLS"],
      onAuth: (_, __, done) => done(new Error("wrong secret-password")),
    });
    assert.match(
      (await failureAt(`smtp://ann:secret-password@127.0.0.1:${strict}`)).reason,
      /refuses the user or the password in SIDEREAL_SMTP_URL$/,
    );
  });
});
