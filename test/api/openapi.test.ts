import assert from "node:assert/strict";
import { test } from "node:test";
import { document, documentText } from "../support/openapi.js";

interface Parameter {
  name: string;
  description?: string;
  example?: unknown;
  schema: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  responses: Record<string, { description: string; headers?: Record<string, unknown> }>;
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Operation>).map(
    ([method, operation]) => [`${method} ${path}`, method, operation] as const,
  ),
);

test("the document is small enough to read: under 160 kB", () => {
  assert.ok(Buffer.byteLength(documentText()) < 160_000, `${Buffer.byteLength(documentText())} bytes`);
});

test("every parameter has a description and an example, and no default that contradicts another parameter", () => {
  let checked = 0;
  for (const [where, , { parameters = [] }] of operations) {
    for (const { name, description, example, schema } of parameters) {
      assert.ok(description !== undefined && description.length > 5, `${where}: ${name}`);
      assert.notEqual(example, undefined, `${where}: ${name}`);
      if (name === "page")
        assert.equal(schema.default, undefined, "a client that sends it could send no cursor");
      checked++;
    }
  }
  assert.ok(checked > 150);
});

test("every GET but streams has a 304 and takes If-None-Match, and its 200 has ETag and Cache-Control", () => {
  for (const [where, method, { operationId, parameters = [], responses }] of operations) {
    if (method !== "get" || responses["200"] === undefined) continue;
    if (operationId.startsWith("stream")) {
      assert.equal(responses["304"], undefined, where);
      assert.equal(responses["200"].headers?.ETag, undefined, where);
      continue;
    }
    assert.ok(responses["304"]?.headers?.ETag, where);
    assert.ok(
      parameters.some(({ name }) => name === "If-None-Match"),
      where,
    );
    for (const name of ["ETag", "Cache-Control"]) assert.ok(responses["200"].headers?.[name], where);
  }
});

test("every reference leads to a component, and every component is used", () => {
  const text = documentText();
  const used = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name ?? ""));
  const { securitySchemes: _, ...kinds } = JSON.parse(text).components as Record<string, object>;
  const known = Object.entries(kinds).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `${kind}/${name}`),
  );
  assert.ok(used.size > 80);
  assert.deepEqual([...used].toSorted(), known.toSorted());
});

test("a schema that has a name is never null itself: what refers to it says where it may be", () => {
  for (const [name, schema] of Object.entries(document.components.schemas))
    assert.ok(![(schema as { type?: string | string[] }).type].flat().includes("null"), name);
});
