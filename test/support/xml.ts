import { SaxesParser } from "saxes";

/** An element of a document that a strict parser has read. */
export interface XmlElement {
  /** Namespace and local name, as `{http://…}feed`. */
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  /** All text inside. */
  text: string;
}

/** Reads a document with namespaces; throws at the first thing that is not well-formed. */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const top: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [top];
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ uri, local, attributes }) => {
    const values = Object.values(attributes).map(({ name, value }) => [name, value] as const);
    const element = {
      name: `{${uri}}${local}`,
      attributes: Object.fromEntries(values),
      children: [],
      text: "",
    };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("closetag", () => {
    open.pop();
  });
  parser.on("text", (part) => {
    for (const element of open) element.text += part;
  });
  parser.write(text).close();
  const [root] = top.children;
  if (root === undefined || top.children.length !== 1) throw new Error("not one root");
  return root;
}
