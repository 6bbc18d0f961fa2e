import { marked, type Token, type Tokens } from "marked";
import type { ComponentChildren as Child } from "preact";
import { Command, Scroll } from "./components/elements.js";

/** Our own documents as elements. Whatever is not known here, such as HTML, stays text. */

/** A heading below the title. */
interface Heading {
  level: number;
  id: string;
  text: string;
}

export interface Rendered {
  title: string;
  headings: readonly Heading[];
  body: Child[];
}

export interface MarkdownOptions {
  /** The target of a link, with its title instead of a file name; undefined: it is not served, so the text stays without a link. */
  link(target: string): { href: string; title?: string } | undefined;
  /** The id of a row of a table by its first cell; undefined: it has none. */
  rowId(name: string): string | undefined;
}

export function renderMarkdown(source: string, options: MarkdownOptions): Rendered {
  const blocks = marked.lexer(source).filter((token) => token.type !== "space" && !isComment(token));
  const headings = blocks.flatMap((block) =>
    block.type === "heading" ? [{ level: block.depth, id: anchorOf(block.text), text: block.text }] : [],
  );
  const body = blocks.map((block, i) => {
    if (isRequest(blocks[i - 1]) && block.type === "code") return null;
    const next = blocks[i + 1];
    return isRequest(block) && next?.type === "code" ? (
      <div class="exchange">
        <Command text={block.text} />
        <Command text={next.text} />
      </div>
    ) : (
      elementOf(block, options)
    );
  });
  const title = headings.find(({ level }) => level === 1)?.text ?? "";
  return { title, headings: headings.filter(({ level }) => level > 1), body };
}

const isComment = ({ type, raw }: Token): boolean => type === "html" && /^<!--.*-->\s*$/s.test(raw);

/** A request, whose response follows. */
function isRequest(block: Token | undefined): block is Tokens.Code {
  return block?.type === "code" && block.lang === "sh" && block.text.startsWith("curl ");
}

/** The anchor of a heading, as other renderers of Markdown make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The content of an item: a single paragraph without its margins, even between blank lines. */
function linesOf({ tokens }: Tokens.ListItem): Token[] {
  const [only, ...others] = tokens;
  return only?.type === "paragraph" && others.length === 0 ? (only.tokens ?? []) : tokens;
}

function elementOf(token: Token, options: MarkdownOptions): Child {
  const elementsOf = (tokens: readonly Token[] | undefined) => tokens?.map((one) => elementOf(one, options));
  const inner = "tokens" in token ? elementsOf(token.tokens) : undefined;
  switch (token.type) {
    case "heading": {
      const Heading = `h${token.depth}` as "h1" | "h2" | "h3" | "h4";
      return <Heading id={token.depth === 1 ? undefined : anchorOf(token.text)}>{inner}</Heading>;
    }
    case "code":
      return <Command text={token.text} />;
    case "table":
      return tableOf(token as Tokens.Table, options);
    case "list": {
      const List = token.ordered ? "ol" : "ul";
      return (
        <List class="read">
          {token.items.map((item: Tokens.ListItem) => (
            <li>{elementsOf(linesOf(item))}</li>
          ))}
        </List>
      );
    }
    case "paragraph":
      return <p class="read">{inner}</p>;
    case "strong":
      return <strong>{inner}</strong>;
    case "em":
      return <em>{inner}</em>;
    case "codespan":
      return <code>{token.text}</code>;
    case "link": {
      const { href, title } = options.link(token.href) ?? {};
      const words = title !== undefined && token.text.endsWith(".md") ? title : inner;
      return href === undefined ? words : <a href={href}>{words}</a>;
    }
    case "space":
      return null;
    case "text":
      return inner ?? token.text.replaceAll("\n", " ");
    default:
      return isComment(token) ? null : token.raw;
  }
}

function tableOf({ header, rows }: Tokens.Table, options: MarkdownOptions): Child {
  const wordsOf = ({ tokens }: Tokens.TableCell) => tokens.map((one) => elementOf(one, options));
  const named = [...header, rows[0]?.[0], rows.at(-1)?.[0]].map(
    (cell) => cell?.text.replaceAll("`", "") ?? "",
  );
  return (
    <Scroll label={named.filter((name) => name !== "").join(", ")}>
      <table>
        <thead>
          <tr>{header.map((cell) => (cell.text === "" ? <td /> : <th scope="col">{wordsOf(cell)}</th>))}</tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr id={options.rowId(cells[0]?.text.replaceAll("`", "") ?? "")}>
              {cells.map((cell, i) =>
                i > 0 || cell.text === "" ? <td>{wordsOf(cell)}</td> : <th scope="row">{wordsOf(cell)}</th>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
