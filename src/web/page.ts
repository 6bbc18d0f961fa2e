import type { JSX } from "hono/jsx/jsx-runtime";

/** Headers of every page: no scripts, nothing from elsewhere. */
export const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** A page as the text of a document. */
export function render(page: JSX.Element): string {
  return `<!doctype html>${page}`;
}
