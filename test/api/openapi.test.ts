import assert from "node:assert/strict";
import { test } from "node:test";
import { check, document, documentText } from "../support/openapi.js";

interface Parameter {
  name: string;
  description?: string;
  example?: unknown;
  schema: Record<string, unknown>;
}
interface Media {
  schema: Record<string, unknown>;
  example?: unknown;
}
interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<
    string,
    { description: string; headers?: Record<string, unknown>; content?: Record<string, Media> }
  >;
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Operation>).map(
    ([method, operation]) => [`${method} ${path}`, method, operation] as const,
  ),
);

test("the document is small enough to read: under 260 kB", () => {
  assert.ok(Buffer.byteLength(documentText()) < 260_000, `${Buffer.byteLength(documentText())} bytes`);
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

test("every example of a parameter, body and response is allowed by its schema", () => {
  let checked = 0;
  for (const [where, , { parameters = [], requestBody, responses }] of operations) {
    for (const { name, schema, example } of parameters) check(schema, example, `${where}: ${name}`);
    const bodies = [requestBody, ...Object.values(responses)];
    for (const { schema, example } of bodies.flatMap((one) => Object.values(one?.content ?? {}))) {
      if (schema.format !== "binary") check(schema, example, where);
      checked++;
    }
  }
  assert.ok(checked > 200);
});

test("every field has a description", () => {
  let fields = 0;
  const visit = (value: unknown, where: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties } = value as { properties?: Record<string, { description?: string }> };
    for (const [name, { description = "" }] of Object.entries(properties ?? {})) {
      assert.ok(description.length > 3, `${where}: ${name}`);
      fields++;
    }
    for (const [name, inner] of Object.entries(value))
      if (!name.startsWith("example")) visit(inner, `${where}/${name}`);
  };
  visit(JSON.parse(documentText()), "");
  assert.ok(fields > 500);
});

test("no field is a number in one record and a list in another", () => {
  const types = new Map<string, Set<string>>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties } = value as { properties?: Record<string, { type?: string | string[] }> };
    for (const [name, { type = [] }] of Object.entries(properties ?? {}))
      for (const one of [type].flat()) types.set(name, (types.get(name) ?? new Set()).add(one));
    for (const [name, inner] of Object.entries(value)) if (!name.startsWith("example")) visit(inner);
  };
  visit(JSON.parse(documentText()));
  const both = [...types].filter(([, all]) => all.has("array") && (all.has("integer") || all.has("number")));
  assert.deepEqual(
    both.map(([name]) => name),
    [],
  );
});

test("the bucket of an operation is a name, and lists have another with q", () => {
  const buckets = operations.map(([where, , operation]) => {
    const { "x-rate-limit-bucket": bucket, "x-rate-limit-bucket-with-q": withQ } =
      operation as unknown as Record<string, unknown>;
    assert.equal(typeof bucket, "string", where);
    return [bucket, withQ];
  });
  const lists = buckets.filter(([, withQ]) => withQ !== undefined);
  assert.deepEqual(new Set(lists.map(String)), new Set(["default,search"]));
});

test("no two paths match the same address, unless one of them has fewer parameters", () => {
  const paths = Object.keys(document.paths).map((path) => path.split("/"));
  const isOpen = (part = "") => part.startsWith("{");
  for (const [i, one] of paths.entries())
    for (const other of paths.slice(i + 1)) {
      if (one.length !== other.length) continue;
      const pairs = one.map((part, at) => [part, other[at] ?? ""] as const);
      if (!pairs.every(([a, b]) => a === b || isOpen(a) || isOpen(b))) continue;
      const [left, right] = [
        pairs.some(([a, b]) => isOpen(a) && !isOpen(b)),
        pairs.some(([a, b]) => isOpen(b) && !isOpen(a)),
      ];
      assert.ok(left !== right, `${one.join("/")} and ${other.join("/")}`);
    }
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

test("a schema that has a name is never null itself: its references say whether they may be null", () => {
  for (const [name, schema] of Object.entries(document.components.schemas))
    assert.ok(![(schema as { type?: string | string[] }).type].flat().includes("null"), name);
});
