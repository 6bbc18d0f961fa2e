import type { FunctionComponent as FC } from "preact";
import { content, type Route } from "../http/http.js";
import { AppError } from "../lib/errors.js";
import type { Avatars } from "../tracking/tracking.js";
import { FOREVER, fileRoute } from "./assets.js";
import type { RenderContext } from "./page-request.js";

/** The images of owners: in pages, and the route that serves those that are stored. */

/** Number of colours behind initials; `styles/pages.ts` has one class for each. */
const TINTS = 6;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

interface OwnerImageProps {
  provider: string;
  owner: string;
  /** In CSS pixels: 20 in lists, 40 in the head of a repository. */
  size?: 20 | 40;
  /** Whether it is visible before the reader scrolls. */
  isFirst?: boolean;
}

/**
 * The image of an owner in a circle, before a name that says who it is; so screen readers skip it. Without a stored image, and
 * until it is loaded, the circle shows the owner's initial.
 */
export const OwnerImage: FC<OwnerImageProps> = (
  { provider, owner, size = 20, isFirst = false },
  { findOwnerImage }: RenderContext,
) => {
  const version = findOwnerImage?.(provider, owner);
  return (
    // The initial is an attribute, so that copied text and searches on the page do not contain it.
    <span
      class={`owner-image tint-${tintOf(owner)}${size === 40 ? " large" : ""}`}
      data-initial={initialOf(owner)}
      aria-hidden="true"
    >
      {version === undefined ? null : (
        <img
          src={`/avatars/${version}`}
          alt=""
          width={size}
          height={size}
          loading={isFirst ? undefined : "lazy"}
        />
      )}
    </span>
  );
};

/** The first letter or digit of an owner, of the innermost group if groups nest; in capitals if the script has them. */
function initialOf(owner: string): string {
  const name = owner.slice(owner.lastIndexOf("/") + 1);
  // Only a character beyond ASCII can combine with the one before it. Segmenting costs as much as all else of the image.
  const first = /^[a-z0-9](?![^\0-\x7F])/i.exec(name)?.[0] ?? firstGrapheme(name);
  const capital = first.toUpperCase();
  // Some capitals are two letters, such as that of ß.
  return capital.length === 1 || [...GRAPHEMES.segment(capital)].length === 1 ? capital : first;
}

/** The first grapheme with a letter or digit, else the first of all; empty without any. */
function firstGrapheme(name: string): string {
  let first: string | undefined;
  for (const { segment } of GRAPHEMES.segment(name.slice(0, 100))) {
    if (/[\p{L}\p{N}]/u.test(segment)) return segment;
    first ??= segment;
  }
  return first ?? "";
}

/** From 1 to TINTS: always the same for an owner, in any case of letters (FNV-1a). */
function tintOf(owner: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(owner.toLowerCase())) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return (hash % TINTS) + 1;
}

/** Serves the images of owners. */
export function avatarRoute(avatarsNow: () => Avatars): Route {
  return fileRoute("/avatars/{version}", FOREVER, async ({ params: { version = "" } }) => {
    const png = await avatarsNow().image(version);
    if (png === undefined) throw new AppError("NOT_FOUND", "This avatar does not exist.");
    return content("image/png", png, {
      headers: { "Content-Security-Policy": "default-src 'none'; sandbox" },
    });
  });
}
