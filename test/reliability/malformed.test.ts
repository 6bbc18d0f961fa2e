import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { startSmallService } from "../support/raw.js";
import { type MalformedResult, sendMalformed } from "./malformed/malformed.js";
import { startNginx, withoutNginx } from "./malformed/nginx.js";

const AMOUNT = { seed: 1, rounds: 1, changed: 150 };

function assertKept({ sent, refused, failures }: MalformedResult): void {
  assert.deepEqual(failures, []);
  assert.ok(refused > sent / 4, `${refused} of ${sent} were refused`);
}

onSqlite("Malformed requests", (engine) => {
  test("are refused without a server error, and end their connection", async () => {
    const service = await startSmallService(await engine.open());
    try {
      assertKept(await sendMalformed({ ...AMOUNT, port: service.port, isBehindProxy: false }));
    } finally {
      await service.stop();
    }
  });

  test("get no response of another request behind nginx", { skip: withoutNginx }, async () => {
    const service = await startSmallService(await engine.open());
    const nginx = await startNginx(service.port);
    try {
      assertKept(await sendMalformed({ ...AMOUNT, port: nginx.port, isBehindProxy: true }));
    } finally {
      await nginx.stop();
      await service.stop();
    }
  });

  test("a body that is too long is refused as such behind nginx, however long it is", {
    skip: withoutNginx,
  }, async () => {
    const service = await startSmallService(await engine.open());
    const nginx = await startNginx(service.port);
    try {
      for (const bytes of [16_385, 100_000, 1_000_000]) {
        const response = await fetch(`http://127.0.0.1:${nginx.port}/api/watchlists`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: `{}${" ".repeat(bytes - 2)}`,
        });
        assert.equal(response.status, 413, String(bytes));
      }
    } finally {
      await nginx.stop();
      await service.stop();
    }
  });
});
