import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { validationError } from "../../src/lib/validation.js";

test("a failed validation names each parameter in plain words, and never in those of the library", () => {
  const schema = z.strictObject({
    long: z.string().max(3),
    short: z.string().min(5),
    list: z.array(z.string()).max(1),
    number: z.number().max(10),
    text: z.string(),
    flag: z.boolean(),
    kind: z.enum(["a", "b"]),
    absent: z.string(),
    own: z.string().max(1, "must be one letter"),
    nested: z.object({ ids: z.array(z.int()) }),
    mail: z.email(),
  });
  const result = schema.safeParse({
    long: "abcd",
    short: "abcd",
    list: ["a", "b"],
    number: 11,
    text: 5,
    flag: "yes",
    kind: "c",
    own: "ab",
    nested: { ids: [1, "x"] },
    mail: "nobody",
    more: 1,
  });
  assert.ok(!result.success);
  const { code, details } = validationError(result.error, "body");
  assert.equal(code, "VALIDATION_FAILED");
  assert.deepEqual(Object.fromEntries((details ?? []).map((one) => [one.parameter, one.message])), {
    long: "must be at most 3 characters",
    short: "must be at least 5 characters",
    list: "must have at most 1 item",
    number: "must be at most 10",
    text: "must be text",
    flag: "must be true or false",
    kind: "must be one of a, b",
    absent: "is required",
    own: "must be one letter",
    "nested.ids[1]": "must be a number",
    mail: "is not valid",
    more: "is not known; known are long, short, list, number, text, flag, kind, absent, own, nested, mail",
  });
});
