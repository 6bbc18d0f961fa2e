import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import type { Route } from "./route.js";

interface Match {
  route: Route;
  /** Decoded. */
  params: Readonly<Record<string, string>>;
}

/**
 * Finds the route of a request. Where two fit, the one declared first wins. A path that a route has without parameters is that
 * route's alone, whatever the method.
 */
export class Router {
  readonly #routes: SmartRouter<Route>;
  readonly #methods: readonly string[];
  readonly #fixed: ReadonlySet<string>;

  constructor(routes: readonly Route[]) {
    this.#routes = new SmartRouter({ routers: [new RegExpRouter<Route>(), new TrieRouter<Route>()] });
    for (const route of routes) this.#routes.add(route.method, patternOf(route.path), route);
    this.#fixed = new Set(routes.flatMap(({ path }) => (path.includes("{") ? [] : path)));
    this.#methods = [...new Set(routes.map(({ method }) => method))];
  }

  /** `path` as it was sent, escapes included. */
  find(method: string, path: string): Match | undefined {
    const plain = withoutNeedlessEscapes(path);
    const result = this.#routes.match(method, plain);
    const first = result[0][0];
    if (first === undefined) return undefined;
    const [route, found] = first;
    if (this.#fixed.has(plain) && route.path !== plain) return undefined;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found)) {
      const text = typeof value === "number" ? result[1]?.[value] : value;
      if (text !== undefined) params[name] = decodeURIComponent(text);
    }
    return { route, params };
  }

  /** The routes of a path, one per method. */
  findAll(path: string): Match[] {
    return this.#methods.flatMap((method) => this.find(method, path) ?? []);
  }
}

/** The pattern in the router's language: `{name}` → `:name`, `{name*}` → the rest, `{name}.ext` → one segment with that end. */
function patternOf(path: string): string {
  return path
    .replaceAll(/\{(\w+)\*\}/g, ":$1{.+}")
    .replaceAll(/\{(\w+)\}(\.\w+)/g, (_, name: string, end: string) => `:${name}{[^/]+\\${end}}`)
    .replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Decodes escapes that do not separate segments, once; otherwise an escape could hide the route. */
function withoutNeedlessEscapes(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURI(path.replaceAll("%25", "%2525"));
  } catch {
    return path;
  }
}
