import assert from "node:assert/strict";
import { test } from "node:test";
import { type RefusalContext, Refusals, WAIT } from "../../src/http/errors.js";
import { storeResponse } from "../../src/http/response.js";
import { AppError } from "../../src/lib/errors.js";

const LIMITED = new AppError("RATE_LIMITED", `Try again in ${WAIT} s.`, { headers: { "Retry-After": WAIT } });

function createRefusals() {
  const refusals = new Refusals();
  let renders = 0;
  const respond = async (more: Partial<RefusalContext> & { id: string }) => {
    const route = { form: "page", access: "public" } as const;
    const { headers, body, status } = await refusals.respond(
      { error: LIMITED, waitSeconds: 1, route, shape: "page", ...more },
      async (id) => {
        renders++;
        const { message, headers: own } = more.error ?? LIMITED;
        const reply = { status: 429, headers: own, body: `é ${message} Request ${id}. ${message}` };
        return storeResponse(reply, reply.headers, "");
      },
    );
    return { status, headers: [...headers], text: body.toString() };
  };
  return { respond, renders: () => renders };
}

test("a refusal is rendered once, and has the id and the seconds of each request everywhere", async () => {
  const { respond, renders } = createRefusals();
  for (const [id, waitSeconds] of [
    ["first", 7],
    ["second", 42],
  ] as const)
    assert.deepEqual(await respond({ id, waitSeconds }), {
      status: 429,
      headers: ["Retry-After", String(waitSeconds)],
      text: `é Try again in ${waitSeconds} s. Request ${id}. Try again in ${waitSeconds} s.`,
    });
  assert.equal(renders(), 1);
});

test("routes of the same form and access share what is rendered, such as those of unknown addresses", async () => {
  const { respond, renders } = createRefusals();
  for (let i = 0; i < 10; i++) await respond({ id: `${i}`, route: { form: "page", access: "public" } });
  assert.equal(renders(), 1);
  await respond({ id: "other access", route: { form: "page", access: "browser" } });
  await respond({ id: "other form", route: { form: "json", access: "public" } });
  await respond({ id: "other shape", shape: "problem" });
  await respond({ id: "other error", error: new AppError("UNAVAILABLE", "Overloaded.") });
  assert.equal(renders(), 5);
});
