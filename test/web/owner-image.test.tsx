import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { renderToString } from "preact-render-to-string";
import { OwnerImage } from "../../src/web/components/badges.js";
import type { RenderContext } from "../../src/web/page-request.js";

const drawn = (owner: string) => renderToString(<OwnerImage provider="GITHUB" owner={owner} />);
/** An empty attribute has no value. */
const initialOf = (owner: string) => {
  const found = / data-initial(?:="([^"]*)")?[ >]/.exec(drawn(owner));
  return found === null ? undefined : (found[1] ?? "");
};
const tintOf = (owner: string) => /tint-(\d)/.exec(drawn(owner))?.[1];

describe("The image of an owner", () => {
  test("shows one initial of any script if there is no image", () => {
    for (const [owner, initial] of [
      ["facebook", "F"],
      ["9fans", "9"],
      ["-dash", "D"],
      ["group/sub", "S"],
      ["ßharp", "ß"],
      ["中文", "中"],
      ["مثال", "م"],
      ["e\u0301cole", "E\u0301"],
      ["नमस्ते", "न"],
      ["👩‍👩‍👧x", "X"],
      ["👩‍👩‍👧", "👩‍👩‍👧"],
      ["--", "-"],
      ['"><b>', "B"],
      ['"', "&quot;"],
      ["", ""],
    ] as const)
      assert.equal(initialOf(owner), initial, owner);
    assert.doesNotMatch(drawn("facebook"), /<img/);
  });

  test("has one of six colours, the same for an owner however it is written", () => {
    assert.equal(tintOf("Facebook"), tintOf("facebook"));
    const tints = new Set(Array.from({ length: 200 }, (_, i) => tintOf(`owner${i}`)));
    assert.deepEqual([...tints].sort(), ["1", "2", "3", "4", "5", "6"]);
  });

  test("is the stored one if there is one, with its size, and hidden from screen readers", () => {
    const context: RenderContext = {
      findOwnerImage: (provider, owner) =>
        provider === "GITHUB" && owner === "facebook" ? "0123" : undefined,
    };
    const page = (
      <>
        <OwnerImage provider="GITHUB" owner="facebook" size={64} isFirst />
        <OwnerImage provider="GITLAB" owner="facebook" />
      </>
    );
    const [first = "", second = ""] = renderToString(page, context).split("</span>");
    assert.match(first, /class="owner-image tint-\d size-64" data-initial="F" aria-hidden="true"/);
    assert.match(first, /<img src="\/avatars\/0123" alt width="64" height="64"\/>/);
    assert.doesNotMatch(second, /<img/);
    const below = renderToString(<OwnerImage provider="GITHUB" owner="facebook" />, context);
    assert.match(below, /width="24" height="24" loading="lazy"/);
  });
});
