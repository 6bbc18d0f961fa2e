import { createContext, type FC, useContext } from "hono/jsx";

/** Finds the path of an owner's stored image; undefined without one. */
export type FindOwnerImage = (provider: string, owner: string) => string | undefined;

/** The stored images, for all components of a page. `page.tsx` provides it. */
export const OwnerImages = createContext<FindOwnerImage>(() => undefined);

/** Number of colours behind initials; `styles/owner-image.ts` has one class for each. */
const TINTS = 6;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

export interface OwnerImageProps {
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
export const OwnerImage: FC<OwnerImageProps> = ({ provider, owner, size = 20, isFirst = false }) => {
  const path = useContext(OwnerImages)(provider, owner);
  return (
    // The initial is an attribute, so that copied text and searches on the page do not contain it.
    <span
      class={`owner-image tint-${tintOf(owner)}${size === 40 ? " large" : ""}`}
      data-initial={initialOf(owner)}
      aria-hidden="true"
    >
      {path === undefined ? null : (
        <img src={path} alt="" width={size} height={size} loading={isFirst ? undefined : "lazy"} />
      )}
    </span>
  );
};

/** The first letter or digit of an owner, of the innermost group where groups nest; in capitals where the script has them. */
function initialOf(owner: string): string {
  const name = owner.split("/").at(-1) ?? "";
  const graphemes = [...GRAPHEMES.segment(name.slice(0, 100))].map(({ segment }) => segment);
  const first = graphemes.find((grapheme) => /[\p{L}\p{N}]/u.test(grapheme)) ?? graphemes[0] ?? "";
  const capital = first.toUpperCase();
  // Some capitals are two letters, such as that of ß.
  return [...GRAPHEMES.segment(capital)].length === 1 ? capital : first;
}

/** From 1 to TINTS: the same for an owner everywhere, whatever its capitals (FNV-1a). */
function tintOf(owner: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(owner.toLowerCase())) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return (hash % TINTS) + 1;
}
