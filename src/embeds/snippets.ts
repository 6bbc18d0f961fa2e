import { escapeXml } from "../xml.js";
import { escapeMarkup, plainText } from "./markup.js";

/** What is pasted into a page to show a picture there. */
export interface Snippets {
  markdown: string;
  html: string;
}

/** A repository as addresses name it. */
export interface Named {
  provider: string;
  fullName: string;
}

const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `provider:owner/name`, as the parameter `repo` has it. */
export function repositoryKey({ provider, fullName }: Named): string {
  return `${provider.toLowerCase()}:${fullName}`;
}

/** A query of the parameters in their order, readable where an address may be. */
export function queryOf(parameters: readonly (readonly [string, string])[]): string {
  return parameters
    .map(([name, value]) => `${name}=${encoded(value).replaceAll("%3A", ":").replaceAll("%2F", "/")}`)
    .join("&");
}

/** The page about the repositories: its own for one, the comparison for several. */
export function pageAddress(baseUrl: string, repositories: readonly Named[]): string {
  const [only] = repositories;
  if (repositories.length !== 1 || only === undefined)
    return `${baseUrl}/compare?${queryOf(repositories.map((one) => ["repo", repositoryKey(one)]))}`;
  const path = [only.provider.toLowerCase(), ...only.fullName.split("/")].map(encoded).join("/");
  return `${baseUrl}/repos/${path}`;
}

/** What has a meaning in Markdown, wherever it stands in a line. */
const MARKDOWN = /[\\`*_{}[\]<>()#+!|~&"$^=@]/g;

/** The picture at `image` as a link to `page`. Every text is escaped for where it stands. */
export function snippetsOf(options: {
  image: string;
  page: string;
  alt: string;
  width: number;
  height: number;
}): Snippets {
  const { image, page, alt, width, height } = options;
  const size = `width="${Math.round(width)}" height="${Math.round(height)}"`;
  return {
    markdown: `[![${plainText(alt).replaceAll(MARKDOWN, "\\$&")}](${image})](${page})`,
    html: `<a href="${escapeXml(page)}"><img src="${escapeXml(image)}" alt="${escapeMarkup(alt)}" ${size}></a>`,
  };
}
