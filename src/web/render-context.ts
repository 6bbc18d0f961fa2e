/** Finds the version of an owner's stored image; undefined without one. */
type FindOwnerImage = (provider: string, owner: string) => string | undefined;

/**
 * The second parameter of every component, which `page.tsx` gives to `renderToString`. Preact's `createContext` is not used, as a
 * rendered provider keeps its whole page in memory until the next full garbage collection.
 */
export interface RenderContext {
  /** When the page is made, for relative times. Absent: times are exact. */
  now?: number;
  /** The stored images. Absent: owners have their initials. */
  findOwnerImage?: FindOwnerImage;
  /** Whether the page becomes a file of a site: no scripts, and nothing that a server must do. */
  isStatic?: boolean;
  /** Whether a link leads somewhere. Absent: all do. */
  isPublished?: (address: string) => boolean;
}
