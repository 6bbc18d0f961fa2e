import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Child, createContext, type FC, raw, render, useContext } from "../../src/web/jsx-runtime.js";

describe("Elements", () => {
  test("escape all text in content and attributes", () => {
    const text = `<b title="x">'&'</b>`;
    const escaped = "&lt;b title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;";
    assert.equal(render(<p title={text}>{text}</p>), `<p title="${escaped}">${escaped}</p>`);
    assert.equal(render(text), escaped);
  });

  test("replace what a page may not contain, also in text that is HTML already", () => {
    for (const code of [0, 8, 0x0b, 0x1f, 0x7f, 0x9f, 0xfdd0, 0xffff, 0x1fffe, 0x10ffff]) {
      const text = `<a${String.fromCodePoint(code)}`;
      assert.equal(
        render(<p title={text}>{raw(text)}</p>),
        '<p title="&lt;a\uFFFD"><a\uFFFD</p>',
        String(code),
      );
    }
    for (const text of ["\t\n\r", "\u{a0}", "\u{1f600}", "\u{1fffd}"]) assert.equal(render(text), text);
  });

  test("write nothing for what is absent, and numbers as they are", () => {
    const absent: readonly Child[] = [null, undefined, true, false, "", []];
    assert.equal(render(<p>{absent}</p>), "<p></p>");
    assert.equal(render(<p tabindex={-1}>{[0, [1, <b>2</b>]]}</p>), '<p tabindex="-1">01<b>2</b></p>');
  });

  test("leave out attributes that are absent, and know which are there or not", () => {
    assert.equal(
      render(
        <button
          type="button"
          class={undefined}
          id=""
          disabled
          hidden={false}
          aria-pressed={false}
          value={0}
        />,
      ),
      '<button type="button" id="" disabled="" aria-pressed="false" value="0"></button>',
    );
    assert.equal(render(<input value="x" />), '<input value="x"/>');
    assert.equal(render(<script src="x.js" />), '<script src="x.js"></script>');
    assert.throws(() => render(<p title={["x"]} />), TypeError);
  });

  test("run components inside the elements around them, with the values of their contexts", () => {
    const Depth = createContext(0);
    const Shown: FC = () => useContext(Depth);
    const Deeper: FC<{ children: Child }> = ({ children }) => (
      <Depth.Provider value={useContext(Depth) + 1}>
        <i>{children}</i>
      </Depth.Provider>
    );
    const Failing: FC = () => {
      throw new Error("no");
    };
    const page = (
      <>
        <Shown />
        <Deeper>
          <Shown />
          <Deeper>
            <Shown />
          </Deeper>
          <Shown />
        </Deeper>
        <Shown />
      </>
    );
    assert.equal(render(page), "0<i>1<i>2</i>1</i>0");
    assert.throws(() => render(<Deeper>{<Failing />}</Deeper>), /no/);
    assert.equal(render(page), "0<i>1<i>2</i>1</i>0");
    assert.throws(() => `${page}`, TypeError);
  });
});
