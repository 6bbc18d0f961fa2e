/**
 * Fetches avatars from a forge. They are foreign content that anybody may have uploaded, so only few hosts are contacted, without any
 * token, and images are not decoded here: callers decide which they accept.
 */
import type { ForgeKind, ProviderSettings } from "../config/config.js";
import type { Opening } from "./contract.js";
import { UpstreamFailure } from "./failures.js";
import { failureOf } from "./responses.js";
import { createTransport, type TransportOptions } from "./transport.js";

/** Longest response. GitLab allows 200 KiB for an upload, and the others send smaller images than were uploaded. */
const MAX_BYTES = 512 * 1024;
/** Forges redirect from the name of an owner to the address of the image. */
const MAX_REDIRECTS = 3;
/**
 * The parameter by which a forge scales images to 80 pixels: 40 CSS pixels on a screen with two per pixel. GitLab has only some widths,
 * and this is the next one.
 */
const SMALL: Readonly<Record<ForgeKind, readonly [name: string, pixels: string]>> = {
  github: ["s", "80"],
  gitlab: ["width", "96"],
  forgejo: ["size", "80"],
  gogs: ["size", "80"],
};
/** Formats that can be decoded. Forges that convert images send one of them. */
const ACCEPT = "image/png, image/jpeg, image/gif";

export interface AvatarSource {
  /** The address of an owner's avatar by name; null where the forge has no such address. */
  addressOf(owner: string): string | null;
  /** The image as it was sent; null: none, or none that may be fetched. Throws UpstreamFailure, such as `quota` if the host asks to slow down. */
  fetch(address: string, signal: AbortSignal): Promise<Buffer | null>;
  close(): Promise<void>;
}

interface AvatarOptions extends Omit<Opening, "log"> {
  transport?: Partial<Pick<TransportOptions, "responseMs" | "silenceMs" | "lookup">>;
}

function imageHosts({ kind, url }: Pick<ProviderSettings, "kind" | "url">): string[] {
  const { hostname } = new URL(url);
  if (kind !== "github") return [];
  // An address has no names below it.
  if (hostname !== "github.com")
    return URL.canParse(`https://avatars.${hostname}`) ? [`avatars.${hostname}`] : [];
  return ["avatars", "avatars0", "avatars1", "avatars2", "avatars3"].map(
    (name) => `${name}.githubusercontent.com`,
  );
}

/** Opens the avatars of the provider that the settings describe. Sends nothing before the first call. */
export function openAvatars(settings: ProviderSettings, options: AvatarOptions): AvatarSource {
  const { clock, userAgent, proxy } = options;
  const { url: site, mayBePrivate } = settings;
  const own = new URL(site).origin;
  const others = imageHosts(settings).map((host) => `https://${host}`);
  const common: Omit<TransportOptions, "origins" | "mayBePrivate"> = {
    userAgent,
    proxy,
    silenceMs: 10_000,
    responseMs: 20_000,
    maxBytes: MAX_BYTES,
    connections: 2,
    ...options.transport,
  };
  // Only the forge itself may be in a private network.
  const forge = createTransport({ ...common, origins: [own], mayBePrivate });
  const elsewhere = createTransport({ ...common, origins: others, mayBePrivate: false });
  const isAllowed = ({ origin, username, password }: URL) =>
    (origin === own || others.includes(origin)) && username === "" && password === "";

  /** The image at an allowed address, null without one, or the address it redirects to. */
  async function request(url: URL, signal: AbortSignal): Promise<Buffer | null | URL> {
    const { fetchBytes } = url.origin === own ? forge : elsewhere;
    const { status, headers, bytes } = await fetchBytes(url.href, { headers: { accept: ACCEPT }, signal });
    if (status === 200) return bytes;
    const location = headers.get("location");
    const next = status >= 301 && status <= 308 && location !== null ? URL.parse(location, url.href) : null;
    if (next !== null) return next;
    const what = `avatar of ${url.host}`;
    const failure = failureOf(
      { status, headers, text: bytes.toString("latin1") },
      { what, secrets: [] },
      clock,
    );
    if (failure !== null && ["gone", "private", "blocked"].includes(failure.kind)) return null;
    // Another success, such as 206, is no image either.
    throw failure ?? new UpstreamFailure("malformed", `${what}: status ${status}`);
  }

  return {
    addressOf: (owner) =>
      settings.kind === "github" && /^[a-z\d-]{1,100}$/i.test(owner) ? `${site}/${owner}.png` : null,
    async fetch(address, signal) {
      let url = URL.parse(address);
      for (let redirects = 0; redirects <= MAX_REDIRECTS && url !== null && isAllowed(url); redirects++) {
        const found: Buffer | null | URL = await request(sized(url, settings.kind), signal);
        if (!(found instanceof URL)) return found;
        url = found;
      }
      return null;
    },
    async close() {
      await Promise.all([forge.close(), elsewhere.close()]);
    },
  };
}

function sized(url: URL, kind: ForgeKind): URL {
  const small = new URL(url);
  small.searchParams.set(...SMALL[kind]);
  return small;
}
