import assert from "node:assert/strict";
import { test } from "node:test";
import { element, escapeXml, xmlDocument } from "../../src/lib/xml.js";
import { fc } from "../support/properties.js";
import { parseXml } from "../support/xml.js";

/** What a reader must find of a text: all that XML can hold. */
function holdable(text: string): string {
  return [...text]
    .filter((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isControl = code < 0x20 && ![0x09, 0x0a, 0x0d].includes(code);
      return !isControl && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
    })
    .join("");
}

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("<", ">", "&", '"', "'", "]", "]]>", "\r", "\n", "\t", "\0", "\u{fffe}", "a"),
  }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
);

test("any text is read back as it was, in elements and in attributes", () => {
  fc.assert(
    fc.property(hostile, hostile, (text, value) => {
      const root = parseXml(xmlDocument(element("a", { b: value }, text, element("c", {}, text))));
      assert.equal(root.attributes.b, holdable(value));
      assert.equal(root.children[0]?.text, holdable(text));
      assert.equal(root.text, holdable(text) + holdable(text));
    }),
    { numRuns: 500 },
  );
});

test("what marks up is escaped, what cannot be is left out", () => {
  assert.equal(
    escapeXml(`<a href="x">&'\u0000\u001b\ud800\uffff\r`),
    "&lt;a href=&quot;x&quot;&gt;&amp;&apos;&#13;",
  );
  assert.equal(element("a", {}).markup, "<a/>");
});
